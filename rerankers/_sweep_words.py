"""Words of a command line that Hydra would answer badly: unknown flags, words without a value, plugins not there."""

from __future__ import annotations

import difflib
import importlib.util

from rerankers._base.errors import ConfigError, MissingError

FLAGS_WITH_VALUE = frozenset(
    ["--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn", "--cfg", "-c", "--package", "-p"]
)
TELLING = frozenset(["--cfg", "-c", "--info", "-i", "--hydra-help", "--version", "--shell-completion", "-sc"])
"""Flags under which nothing is run."""
FLAGS = FLAGS_WITH_VALUE | TELLING | {"--help", "-h", "--resolve", "--run", "-r", "--multirun", "-m"}

PLUGINS = {
    "hydra/launcher": {
        "joblib": ("hydra_joblib_launcher", "joblib"),
        "submitit_local": ("hydra_submitit_launcher", "slurm"),
        "submitit_slurm": ("hydra_submitit_launcher", "slurm"),
        "ray": ("hydra_ray_launcher", "ray"),
        "ray_aws": ("hydra_ray_launcher", "ray"),
    },
    "hydra/sweeper": {"optuna": ("hydra_optuna_sweeper", "sweep")},
}
"""Group -> option -> the plugin's module in ``hydra_plugins``, and our extra that brings it."""


def check_words(words: list[str]) -> None:
    """Raise `ConfigError` for flags that there are not, and for words that are neither flag nor override."""
    before = ""
    for word in words:
        _check_text(word)
        if word.startswith("-"):
            _check_flag(word)
        elif before not in FLAGS_WITH_VALUE and before not in ("--info", "-i"):
            _check_override(word)
        before = word


def is_multirun(words: list[str]) -> bool:
    """Return whether several points are asked for: ``--multirun``, ``-m``, or as much of it as is clear."""
    return any(word == "-m" or (len(word) > 3 and "--multirun".startswith(word)) for word in words)


def missing_plugin(group: str, option: str) -> MissingError | None:
    """Return what to type for a launcher or sweeper that we have an extra for and that is not installed."""
    module, extra = PLUGINS.get(group, {}).get(option, ("", ""))
    if not module or importlib.util.find_spec("hydra_plugins") is None:
        installed = not module
    else:
        installed = importlib.util.find_spec(f"hydra_plugins.{module}") is not None
    if installed:
        return None
    return MissingError(
        f"{group}={option} needs the package {module.replace('_', '-')}. Type: pip install 'fair-rerankers[{extra}]'"
    )


def check_plugins(words: list[str]) -> None:
    """Raise `MissingError` where a launcher or sweeper is asked for that is not installed."""
    for word in words:
        group, _, option = word.partition("=")
        if (missing := missing_plugin(group, option)) is not None:
            raise missing


def _check_text(word: str) -> None:
    """Raise for bytes that are no text: they can stand in no config, record or report."""
    try:
        word.encode()
    except UnicodeEncodeError:
        shown = word.encode("utf-8", "backslashreplace").decode()
        raise ConfigError(
            f"{shown}: found bytes that are not UTF-8; expected text. Rename the file or folder"
        ) from None


def _check_flag(word: str) -> None:
    name = word.partition("=")[0]
    if name in FLAGS or (name.startswith("--") and sum(flag.startswith(name) for flag in FLAGS) == 1):
        return
    near = difflib.get_close_matches(name, sorted(FLAGS), n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{name}: no such flag; options are written without dashes, key=value.{hint}")


def _check_override(word: str) -> None:
    if "=" in word or word.startswith("~"):
        return
    near = difflib.get_close_matches(f"--{word}", sorted(FLAGS), n=1, cutoff=0.7)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{word!r}: expected an override, key=value, without blanks around the equals sign.{hint}")
