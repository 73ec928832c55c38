"""One call of a command: options in, the stage that the command line would start, what it leaves out."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, MissingError, choose
from rerankers._base.files import unwritable
from rerankers._base.logs import job_log
from rerankers._compose import compose_call
from rerankers._faults import own_faults
from rerankers._targets import named_by
from rerankers.api.held import holding
from rerankers.api.keeper import Keeper
from rerankers.api.parts import BESIDE, Parts, parts_of
from rerankers.api.quiet import Said, kept
from rerankers.cli import STAGES
from rerankers.stages.sweep_point import RESUMED, single, without

if TYPE_CHECKING:
    from rerankers._hydra import Call
    from rerankers.api.words import Override

FOLDERS = frozenset(
    {
        *("run", "evaluate", "train", "labels", "headroom", "presence", "recommend", "variants", "agreement"),
        *("compare", "explain", "power", "meta", "reproduce"),
    }
)
"""Commands whose ``output`` is a folder."""
INPUTS = "inputs"
"""Folder inside the output for what a call had in memory."""


@dataclass(frozen=True)
class Done:
    """A job that is over.

    Attributes
    ----------
    command
        its name.
    folder
        of the results; None where the command leaves no folder.
    config
        resolved, as the stage got it.
    said
        what the command would have printed.
    returned
        what the stage returned.
    repeated
        the line that repeats the job in a shell, but for objects of the caller, which stand there in angle brackets.
    keeper
        a temporary folder, which goes with the last object that knows it; None for a folder of the caller's.
    """

    command: str
    folder: Path | None
    config: Mapping[str, Any]
    said: Said
    returned: Any
    repeated: str
    keeper: Keeper | None


def perform(
    command: str,
    overrides: tuple[Override, ...],
    options: Mapping[str, Any],
    *,
    output: str | Path | None = None,
    config_dir: str | Path | None = None,
    verbose: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> Done:
    """Run a command of `rerankers.cli` in this process.

    Parameters
    ----------
    command
        a name.
    overrides, options
        what to set; see `rerankers.api`.
    output
        folder (or file) of the results; None: a temporary folder.
    config_dir
        folder with config groups of the user's own.
    verbose
        whether the command prints as it does in a terminal.
    extra
        further arguments of the stage that only Python gives.

    Raises
    ------
    FairRerankersError
        as the command.
    """
    choose("command", command, STAGES)
    if not isinstance(output, str | Path | None):
        raise ConfigError(f"output: found {output!r}; expected a path, or None")
    with _told_of_files():
        return _performed(command, overrides, options, output, config_dir, verbose, extra or {})


@contextmanager
def _told_of_files() -> Iterator[None]:
    """Raise errors of the package where the machine refuses a file that no reader or writer has named."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingError(str(error)) from error
    except OSError as error:
        if error.filename is None:
            raise ConfigError(str(error)) from error
        raise unwritable(Path(str(error.filename)), error) from error


def _performed(
    command: str,
    overrides: tuple[Override, ...],
    options: Mapping[str, Any],
    output: str | Path | None,
    config_dir: str | Path | None,
    verbose: bool,
    extra: Mapping[str, Any],
) -> Done:
    keeper, place = _place(command, output)
    if keeper is None and command not in FOLDERS:
        keeper = Keeper()  # of inputs only: the command leaves a file, or nothing
    home = str(place) if keeper is None else keeper.name
    parts = parts_of(command, overrides, options, Path(home) / INPUTS)
    words = [*parts.words, *([] if place is None else [f"output={place}"])]
    with named_by(words):
        call = compose_call(command, STAGES[command].written(words), [] if config_dir is None else [Path(config_dir)])
        call = _with_objects(call, parts)
        repeated = shlex.join(["fair-rerank", command, *_words(call, parts)])
        with holding(parts.held), kept(verbose) as said:
            # In a context of its own, so that what stages note for their job does not outlast it.
            returned = copy_context().run(_start, command, call, parts, extra)
    folder = Path(str(call.config["output"])) if command in FOLDERS else None
    return Done(command, folder, call.config, said, returned, repeated, keeper)


def _place(command: str, output: str | Path | None) -> tuple[Keeper | None, str | None]:
    """Return a temporary folder where the caller names none, and the word for ``output``."""
    if output is not None or command not in FOLDERS:
        return None, None if output is None else str(output)
    keeper = Keeper()
    return keeper, keeper.name


def _with_objects(call: Call, parts: Parts) -> Call:
    """Return the call with objects in the place of the options of their parts."""
    config = dict(call.config)
    if parts.measures:
        config["measures"] = {**config["measures"], "own": {**(config["measures"].get("own") or {}), **parts.measures}}
    for part, node in parts.nodes.items():
        choose("option", part, config)
        before = config[part] if isinstance(config[part], Mapping) else {}
        config[part] = {**node, **{key: before[key] for key in BESIDE.get(part, ()) if key in before}}
    choices = call.choices if "method" not in parts.nodes else {**call.choices, "method": _method_name(parts)}
    return replace(call, config=config, choices=choices)


def _method_name(parts: Parts) -> str:
    """Return what results call a method that is an object: its ``name``, its file here, or its class in small words."""
    from rerankers.methods.names import NAMES

    if "method" not in parts.held:
        name = parts.nodes["method"]["_target_"].rpartition(".")[0].rpartition(".")[2]
        return str(name) if name in NAMES else _small(parts.nodes["method"]["_target_"].rpartition(".")[2])
    method = parts.held["method"]
    own = getattr(method, "name", None)
    return own if isinstance(own, str) and own else _small(type(method).__name__)


def _small(name: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() and at else sign.lower() for at, sign in enumerate(name))


def _words(call: Call, parts: Parts) -> list[str]:
    """Return what was set, for the record; an object of the caller is described in angle brackets."""
    return [*call.words, *(f"{part}=<{words}>" for part, words in parts.described.items())]


def _start(command: str, call: Call, parts: Parts, extra: Mapping[str, Any]) -> Any:
    """Call the stage as `rerankers.cli` does."""
    stage = STAGES[command]
    module, _, function = stage.place.partition(":")
    given: dict[str, Any] = {
        "config": call.config,
        "output": call.output,
        "words": _words(call, parts),
        "method": call.choices.get("method", ""),
    }
    started = getattr(import_module(f"rerankers.stages.{module}"), function)
    known = {key: value for key, value in extra.items() if key in inspect.signature(started).parameters}
    returned: list[Any] = []

    def job(config: Mapping[str, Any]) -> None:
        returned.append(started(*({**given, "config": config}[one] for one in stage.takes), **known))

    if parts.held and call.config.get("resume"):
        raise ConfigError(
            f"resume: found true beside {', '.join(parts.held)} as an object; expected null, since nobody can tell "
            "whether an object is the same as before"
        )
    with job_log(shlex.join(["fair-rerank", command, *given["words"]])), own_faults(call.config):
        if call.config.get("resume"):
            single(command, call.config, call.output, job)
        else:
            job(without(call.config) if command in RESUMED else call.config)
    return returned[0] if returned else None
