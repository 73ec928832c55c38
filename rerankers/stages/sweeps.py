"""Jobs of a sweep as curves: what a method reaches while one of its options moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.summary import JSON_FILE
from rerankers.stages.compare_configs import REPEATED, lasting_options, options_of
from rerankers.stats.trade_off import Curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.gathered import JobResults

UTILITY = "utility"
LEAST = 3  # points of a curve


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A system of several jobs that differ in one number.

    Attributes
    ----------
    name
        of the system, with the words in which its jobs differ from those of other families.
    option
        the number's key, for instance ``method.temperature``.
    values
        its M values, ascending.
    jobs
        M tuples of jobs, repetitions together.
    system
        the system's name in the jobs.
    """

    name: str
    option: str
    values: tuple[float, ...]
    jobs: tuple[tuple[JobResults, ...], ...]
    system: str

    def curve(self, loss: str, units: Sequence[str]) -> Curve | None:
        """Return utility and a loss of each point and query; None where a value is missing."""
        both = [
            [np.mean([_values(job, self.system, key, units) for job in point], axis=0) for point in self.jobs]
            for key in (UTILITY, loss)
        ]
        utility, losses = (np.array(part) for part in both)
        return Curve(utility, losses) if np.all(np.isfinite(utility)) and np.all(np.isfinite(losses)) else None


def expanded(folders: Iterable[Path]) -> list[Path]:
    """Return folders of results: a sweep's folder stands for its jobs, in the order of their numbers."""
    found: list[Path] = []
    for folder in folders:
        inside = [] if (folder / JSON_FILE).exists() else [path.parent for path in folder.glob(f"*/{JSON_FILE}")]
        found += sorted(inside, key=_natural) or [folder]
    return list(dict.fromkeys(found))


def families(jobs: Sequence[JobResults]) -> list[Family]:
    """Return the curves among jobs: systems that `LEAST` or more of them have, apart from one number.

    Of several numbers that differ the one with most values moves along the curve; the others, and words, tell
    families apart. Folders of sweeps in which different numbers move make curves of their own.

    Raises
    ------
    InputError
        for a config that cannot be read.
    """
    options = {job.folder: options_of(job.folder) for job in jobs}
    found = []
    for system in dict.fromkeys(name for job in jobs for name in job.runs if not name.startswith(ANCHOR)):
        own = [job for job in jobs if system in job.runs]
        parts = [(_moving(part, options), part) for part in _sweeps(own, options)]
        several = len([moving for moving, _ in parts if moving is not None]) > 1
        for moving, part in parts:
            if moving is not None:
                some = _split(system, moving, part, options)
                found += [replace(one, name=f"{one.name} by {moving}") if several else one for one in some]
    return found


def _sweeps(jobs: Sequence[JobResults], options: Mapping[Path, Mapping[str, Any]]) -> list[list[JobResults]]:
    """Return the jobs by the number that moves in their sweep's folder; all others together, behind them."""
    inside: dict[Path, list[JobResults]] = {}
    for job in jobs:
        inside.setdefault(job.folder.parent, []).append(job)
    by_number: dict[str | None, list[JobResults]] = {}
    for part in inside.values():
        by_number.setdefault(_moving(part, options), []).extend(part)
    alone = by_number.pop(None, [])
    if len(by_number) < 2:
        return [list(jobs)]
    return [*by_number.values(), *([alone] if alone else [])]


def repetitions(jobs: Sequence[JobResults]) -> dict[str, list[tuple[JobResults, str]]]:
    """Return the systems that are no anchors: name -> its jobs and its name there, seeds together.

    Values of exact exposure and of draws are never together. A model in ``method.model`` counts by its own config:
    models that differ in the seed of their training only are repetitions. Jobs without a config stand for themselves.
    """
    found: dict[tuple[object, ...], list[tuple[JobResults, str]]] = {}
    for job in jobs:
        options = lasting_options(options_of(job.folder))
        for name in job.runs:
            if not name.startswith(ANCHOR):
                told: tuple[object, ...] = tuple(sorted((key, str(value)) for key, value in options.items()))
                found.setdefault((name, job.units, job.options.get("exposure"), told or str(job.folder)), []).append(
                    (job, name)
                )
    names = [homes[0][1] for homes in found.values()]
    return {
        name if names.count(name) == 1 else f"{homes[0][0].folder}/{name}": homes
        for name, homes in zip(names, found.values(), strict=True)
    }


def configurations(jobs: Sequence[JobResults]) -> list[int]:
    """Return how many systems that are no anchors were measured, by set of queries; seeds of one count once."""
    counted: dict[tuple[str, ...], int] = {}
    for homes in repetitions(jobs).values():
        units = homes[0][0].units
        counted[units] = counted.get(units, 0) + 1
    return list(counted.values())


def common_units(jobs: Sequence[JobResults]) -> tuple[str, ...]:
    """Return the queries that are judged in all jobs, which have a utility for every system, sorted."""
    shared = _with_utility(jobs[0])
    for job in jobs[1:]:
        shared &= _with_utility(job)
    return tuple(sorted(shared))


def _with_utility(job: JobResults) -> set[str]:
    """Return the units with a value of utility for all systems that were measured on them."""
    import pyarrow.compute as pc

    rows = job.table.filter(pc.equal(job.table["measure"], UTILITY))
    lacking = set(rows.filter(pc.is_null(rows["value"]))["unit"].to_pylist())
    return set(rows["unit"].to_pylist()) - lacking


def reference(jobs: Sequence[JobResults], units: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the utility of each query under the static ranking; None where no job has it."""
    for job in jobs:
        if f"{ANCHOR}deterministic" in job.runs:
            found = _values(job, f"{ANCHOR}deterministic", UTILITY, units)
            if np.all(np.isfinite(found)):
                return found
    return None


def _moving(jobs: Sequence[JobResults], options: Mapping[Path, Mapping[str, Any]]) -> str | None:
    """Return the number that moves: the one with most values among those in which jobs differ."""
    keys = dict.fromkeys(key for job in jobs for key in options[job.folder])
    best, most = None, LEAST - 1
    for key in keys:
        values = {options[job.folder].get(key) for job in jobs}
        numbers = {value for value in values if isinstance(value, int | float) and not isinstance(value, bool)}
        if key not in REPEATED and len(numbers) > most:
            best, most = key, len(numbers)
    return best


def _split(
    system: str, moving: str, jobs: Sequence[JobResults], options: Mapping[Path, Mapping[str, Any]]
) -> list[Family]:
    keys = [
        key
        for key in dict.fromkeys(key for job in jobs for key in options[job.folder])
        if key != moving
        and key not in REPEATED
        and len({str(options[job.folder].get(key)) for job in jobs if moving in options[job.folder]}) > 1
    ]
    grouped: dict[tuple[str, ...], dict[float, list[JobResults]]] = {}
    for job in jobs:
        value = options[job.folder].get(moving)
        if isinstance(value, int | float) and not isinstance(value, bool):
            words = tuple(str(options[job.folder].get(key)) for key in keys)
            grouped.setdefault(words, {}).setdefault(float(value), []).append(job)
    found = []
    for words, points in grouped.items():
        if len(points) >= LEAST:
            values = tuple(sorted(points))
            told = ", ".join(f"{key}={word}" for key, word in zip(keys, words, strict=True))
            name = f"{system} ({told})" if told else system
            found.append(Family(name, moving, values, tuple(tuple(points[value]) for value in values), system))
    return found


def _values(job: JobResults, system: str, measure: str, units: Sequence[str]) -> NDArray[np.float64]:
    """Return the value of each unit, float64 (B,), NaN where there is none."""
    import pyarrow.compute as pc

    table = job.table
    chosen = table.filter(pc.and_(pc.equal(table["system"], system), pc.equal(table["measure"], measure)))
    known = dict(zip(chosen["unit"].to_pylist(), chosen["value"].to_pylist(), strict=True))
    return np.array([np.nan if known.get(unit) is None else known[unit] for unit in units], dtype=np.float64)


def _natural(path: Path) -> tuple[int, int, str]:
    number = path.name.isdecimal()
    return (0, int(path.name), "") if number else (1, 0, path.name)
