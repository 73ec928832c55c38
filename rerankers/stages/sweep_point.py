"""One point of a sweep, or one job with ``resume=true``: run it unless its results are there, and say what became."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers.stages import sweep_states
from rerankers.stages.output import LAST
from rerankers.stages.sweep_places import put_aside, take_back
from rerankers.stages.sweep_record import Made, is_done, made_from, write_record
from rerankers.stages.sweep_states import DONE, FAILED, THERE, State, said
from rerankers.stages.sweep_value import objectives, read_means, value_of

RESUMED = ("run", "train", "evaluate")
"""Commands with the option ``resume``, whose results are found again."""
Value = float | list[float] | None
SHOW = "FAIR_RERANK_TRACEBACK"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a sweep.

    Attributes
    ----------
    command
        of every point.
    config
        plain and resolved, with ``resume``.
    folder
        of the results, inside the sweep's folder.
    words
        the overrides in which it may differ from other points.
    made
        what the planner found the results are made from; None where nobody has looked.
    """

    command: str
    config: Mapping[str, Any]
    folder: Path
    words: tuple[str, ...]
    made: Made | None = None


def resumes(config: Mapping[str, Any], sweep: bool) -> bool:
    """Return whether results that are there are taken for done: null means in sweeps.

    Raises
    ------
    ConfigError
        for another value than null, true or false.
    """
    value = config.get("resume")
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"resume: found {value!r}; expected null, true or false")
    return sweep if value is None else value


def single(command: str, config: Mapping[str, Any], folder: Path, run: Callable[[Mapping[str, Any]], None]) -> Value:
    """Run one job; with ``resume=true`` not if its results are there, and with a record of what they are made from.

    Parameters
    ----------
    command, config, folder
        as in `Point`.
    run
        runs the job of the config that it is given.

    Returns
    -------
    float, list or None
        the means of what the job optimises.
    """
    if command not in RESUMED:
        run(config)
        return None
    resumed, keys, plain = resumes(config, sweep=False), objectives(config), without(config)
    made = made_from(command, plain, folder) if resumed else None
    if made is not None and is_done(folder, made):
        print(f"{folder}: was there already, made from the same config, package and input files (resume=true)")
    else:
        run(plain)
        if made is not None:
            write_record(folder, command, made)
    value = value_of(folder, keys)
    for key, number in zip(keys, value if isinstance(value, list) else [value], strict=False):
        print(f"optimise: {key} {number:.6g}")
    return value


def perform(point: Point, run: Callable[[Mapping[str, Any]], None], sweep: Path) -> Value:
    """Run a point unless it is done, note what became of it beside the sweep's results, and print one line.

    Raises
    ------
    FairRerankersError
        with what went wrong, after it has been noted.
    """
    start = perf_counter()
    state, caught = State(point.folder.name, point.words, DONE), None
    collected: list[str] = []
    token = said.set(collected)
    try:
        there, value = _run(point, run, sweep)
        state = replace(state, state=THERE if there else DONE, value=value)
    except FairRerankersError as error:
        caught = error
        state = replace(state, state=FAILED, error=str(error), code=error.exit_code)
    except Exception as error:  # of a library or ours: the other points are not to suffer from it
        if os.environ.get(SHOW):
            traceback.print_exc()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        caught = FairRerankersError(f"unexpected {text} (the whole traceback: log.txt of the point, or {SHOW}=1)")
        state = replace(state, state=FAILED, error=str(caught), code=caught.exit_code)
    finally:
        said.reset(token)
    seconds = None if state.state == THERE else round(perf_counter() - start, 3)
    state = replace(state, seconds=seconds, warnings=tuple(collected))
    print(line(state, point.folder), flush=True)
    sweep_states.write(sweep, state)
    if caught is not None:
        raise caught
    return state.value


def _run(point: Point, run: Callable[[Mapping[str, Any]], None], sweep: Path) -> tuple[bool, Value]:
    """Return whether the results were there, and what the sweep optimises."""
    if point.command not in RESUMED:
        run(point.config)
        return False, None
    keys, plain = objectives(point.config), without(point.config)
    seen = None if point.made is None else point.made.inputs
    made = made_from(point.command, plain, sweep, seen)
    found = _is_there(point, made, sweep)
    there = found and resumes(point.config, sweep=True)
    if not there:
        run(plain)
        write_record(point.folder, point.command, made)
    return there, value_of(point.folder, keys)


def _is_there(point: Point, made: Made, sweep: Path) -> bool:
    """Whether the results are there; those of another point are put aside first, since this one may fail."""
    if is_done(point.folder, made):
        return True
    if point.made is None and (point.folder / LAST).is_file():  # no planner has brought the folders in order
        put_aside(sweep, point.folder)
    return point.made is None and take_back(sweep, point.folder.name, made)


def without(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's own config: without ``resume``, and without ``optimise`` where it is null."""
    return {key: value for key, value in config.items() if key != "resume" and (key, value) != ("optimise", None)}


def line(state: State, folder: Path) -> str:
    """Return one line about a point: overrides, main measures and seconds, or what went wrong."""
    head = sweep_states.told(state)
    if state.state == FAILED:
        return f"{head}: failed: {state.error}"
    if state.state == THERE:
        return f"{head}: was there already"
    shown = _numbers(folder)
    warned = f"; warnings: {len(state.warnings)}" if state.warnings else ""
    return f"{head}: {shown}{' ' if shown else ''}({state.seconds:.1f} s{warned})"


def _numbers(folder: Path, most: int = 4) -> str:
    means: Sequence[Mapping[str, float | None]] = list(read_means(folder).values())
    if len(means) != 1:
        return f"{len(means)} systems" if means else ""
    from rerankers.report.terminal import main_columns
    from rerankers.report.text import number

    keys = [key.text for key in main_columns(list(means[0]))][:most]
    return ", ".join(f"{key} {number(means[0][key])}" for key in keys)
