"""The points of a grid: every one is composed before any runs, and everything that is wrong is told at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import hydra
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._conf import conf_folder
from rerankers._explain import _folders, _is_override, _null_option, composition_error, version_words
from rerankers._hydra_parts import check_parts
from rerankers._secret_values import refuse_secrets
from rerankers._sweep_grid import config_name, firsts, written
from rerankers._sweep_grid import points as points_of

MOST_COMPOSED = 200
"""Points that are looked at for further errors once the first is wrong."""

Compose = Callable[[Sequence[str]], DictConfig]


@dataclass(frozen=True, slots=True)
class Grid:
    """What a command line asks for.

    Attributes
    ----------
    base
        the config of the first point, Hydra's own part included.
    fixed
        overrides in Hydra's grammar, with the first value of each that is swept.
    swept
        the keys that are swept.
    points
        the overrides of each point; none where the sweeper chooses them itself.
    """

    base: DictConfig
    fixed: tuple[str, ...]
    swept: tuple[str, ...]
    points: tuple[tuple[str, ...], ...]

    @property
    def sweeper(self) -> str:
        """The class of the sweeper."""
        return str(self.base.hydra.sweeper.get("_target_", ""))


@dataclass(frozen=True, slots=True)
class Planned:
    """A point with its resolved config, the name of its folder, and the options chosen in groups."""

    name: str
    overrides: tuple[str, ...]
    config: dict[str, Any]
    choices: dict[str, str]


@contextmanager
def composing(command: str, words: Sequence[str]) -> Iterator[Compose]:
    """Yield a function from overrides to the config that Hydra would give a job, its own part included."""
    own = [folder for folder in _folders(list(words)) if folder != conf_folder()]
    typed = any(word.startswith("hydra.searchpath=") for word in words)
    search = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in own)}]"]
    name = config_name(words) or command
    cfg = HydraConfig.instance().cfg
    with hydra.initialize_config_dir(str(conf_folder()), **version_words()):
        try:
            more = search if own and not typed else []
            known: dict[tuple[str, ...], DictConfig] = {}

            def compose(overrides: Sequence[str]) -> DictConfig:
                key = tuple(overrides)
                if key not in known:
                    composed = hydra.compose(name, overrides=[*key, *more], return_hydra_config=True)
                    check_parts(composed, words)
                    known[key] = composed
                return known[key]

            yield compose
        finally:
            HydraConfig.instance().cfg = cfg


def grid_of(command: str, words: Sequence[str], compose: Compose) -> Grid:
    """Take a command line apart, and check every value that is swept by itself.

    Raises
    ------
    FairRerankersError
        with everything that is wrong.
    """
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    try:
        overrides = parser.parse_overrides([word for word in words if _is_override(word)])
        base = _first_point(command, words, overrides, compose)
        params = dict(base.hydra.sweeper.get("params") or {})  # swept by a config
        typed = {override.get_key_element() for override in overrides}
        more = parser.parse_overrides([f"{key}={value}" for key, value in params.items() if key not in typed])
    except HydraException as error:
        raise composition_error(command, list(words), error) from error
    if more:
        overrides = [*overrides, *more]
        base = _first_point(command, words, overrides, compose)
    _raise(_each_value(command, words, overrides, compose))
    swept = tuple(override.get_key_element() for override in overrides if override.is_sweep_override())
    basic = str(base.hydra.sweeper.get("_target_", "")).endswith(".BasicSweeper")
    points = points_of(overrides) if basic else []
    return Grid(base, tuple(firsts(overrides)), swept, tuple(tuple(point) for point in points))


def _first_point(command: str, words: Sequence[str], overrides: Sequence[Override], compose: Compose) -> DictConfig:
    """Compose the first point; where that fails say what is wrong with the others as well."""
    base, problems = _tried(command, words, firsts(overrides), compose)
    if base is None:
        for point in points_of(overrides)[1:MOST_COMPOSED]:
            problems += _tried(command, words, point, compose)[1]
        _raise(problems)
    return cast("DictConfig", base)


def planned(command: str, words: Sequence[str], grid: Grid, compose: Compose) -> list[Planned]:
    """Compose and resolve every point of a grid, in its order.

    Raises
    ------
    FairRerankersError
        with everything that is wrong with any of them.
    """
    found, problems = [], list[FairRerankersError]()
    for number, overrides in enumerate(grid.points):
        config, wrong = _tried(command, words, overrides, compose)
        problems += wrong
        try:
            found += [] if config is None else [_resolved(config, number, overrides, grid)]
        except OmegaConfBaseException as error:
            problems.append(composition_error(command, list(words), error))
        except ConfigError as error:
            problems.append(error)
    _raise(problems)
    return found


def _resolved(config: DictConfig, number: int, overrides: tuple[str, ...], grid: Grid) -> Planned:
    config = config.copy()
    with open_dict(config):
        config.hydra.job.num = number
        config.hydra.job.id = str(number)
        config.hydra.runtime.output_dir = "."
    HydraConfig.instance().set_config(config)
    name = str(config.hydra.sweep.subdir)
    choices = {str(group): str(option) for group, option in config.hydra.runtime.choices.items()}
    own = config.copy()
    with open_dict(own):
        del own["hydra"]
        if "output" in own and name != ".":
            own["output"] = _one_output(own, grid.base)
    refuse_secrets(own)
    plain: Any = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
    task = tuple(word for word in overrides if not word.startswith(("hydra.", "hydra/")))
    return Planned(name, task, dict(plain), choices)


def _one_output(config: DictConfig, base: DictConfig) -> str:
    """Return the sweep's folder. The time in its name is that of the first point; nothing else in it may differ."""
    found = str(base.output)
    if "${now:" not in str(config._get_node("output")) and str(config.output) != found:
        raise ConfigError(
            f"output: found {found} and {config.output} for different points; expected one folder for a sweep, in "
            "which points have the numbers 0, 1, 2, ..."
        )
    return found


def _tried(
    command: str, words: Sequence[str], overrides: Sequence[str], compose: Compose
) -> tuple[DictConfig | None, list[FairRerankersError]]:
    """Return a composed config, or everything that is wrong with it: what is found is left out, for what is behind."""
    try:
        return compose(overrides), []
    except (HydraException, OmegaConfBaseException) as error:
        flags = [word for word in words if not _is_override(word)]
        problem = composition_error(command, _with_folders(words, flags, overrides), error)
        rest = _without(overrides, str(error))
        return None, [problem, *(_tried(command, words, rest, compose)[1] if len(rest) < len(overrides) else [])]
    except yaml.YAMLError as error:
        return None, [ConfigError(f"a config file is no YAML: {error}")]
    except ValueError as error:
        return None, [ConfigError(_null_option(list(overrides)) or str(error))]


def _without(overrides: Sequence[str], text: str) -> list[str]:
    """Return the overrides without the one that an error of Hydra's names, and without options of what it chose."""
    found = re.search(r"Could not (?:find|override) '([^']+)'", text)
    if found is None:
        return list(overrides)
    group = found[1].rpartition("/")[0]
    keys = {word: word.lstrip("+~").partition("=")[0] for word in overrides}
    return [
        word
        for word, key in keys.items()
        if key not in (found[1], group) and not (group and key.startswith(f"{group}."))
    ]


def _with_folders(words: Sequence[str], flags: Sequence[str], overrides: Sequence[str]) -> list[str]:
    folders = [f"--config-dir={folder}" for folder in _folders(list(words)) if folder != conf_folder()]
    return [*flags, *folders, *overrides]


def _each_value(
    command: str, words: Sequence[str], overrides: Sequence[Override], compose: Compose
) -> list[FairRerankersError]:
    """Return what is wrong with each further value of what is swept, beside the first values of all others."""
    first, problems = firsts(overrides), list[FairRerankersError]()
    for place, override in enumerate(overrides):
        for word in written(override)[1:]:
            problems += _tried(command, words, [*first[:place], word, *first[place + 1 :]], compose)[1]
    return problems


def _raise(found: Sequence[FairRerankersError]) -> None:
    """Raise all that is wrong as one error, each text once."""
    texts = list(dict.fromkeys(str(problem) for problem in found))
    if texts:
        worst = max(found, key=lambda problem: problem.exit_code)
        raise found[0] if len(texts) == 1 else type(worst)("\n".join(texts))


def sweep_folder(base: DictConfig) -> Path:
    """Return where a sweep's folders are."""
    HydraConfig.instance().set_config(base.copy())
    return Path(str(base.hydra.sweep.dir))
