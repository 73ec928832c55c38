"""What became of each point of a sweep: a small file a point, so that it is known wherever the point ran."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rerankers._base.errors import InputError
from rerankers._base.files import unwritable, write_text
from rerankers._base.own_files import own_mapping

FOLDER = ".fair-rerank-sweep"
DONE, THERE, FAILED, NOT_RUN = "done", "was there", "failed", "not run"


@dataclass(frozen=True, slots=True)
class State:
    """What became of a point.

    Attributes
    ----------
    name
        of its folder within the sweep's.
    words
        the overrides in which it may differ from other points.
    state
        ``done``, ``was there``, ``failed`` or ``not run``.
    error, code
        what went wrong, and the exit code that says so.
    seconds
        it took, None where it did not run.
    value
        what the sweep optimises: a number, or several.
    warnings
        sentences about its results.
    """

    name: str
    words: tuple[str, ...]
    state: str
    error: str = ""
    code: int = 0
    seconds: float | None = None
    value: float | list[float] | None = None
    warnings: tuple[str, ...] = field(default=())


said: ContextVar[list[str] | None] = ContextVar("said", default=None)
"""Collects the warnings of the point that is running; None outside of sweeps, where jobs print them themselves."""


def clear(sweep: Path) -> None:
    """Take away what an earlier sweep noted, and make room for this one's notes."""
    try:
        shutil.rmtree(sweep / FOLDER, ignore_errors=True)
        (sweep / FOLDER).mkdir(parents=True)
    except OSError as error:
        raise unwritable(sweep, error) from error


def remove(sweep: Path) -> None:
    """Take the notes away once they are told."""
    shutil.rmtree(sweep / FOLDER, ignore_errors=True)


def write(sweep: Path, state: State) -> None:
    """Note what became of a point."""
    write_text(sweep / FOLDER / f"{state.name}.json", json.dumps(asdict(state), ensure_ascii=False))


def read(sweep: Path) -> dict[str, State]:
    """Return what is noted, by name; points that were not reached are missing."""
    found = {}
    for path in (sweep / FOLDER).glob("*.json"):
        noted = own_mapping(path, "what a sweep notes of a point", mend="Start the sweep again.")
        try:
            state = State(**{**noted, "words": tuple(noted["words"]), "warnings": tuple(noted["warnings"])})
        except (KeyError, TypeError) as error:
            raise InputError.one(str(path), repr(error), "what a sweep notes of a point") from error
        found[state.name] = state
    return found


def gathered_warnings(states: Iterable[State]) -> dict[str, list[str]]:
    """Return warning -> names of the points that have it."""
    found: dict[str, list[str]] = {}
    for state in states:
        for warning in dict.fromkeys(state.warnings):
            found.setdefault(warning, []).append(state.name)
    return found


def short(words: Iterable[str]) -> dict[str, str]:
    """Return the overrides as column -> value: the last part of a key where no other key ends like it."""
    pairs: Mapping[str, str] = {key: value for key, _, value in (word.lstrip("+").partition("=") for word in words)}
    ends = [key.rpartition(".")[2] for key in pairs]
    return {key if ends.count(end) > 1 else end: value for (key, value), end in zip(pairs.items(), ends, strict=True)}


def told(state: State) -> str:
    """Return a point's name with its overrides, for lines."""
    return " ".join([state.name, *state.words])
