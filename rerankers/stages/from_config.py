"""From a resolved config to a job: the only place that knows the names of the config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, choose
from rerankers._conf import build
from rerankers.ledger import Memory, SQLite
from rerankers.stages.config_parts import (
    OF_SWEEPS,
    build_part,
    cache_folder,
    check_keys,
    command_line,
    file_groups,
    measure_options,
    show,
    texts,
    whole_number,
)
from rerankers.stages.estimates import model_folder
from rerankers.stages.evaluate import EvaluateJob, evaluate
from rerankers.stages.preset import PresetJob, evaluate_preset
from rerankers.stages.preset_options import refuse_superseded, with_groups
from rerankers.stages.run import RunJob, run
from rerankers.stages.validate import one_path
from rerankers.tracks.preset import PRESETS, Inputs

_BOTH = "browsing groups measures paths samples seed universe output"
_RUN = "collection retriever method target execution allow_targets sequence rounds ledger fit predicted drawn_runs"
RUN_KEYS = frozenset(f"{_BOTH} {_RUN}".split())
EVALUATE_KEYS = frozenset(f"{_BOTH} run qrels missing_query sequence targets allow_targets".split())


def run_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str], name: str) -> None:
    """Run the job of a config of ``conf/run.yaml``'s form.

    Parameters
    ----------
    config
        plain and resolved.
    folder
        of the results.
    words
        the overrides, for the metadata.
    name
        the chosen method's name.
    """
    _no_preset(config)
    check_keys({key: value for key, value in config.items() if key not in OF_SWEEPS}, RUN_KEYS)

    whole = config
    model, config = _without_model(config)

    part = partial(build_part, config)
    job = RunJob(
        name=name,
        collection=part("collection"),
        retriever=part("retriever"),
        method=part("method"),
        target=part("target"),
        browsing=part("browsing"),
        groups=part("groups"),
        measures=measure_options(config),
        execution=part("execution"),
        cache=cache_folder(config),
        samples=whole_number(config, "samples"),
        seed=whole_number(config, "seed"),
        universe=str(config["universe"]),
        config=whole,
        command=command_line("run", words),
        model=model,
        allowed=tuple(texts(config["allow_targets"])),
        sequence=one_path(config, "sequence"),
        rounds=whole_number(config, "rounds"),
        ledger=_ledger(config),
        fit=part("fit"),
        predicted=one_path(config, "predicted"),
        drawn_runs=config["drawn_runs"],
    )
    show(run(job, folder.absolute()), folder, config)


def evaluate_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/evaluate.yaml``'s form."""
    check_keys({key: value for key, value in config.items() if key not in {"preset", *OF_SWEEPS}}, EVALUATE_KEYS)
    if config.get("preset") is not None:
        report, differences = evaluate_preset(_preset_job(config, words), folder.absolute())
        show(report, folder, config, differences)
        return
    for word in ("sequence", "targets"):
        if config[word] is not None:
            raise ConfigError(f"{word}: found {config[word]}; expected null, or a preset that uses it: preset=NAME")
    if config["qrels"] is None:
        raise ConfigError(
            "qrels: found null; expected a file, which says of which queries measures are (those of presence need no "
            "judgment of it, only the queries). Type: qrels=FILE"
        )
    runs = texts(config["run"])
    job = EvaluateJob(
        runs=[Path(one) for one in runs],
        qrels=Path(str(config["qrels"])),
        groups=file_groups(config["groups"]),
        missing_query=str(config["missing_query"]),
        universe=str(config["universe"]),
        browsing=build_part(config, "browsing"),
        measures=measure_options(config),
        samples=whole_number(config, "samples"),
        seed=whole_number(config, "seed"),
        config=config,
        command=command_line("evaluate", words),
    )
    show(evaluate(job, folder.absolute()), folder, config)


def _preset_job(config: Mapping[str, Any], words: Sequence[str]) -> PresetJob:
    """Return the job of a preset; options that would have no effect beside it are refused."""
    node = config["preset"]
    if not isinstance(node, Mapping):
        choose("preset", str(node), PRESETS)
        raise ConfigError(f"preset: found {node!r}; expected the options of a preset")
    preset = build(node, where="preset")
    if not callable(getattr(preset, "evaluate", None)):
        raise ConfigError(f"preset: found {type(preset).__name__}, which has no evaluate; expected a preset")
    refuse_superseded(config, preset.name)
    groups = config["groups"]
    preset = with_groups(preset, groups)
    files = {word: None if config[word] is None else Path(str(config[word])) for word in ("sequence", "targets")}
    measures = measure_options(config)
    inputs = Inputs(
        runs=tuple(Path(one) for one in texts(config["run"])),
        qrels=Path(str(config["qrels"])),
        groups=None if groups["path"] is None else Path(str(groups["path"])),
        seed=whole_number(config, "seed"),
        permutations=measures.permutations,
        **files,
    )
    return PresetJob(preset, inputs, measures, config, command_line("evaluate", words))


def _without_model(config: Mapping[str, Any]) -> tuple[Path | None, Mapping[str, Any]]:
    """Take ``method.model`` out of the method's own options: it is of every method."""
    node = config["method"]
    if not isinstance(node, Mapping):
        raise ConfigError(f"method: found {node!r}; expected the options of a method")
    own = {key: value for key, value in node.items() if key != "model"}
    return model_folder(node), {**config, "method": own}


def _ledger(config: Mapping[str, Any]) -> Memory | SQLite:
    """Return where a ledger is kept."""
    ledger = build(config["ledger"], texts(config["allow_targets"]), "ledger")
    if not callable(getattr(ledger, "open", None)):
        raise ConfigError(f"ledger: found {type(ledger).__name__}, which has no open; expected a ledger")
    kept: Memory | SQLite = ledger
    return kept


def _no_preset(config: Mapping[str, Any]) -> None:
    if "preset" in config:
        name = config["preset"].get("name") if isinstance(config["preset"], Mapping) else config["preset"]
        raise ConfigError(
            f"preset: found {name}; expected none, since presets judge run files. Leave it out, and then type: "
            f"fair-rerank evaluate preset={name} run=DIR qrels=FILE, DIR being this job's output"
        )
