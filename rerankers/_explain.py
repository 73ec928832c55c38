"""A command's config composed, and what to say where that fails: which word was wrong, and what was meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._conf import conf_folder
from rerankers._sweep_words import PLUGINS, missing_plugin


def version_words() -> dict[str, Any]:
    """Return Hydra's argument that says whose habits it follows: 1.3 warns without it, 1.4 with it."""
    return {"version_base": "1.3"} if hydra.__version__.startswith("1.3.") else {}


def _whole(error: BaseException) -> str:
    """Return an error's text with that of its cause, which names the key."""
    cause = error.__cause__
    return f"{error}\n{cause}" if isinstance(cause, OmegaConfBaseException) else str(error)


def _missing_value(error: OmegaConfBaseException) -> str:
    key = getattr(error, "full_key", None)
    if "Missing mandatory value" in str(error) and key:
        return f"{key}: no value; expected one. Type: {key}=VALUE"
    return " ".join(str(error).split())


def _null_option(words: list[str]) -> str | None:
    """Say what is wrong with ``method=null``, which Hydra refuses without naming the word."""
    for word in words:
        key, _, value = word.partition("=")
        options = sorted(path.stem for path in (conf_folder() / key).glob("*.yaml")) if value == "null" else []
        if options:
            return f"{key}: found null; expected one of {', '.join(options)}"
    return None


def composition_error(command: str, words: list[str], error: Exception) -> FairRerankersError:
    """Return what is wrong with a config that Hydra cannot compose, in our words."""
    if isinstance(error, OmegaConfBaseException):
        return ConfigError(_missing_value(error))
    text = _whole(error)
    plugin = re.search(r"Could not (?:find|override) '(hydra/(?:launcher|sweeper))/([^']+)'", text)
    missing = None if plugin is None else missing_plugin(plugin[1], plugin[2])
    return missing or ConfigError(_explain(command, words, text))


def _explain(command: str, words: list[str], text: str) -> str:
    """Say what a wrong override meant, where that can be guessed."""
    if "Cannot merge" in text and "ListConfig" in text:
        chosen = [word for word in words if any((place / word.partition("=")[0]).is_dir() for place in _folders(words))]
        named = ", ".join(chosen) or "the chosen options"
        return f"{named}: found a config file that holds a list; expected options under _target_"
    if text.startswith("Ambiguous value for argument"):
        word = text.partition("'")[2].partition("'\n")[0]
        key, _, value = word.partition("=")
        return (
            f"{word}: found several values; expected one. To run each of them add --multirun; to give a list type "
            f"{key}=[{value}]; to give one text type {key}=\\'{value}\\'"
        )
    if (doubled := _doubled(words, text)) is not None:
        return doubled
    found = re.search(r"Could not override '([^']+)'", text) or re.search(r"Could not find '([^']+)'", text)
    if found is None:
        return _unparsed(words, text)
    wrong = found[1]
    options = re.findall(r"^\t(\S+)$", text, re.MULTILINE)
    if options:  # a missing option of a group: Hydra lists those that exist
        group, _, option = wrong.rpartition("/")
        options = sorted({*options, *PLUGINS.get(group, {})})
        near = difflib.get_close_matches(option, options, n=1)
        hint = f" Did you mean {group}={near[0]}?" if near else ""
        return f"{group}: found {option!r}; expected one of {', '.join(options)}.{hint}"
    known = _known_keys(command, words, wrong)
    near = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    parent = wrong.rpartition(".")[0]
    siblings = [key for key in known if key.rpartition(".")[0] == parent]
    if not siblings and parent.startswith("hydra."):  # all of Hydra's are too many to read
        siblings = [key for key in known if key.count(".") == 1]
    hint = f" Did you mean {near[0]}?" if near else ""
    for group, plugins in PLUGINS.items():
        if wrong.startswith(f"{group.replace('/', '.')}.") and not any(word.startswith(f"{group}=") for word in words):
            hint = f" Without {group}=NAME there are few; NAME is one of {', '.join(plugins)}."
    return f"{wrong}: no such option; expected one of {', '.join(siblings) or ', '.join(known)}.{hint}"


def _doubled(words: list[str], text: str) -> str | None:
    """Say what is wrong with ``+seed=1``, where there is such an option already."""
    found = re.search(r"^(?:Multiple values for (\S+)\.|Could not append to config\. .* at '([^']+)')", text)
    if found is None:
        return None
    key = found[1] or found[2]
    word = next((word for word in words if word.startswith(f"+{key}=")), None)
    if word is None:
        return None
    return f"{word}: {key} is an option already, and + adds one that there is not. Type: {word.lstrip('+')}"


def _unparsed(words: list[str], text: str) -> str:
    """Name the override that Hydra's grammar cannot read; its message may name only the place where it gave up."""
    if "override_grammar" not in text:
        return text.strip()
    reason = text.partition("See https://hydra.cc")[0].strip()
    if "while evaluating" in reason:  # of a function: it names override and functions
        return reason
    wrong = next((word for word in words if _is_override(word) and not _parses(word)), None)
    return (
        f"{'' if wrong is None else f'{wrong}: cannot be read as an override: '}{reason}. Brackets and quotes have to "
        "be closed, and no comma may be left over; a value with blanks, commas, brackets, quotes or an equals sign in "
        "it stands in quotes of its own, within those of the shell: 'key=\"value\"'"
    )


def _parses(word: str) -> bool:
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return False
    return True


def _known_keys(command: str, words: list[str], wrong: str) -> list[str]:
    """Return every key that the command understands under its other overrides; of Hydra's where it is one of those."""
    others = [word for word in words if word.lstrip("+~").split("=")[0] != wrong]
    own = wrong.startswith("hydra.")
    try:
        config = _composed(command, others, own)
    except ConfigError:
        config = _composed(command, [], own)
    return list(_flatten(config.hydra, "hydra.") if own else _flatten(config))


def _composed(command: str, words: list[str], whole: bool = False) -> DictConfig:
    """Return the config of a command without starting anything; on request the whole, with Hydra's own part."""
    overrides = [word for word in words if _is_override(word)]
    own = [folder for folder in _folders(words) if folder != conf_folder()]
    search = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in own)}]"] if own else []
    with _aside(), hydra.initialize_config_dir(str(conf_folder()), **version_words()):
        try:
            return hydra.compose(command, overrides=[*overrides, *search], return_hydra_config=whole)
        except (HydraException, yaml.YAMLError) as error:
            raise ConfigError(_whole(error)) from error


@contextmanager
def _aside() -> Iterator[None]:
    """Put aside the Hydra that is in use, since there can be one only."""
    used = GlobalHydra.instance().hydra
    GlobalHydra.instance().hydra = None
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = used  # of another instance perhaps: Hydra restores its own from copies


def _is_override(word: str) -> bool:
    return not word.startswith("-") and ("=" in word or word.startswith("~"))


def _folders(words: list[str]) -> list[Path]:
    """Return the folders that options come from: ours, then those of --config-dir."""
    folders = [conf_folder()]
    folders += [Path(value) for flag, value in pairwise(words) if flag in ("--config-dir", "-cd")]
    return folders + [Path(word.partition("=")[2]) for word in words if word.startswith("--config-dir=")]


def _flatten(config: DictConfig, prefix: str = "") -> Iterator[str]:
    for name in config:
        key = f"{prefix}{name!s}"
        if name != "_target_":
            yield key
        if not OmegaConf.is_missing(config, name) and isinstance(config._get_node(name), DictConfig):
            yield from _flatten(config._get_node(name), f"{key}.")  # type: ignore[arg-type]
