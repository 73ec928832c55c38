"""The one place that starts Hydra: composing, sweeping, and saying what a wrong override meant."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._base.files import unwritable
from rerankers._conf import conf_folder
from rerankers._help import help_text
from rerankers._overrides import quote_overrides


@dataclass(frozen=True, slots=True)
class Call:
    """One point of a command: its plain config, output folder, words as typed, and the options chosen in groups."""

    config: dict[str, Any]
    output: Path
    words: list[str]
    choices: dict[str, str]


Task = Callable[[Call], None]

FLAGS_WITH_VALUE = frozenset(
    ["--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn", "--cfg", "-c", "--package", "-p"]
)


def hydra_command(command: str, words: list[str], task: Task) -> int:
    """Compose the config of a command, run its task once (or for every point of a sweep), return the exit code.

    Parameters
    ----------
    command
        also the name of the root config.
    words
        overrides and Hydra's flags, as typed.
    task
        called with each `Call`.

    Raises
    ------
    ConfigError
        for anything wrong with the command line or the config.
    """
    _refuse_pickles(words)
    failed: list[int] = []
    started: list[str] = []
    quoted = quote_overrides(command, _flags_first(words))
    if "--help" in words or "-h" in words:
        print(help_text(command, _folders(words), _composed(command, quoted)))
        return 0

    def job(config: DictConfig) -> None:
        settings = HydraConfig.get()
        started.append(settings.runtime.output_dir)
        try:
            plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
            task(
                Call(
                    dict(plain),  # type: ignore[arg-type]
                    Path(_relative(settings.runtime.output_dir)),
                    words if settings.mode == RunMode.RUN else list(settings.overrides.task),
                    {str(group): str(option) for group, option in settings.runtime.choices.items()},
                )
            )
        except (FairRerankersError, OmegaConfBaseException) as problem:
            error = problem if isinstance(problem, FairRerankersError) else ConfigError(_missing_value(problem))
            if settings.mode == RunMode.MULTIRUN:
                raise error from problem  # the launcher finishes the other jobs, then reports
            print(f"fair-rerank {command}: {error}", file=sys.stderr)
            failed.append(error.exit_code)

    with _command_line(command, quoted):
        try:
            hydra.main(version_base=_version_base(), config_path=str(conf_folder()), config_name=command)(job)()
        except HydraException as error:
            raise ConfigError(_explain(command, quoted, _whole(error))) from error
        except OmegaConfBaseException as error:
            raise ConfigError(_missing_value(error)) from error
        except OSError as error:
            if started or error.filename is None:
                raise  # readers and writers of the package name theirs; what is left is somebody else's
            raise unwritable(Path(error.filename), error) from error
        except yaml.YAMLError as error:
            raise ConfigError(f"a config file is no YAML: {error}") from error
        except ValueError as error:
            if started:
                raise  # from the job, where it is not the command line's fault
            raise ConfigError(_null_option(quoted) or str(error)) from error
    return max(failed, default=0)


def _flags_first(words: list[str]) -> list[str]:
    """Move Hydra's flags, with their values, before the overrides: its parser wants the overrides in one piece."""
    flags: list[str] = []
    overrides: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            overrides.append(word)
            continue
        flags.append(word)
        if word in FLAGS_WITH_VALUE and (value := next(rest, None)) is not None:
            flags.append(value)
    return flags + overrides


def _relative(folder: str) -> str:
    """Return a folder below the working directory as people typed it, short to read and to copy."""
    here = f"{os.getcwd()}{os.sep}"
    return folder.removeprefix(here)


def _refuse_pickles(words: list[str]) -> None:
    for word in words:
        # Hydra's experimental re-run reads a pickle, which could run anything; argparse accepts abbreviations.
        if word.startswith("--e"):
            raise ConfigError(f"{word}: not supported, since it loads a pickle; repeat the overrides instead")


def _version_base() -> str | None:
    # Hydra 1.3 warns without an explicit value, Hydra 1.4 warns with one.
    return "1.3" if hydra.__version__.startswith("1.3.") else None


@contextmanager
def _command_line(command: str, words: list[str]) -> Iterator[None]:
    """Give Hydra its argv and ask it to raise errors instead of printing and leaving."""
    argv, full = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = [f"fair-rerank {command}", *words]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = argv
        if full is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = full


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


def _explain(command: str, words: list[str], text: str) -> str:
    """Say what a wrong override meant, where that can be guessed."""
    if "Cannot merge" in text and "ListConfig" in text:
        chosen = [word for word in words if any((place / word.partition("=")[0]).is_dir() for place in _folders(words))]
        named = ", ".join(chosen) or "the chosen options"
        return f"{named}: found a config file that holds a list; expected options under _target_"
    found = re.search(r"Could not override '([^']+)'", text) or re.search(r"Could not find '([^']+)'", text)
    if found is None:
        return text.strip()
    wrong = found[1]
    options = re.findall(r"^\t(\S+)$", text, re.MULTILINE)
    if options:  # a missing option of a group: Hydra lists those that exist
        group, _, option = wrong.rpartition("/")
        near = difflib.get_close_matches(option, options, n=1)
        hint = f" Did you mean {group}={near[0]}?" if near else ""
        return f"{group}: found {option!r}; expected one of {', '.join(options)}.{hint}"
    known = _known_keys(command, words, wrong)
    near = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    siblings = [key for key in known if key.rpartition(".")[0] == wrong.rpartition(".")[0]]
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{wrong}: no such option; expected one of {', '.join(siblings) or ', '.join(known)}.{hint}"


def _known_keys(command: str, words: list[str], wrong: str) -> list[str]:
    """Return every key that the command understands under its other overrides."""
    others = [word for word in words if word.lstrip("+~").split("=")[0] != wrong]
    try:
        config = _composed(command, others)
    except ConfigError:
        config = _composed(command, [])
    return list(_flatten(config))


def _composed(command: str, words: list[str]) -> DictConfig:
    """Return the config of a command without starting anything."""
    overrides = [word for word in words if _is_override(word)]
    own = [folder for folder in _folders(words) if folder != conf_folder()]
    search = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in own)}]"] if own else []
    with hydra.initialize_config_dir(str(conf_folder()), version_base=_version_base()):
        try:
            return hydra.compose(command, overrides=[*overrides, *search])
        except (HydraException, yaml.YAMLError) as error:
            raise ConfigError(_whole(error)) from error


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
