"""What Hydra itself would build from a config: callbacks, handlers of logs, launchers. Under our allow-list as well.

Hydra makes these objects before a command starts, from classes that any config file may name. They are looked at
first, wherever a config is not only ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import hydra
import yaml
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers._explain import _aside, _folders, _is_override, composition_error, version_words
from rerankers._secret_values import refuse_secrets
from rerankers._sweep_grid import config_name
from rerankers._sweep_words import is_multirun
from rerankers._targets import locate

_PLUGIN = re.compile(r"hydra\._internal\.core_plugins\.basic_\w+\.Basic\w+|hydra_plugins\.\w+\.\w+\.\w+")
_SAMPLER = re.compile(r"optuna\.samplers\.[A-Z]\w*")
_OF_LOGS = frozenset(
    {
        *("logging.StreamHandler", "logging.FileHandler", "logging.NullHandler", "logging.Formatter"),
        *("logging.handlers.RotatingFileHandler", "logging.handlers.TimedRotatingFileHandler"),
        "colorlog.ColoredFormatter",
    }
)
"""Classes of ``hydra/job_logging`` that come with Python and with Hydra's plugin for colours."""
_STREAMS = frozenset({"ext://sys.stdout", "ext://sys.stderr"})
_PLACES = re.compile(r"\$\{hydra\.(runtime\.output_dir|run\.dir|sweep\.dir|job\.name)\}")
"""What a name of a log may be made of, beside text."""
_NAMES_CLASS = frozenset({"class", "()", "factory"})
"""Keys of `logging.config` behind which something is called."""
_TYPED = ("job.env_set", "launcher.setup", "launcher.python", "searchpath")
"""Keys by which a file could set variables, name programs that a cluster runs, or bring in further files."""


def check_started(command: str, words: Sequence[str]) -> None:
    """Look at what Hydra would build for one job, where a config of the user's own or a word of Hydra's may say so.

    Raises
    ------
    FairRerankersError
        for a class outside the allowed packages, and for a config that cannot be composed.
    """
    if not any(_own(word) for word in words):
        return
    overrides = [word for word in words if _is_override(word)]
    own = [folder for folder in _folders(list(words)) if folder != conf_folder()]
    typed = any(word.startswith("hydra.searchpath=") for word in words)
    search = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in own)}]"]
    with _aside(), hydra.initialize_config_dir(str(conf_folder()), **version_words()):
        try:
            more = search if own and not typed else []
            name = config_name(list(words)) or command
            config = hydra.compose(name, overrides=[*overrides, *more], return_hydra_config=True)
        except (HydraException, OmegaConfBaseException) as error:
            raise composition_error(command, list(words), error) from error
        except (ValueError, yaml.YAMLError, RecursionError):
            return  # which Hydra will meet as well, before it builds anything
    if str(config.hydra.mode).endswith("MULTIRUN") and not is_multirun(list(words)):
        raise ConfigError("hydra.mode: found MULTIRUN; expected it on the command line. Type: --multirun")
    check_parts(config, words)


def _own(word: str) -> bool:
    return word.startswith(("--con", "-c", "experiment=")) or word.lstrip("+~").startswith("hydra")


def check_parts(config: DictConfig, words: Sequence[str]) -> None:
    """Raise `ConfigError` where Hydra's own part of a config names a class that is not allowed, or other such things.

    Parameters
    ----------
    config
        composed, with the part ``hydra``; its ``allow_targets`` hold here too.
    words
        as typed: what runs programs or brings in files must be among them.
    """
    refuse_secrets(config)
    settings = config.hydra
    allowed = [str(one) for one in config.get("allow_targets") or []]
    for key, value in _walk(_plain(settings.get("callbacks")), "hydra.callbacks"):
        if key.endswith("._target_"):
            locate(str(value), allowed, key.removesuffix("._target_"))
    for part in ("launcher", "sweeper"):
        for key, value in _walk(_plain(settings.get(part)), f"hydra.{part}"):
            _check_plugin(key, value, allowed, f"hydra.{part}._target_")
    for part in ("job_logging", "hydra_logging"):
        for key, value in _walk(_plain(settings.get(part)), f"hydra.{part}"):
            _check_logs(key, value, allowed)
    for key in _TYPED:
        value = OmegaConf.select(settings, key)
        written = any(word.lstrip("+").startswith((f"hydra.{key}=", f"hydra.{key}.")) for word in words)
        if value and not written and not (key == "searchpath" and _folders_only(value, words)):
            raise ConfigError(
                f"hydra.{key}: found {value} in a config file; expected it on the command line, since it may run "
                f"anything. Type: 'hydra.{key}=…'"
            )
    places = (settings.run.dir, settings.sweep.dir, settings.job.get("name"))
    if any("://" in str(place) for place in places):
        raise ConfigError(f"hydra: found {', '.join(map(str, places))}; expected folders and a name without ://")


def _folders_only(value: Any, words: Sequence[str]) -> bool:
    """Return whether a search path is that of the folders behind ``--config-dir``, which callers put there."""
    given = {f"file://{folder.resolve()}" for folder in _folders(list(words))}
    return all(str(one) in given for one in value)


def _check_plugin(key: str, value: Any, allowed: Sequence[str], own: str) -> None:
    last = key.rpartition(".")[2]
    if last == "custom_search_space" and value is not None:
        raise ConfigError(f"{key}: found {value!r}; expected null: functions are not called by their name here")
    if last != "_target_" or value is None:
        return
    if not (_PLUGIN if key == own else _SAMPLER).fullmatch(str(value)):
        locate(str(value), allowed, key.removesuffix("._target_"))


def _check_logs(key: str, value: Any, allowed: Sequence[str]) -> None:
    if key.rpartition(".")[2] in _NAMES_CLASS and value not in _OF_LOGS:
        locate(str(value), allowed, key)
    if isinstance(value, str) and value not in _STREAMS and ("://" in value or "$" in _PLACES.sub("", value)):
        raise ConfigError(f"{key}: found {value!r}; expected plain text, or one of {', '.join(sorted(_STREAMS))}")


def _plain(node: Any) -> dict[str, Any]:
    """Return a part of a config as it is written: what Hydra would resolve later is text here, and no class."""
    found = OmegaConf.to_container(node, resolve=False) if isinstance(node, DictConfig) else None
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _walk(node: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield every value of nested options with its key."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _walk(value, f"{where}.{key}")
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from _walk(value, f"{where}.{place}")
    else:
        yield where, node
