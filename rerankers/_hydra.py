"""The one place that starts Hydra: composing, sweeping, and saying what a wrong override meant."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from rerankers._config_files import check_config_files
from rerankers._explain import _composed, _folders, composition_error, version_words
from rerankers._explain import _explain as _explain
from rerankers._explain import _missing_value as _missing_value
from rerankers._explain import _null_option as _null_option
from rerankers._explain import _whole as _whole
from rerankers._help import help_text
from rerankers._hydra_parts import check_started
from rerankers._overrides import check_options, quote_overrides
from rerankers._secret_values import refuse_secrets
from rerankers._sweep_words import FLAGS_WITH_VALUE as FLAGS_WITH_VALUE
from rerankers._sweep_words import TELLING, check_plugins, check_words, is_multirun
from rerankers._targets import named_by


@dataclass(frozen=True, slots=True)
class Call:
    """One point of a command: its plain config, output folder, words as typed, and the options chosen in groups."""

    config: dict[str, Any]
    output: Path
    words: list[str]
    choices: dict[str, str]


Task = Callable[[Call], None]


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
    with named_by(words):
        return _commanded(command, words, task)


def _commanded(command: str, words: list[str], task: Task) -> int:
    _refuse_flags(words)
    check_words(words)
    check_plugins(words)
    check_config_files(folder for folder in _folders(words) if folder != conf_folder())
    quoted = quote_overrides(command, _flags_first(words))
    check_options(command, quoted)
    if "--help" in words or "-h" in words:
        print(help_text(command, _folders(words), _composed(command, quoted)))
        return 0
    if is_multirun(words) and not TELLING.intersection(words):
        from rerankers._sweep import run_sweep

        code = run_sweep(command, quoted, task)
        if code is not None:
            return code
    check_started(command, quoted)
    return _started(command, quoted, words, task)


def _started(command: str, quoted: list[str], words: list[str], task: Task) -> int:
    """Let Hydra run the task, return the exit code."""
    failed: list[int] = []
    started: list[str] = []

    def job(config: DictConfig) -> None:
        from rerankers.stages.sweep_point import single

        settings = HydraConfig.get()
        started.append(settings.runtime.output_dir)
        try:
            refuse_secrets(config)
            plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
            folder = Path(relative(settings.runtime.output_dir))
            typed = words if settings.mode == RunMode.RUN else list(settings.overrides.task)
            choices = {str(group): str(option) for group, option in settings.runtime.choices.items()}
            single(command, plain, folder, lambda config: task(Call(dict(config), folder, typed, choices)))
        except (FairRerankersError, OmegaConfBaseException) as problem:
            error = problem if isinstance(problem, FairRerankersError) else ConfigError(_missing_value(problem))
            if settings.mode == RunMode.MULTIRUN:
                raise error from problem  # the launcher finishes the other jobs, then reports
            print(f"fair-rerank {command}: {error}", file=sys.stderr)
            failed.append(error.exit_code)

    hydra_main(command, quoted, job, started)
    return max(failed, default=0)


def hydra_main(command: str, quoted: list[str], job: Callable[[DictConfig], Any], started: list[str]) -> None:
    """Give Hydra a command line, and say in our words what is wrong with it.

    Parameters
    ----------
    command
        also the name of the root config.
    quoted
        Hydra's flags, then overrides in its grammar.
    job
        called with each composed config.
    started
        to which the job has added something once it runs: from then on errors are not the command line's.
    """
    with _command_line(command, quoted):
        try:
            hydra.main(config_path=str(conf_folder()), config_name=command, **version_words())(job)()
        except (HydraException, OmegaConfBaseException) as error:
            raise composition_error(command, quoted, error) from error
        except OSError as error:
            if started or error.filename is None:
                raise  # readers and writers of the package name theirs; what is left is somebody else's
            raise unwritable(Path(error.filename), error) from error
        except RecursionError as error:
            if started:
                raise
            raise ConfigError("found options inside options too deep to read; expected a few levels") from error
        except yaml.YAMLError as error:
            raise ConfigError(f"a config file is no YAML: {error}") from error
        except ValueError as error:
            if started:
                raise  # from the job, where it is not the command line's fault
            raise ConfigError(_null_option(quoted) or str(error)) from error


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


def relative(folder: str) -> str:
    """Return a folder below the working directory as people typed it, short to read and to copy."""
    here = f"{os.getcwd()}{os.sep}"
    return folder.removeprefix(here)


def _refuse_flags(words: list[str]) -> None:
    for word in words:
        # Hydra's experimental re-run reads a pickle, which could run anything; argparse accepts abbreviations.
        if word.startswith("--e"):
            raise ConfigError(f"{word}: not supported, since it loads a pickle; repeat the overrides instead")
        if word.startswith(("--config-p", "-cp")):
            raise ConfigError(f"{word}: not supported; expected --config-dir=FOLDER, whose configs stand beside ours")


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
