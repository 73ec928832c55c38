"""From a resolved config of ``conf/train.yaml``'s form to a job."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers._conf import build
from rerankers.learning.cross_fit import Fitting, Validation
from rerankers.learning.monitors import Watch
from rerankers.learning.objectives.aimed import aimed
from rerankers.learning.objectives.mixture import with_fairness
from rerankers.stages.config_parts import (
    OF_SWEEPS,
    build_part,
    cache_folder,
    check_keys,
    command_line,
    measure_options,
    show,
    texts,
    whole_number,
)
from rerankers.stages.train import TrainJob, train

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.learning.objectives.base import Objective
    from rerankers.values import GroupAlignment

PARTS = ("collection", "retriever", "features", "model", "objective", "calibration", "browsing", "groups")
TRAIN_KEYS = frozenset(("validation", "seed", "universe", "allow_targets", "output", "paths", "measures", *PARTS))
_OTHER = ("path", "split")
OF_EVERY_OBJECTIVE = ("fairness_weight", "unfairness")


def train_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/train.yaml``'s form.

    Parameters
    ----------
    config
        plain and resolved.
    folder
        of the model.
    words
        the overrides, for the metadata.
    """
    check_keys({key: value for key, value in config.items() if key not in OF_SWEEPS}, TRAIN_KEYS)
    if not isinstance(config["validation"], Mapping):
        raise ConfigError(f"validation: found {config['validation']!r}; expected its options, see train --help")
    seed = whole_number(config, "seed")
    browsing = build_part(config, "browsing")
    objective = _objective(config, browsing)
    watch = _watch(config)
    fitting = Fitting(
        learner=build_part(config, "model"),
        objective=objective,
        calibration=build_part(config, "calibration"),
        validation=_validation(config),
        monitor=None if watch is None else partial(watch.bind, scores=objective.scores, browsing=browsing, seed=seed),
        seed=seed,
    )
    job = TrainJob(
        collection=build_part(config, "collection"),
        retriever=build_part(config, "retriever"),
        features=build_part(config, "features"),
        fitting=fitting,
        browsing=browsing,
        groups=build_part(config, "groups"),
        attribute=_Attribute(bool(objective.needs_groups) or (watch is not None and watch.needs_groups)),
        valid=_other_collection(config),
        measures=measure_options(config),
        cache=cache_folder(config),
        seed=seed,
        universe=str(config["universe"]),
        allowed=tuple(texts(config["allow_targets"])),
        config=config,
        command=command_line("train", words),
    )
    show(train(job, folder.absolute()), folder, config)


def _objective(config: Mapping[str, Any], browsing: BrowsingModel) -> Objective:
    """Return the objective, aimed at the job's browsing model, with its fairness part."""
    node = config["objective"]
    if not isinstance(node, Mapping):
        raise ConfigError(f"objective: found {node!r}; expected the options of an objective")
    own = {key: value for key, value in node.items() if key not in OF_EVERY_OBJECTIVE}
    objective = build_part({**config, "objective": own}, "objective")
    weight = node.get("fairness_weight", 0.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise ConfigError(f"objective.fairness_weight: found {weight!r}; expected a number of at least 0")
    fair: Objective = aimed(with_fairness(objective, float(weight), str(node.get("unfairness", "group"))), browsing)
    return fair


def _watch(config: Mapping[str, Any]) -> Watch | None:
    """Return what early stopping looks at; None for the objective's own loss."""
    stop = config["validation"].get("monitor")
    if stop is None:
        return None
    try:
        return Watch(str(stop))
    except ConfigError as error:
        raise ConfigError(f"validation.monitor: {error}") from error


def _validation(config: Mapping[str, Any]) -> Validation:
    node = {key: value for key, value in config["validation"].items() if key not in _OTHER}
    target = f"{Validation.__module__}.{Validation.__qualname__}"
    validation: Validation = build({"_target_": target, **node}, where="validation")
    return validation


def _other_collection(config: Mapping[str, Any]) -> Any:
    """Return the collection that early stopping looks at: of the same kind, from another place or split."""
    other = {key: config["validation"][key] for key in _OTHER if config["validation"].get(key) is not None}
    if not other:
        return None
    node = config["collection"]
    for key, value in other.items():
        if not isinstance(node, Mapping) or key not in node:
            raise ConfigError(f"validation.{key}: found {value}; expected null with a collection that has no {key}")
    return build_part({**config, "collection": {**node, **other}}, "collection")


@dataclasses.dataclass(frozen=True, slots=True)
class _Attribute:
    """Chooses the attribute that an objective or a monitor looks at: the only one that the job has."""

    needed: bool

    def __call__(self, alignments: Mapping[str, GroupAlignment]) -> str | None:
        if not self.needed:
            return None
        if len(alignments) != 1:
            found = ", ".join(alignments) or "none"
            raise ConfigError(
                f"groups: found the attributes {found}; expected one, which the objective or the monitor looks at. "
                "Type: groups.attribute=NAME"
            )
        return next(iter(alignments))
