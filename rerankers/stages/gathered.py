"""The results of several jobs side by side, and whether they may stand side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.own_files import own_mapping
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.summary import JSON_FILE, PARQUET_FILE
from rerankers.measures.table import SCHEMA, concat
from rerankers.report.keys import learn
from rerankers.stages.compare_alike import ASPECTS as ASPECTS
from rerankers.stages.compare_alike import check_alike
from rerankers.stages.metadata import test_collection

if TYPE_CHECKING:
    from rerankers.report.data import Interval

PARTS = ("preset", "options", "runs", "tier", "counts")


@dataclass(frozen=True, slots=True, eq=False)
class JobResults:
    """What one job left.

    Attributes
    ----------
    folder
        where.
    preset, tier, options, counts
        as in ``measures.json``.
    runs
        name -> ``mean``, ``interval`` and what else there is but ``per_query``, which ``table`` holds.
    table
        the rows of ``measures.parquet``.
    """

    folder: Path
    preset: str | None
    tier: str
    options: Mapping[str, Any]
    counts: Mapping[str, Any]
    runs: Mapping[str, Mapping[str, Any]]
    table: pa.Table

    @property
    def units(self) -> tuple[str, ...]:
        """The sorted names of the queries (topics, sequences) of the first run that is no anchor, or of any."""
        import pyarrow.compute as pc

        names = [name for name in self.runs if not name.startswith(ANCHOR)] or list(self.runs)
        rows = self.table.filter(pc.equal(self.table["system"], names[0])) if names else self.table
        return tuple(sorted(rows["unit"].unique().to_pylist()))

    @property
    def collection(self) -> str | None:
        """The fingerprint of the test collection, where ``metadata.yaml`` has one: `evaluate` knows none."""
        return test_collection(self.folder).get("fingerprint")


def read_results(folder: Path) -> JobResults:
    """Read the results of ``run`` or ``evaluate``.

    Raises
    ------
    MissingError
        when there is no such folder, or none of these files is in it.
    InputError
        when a file is damaged.
    """
    import pyarrow.parquet as pq

    summary, rows = folder / JSON_FILE, folder / PARQUET_FILE
    for path in (summary, rows):
        if not path.is_file():
            raise MissingError(
                f"{path}: no such file; expected the results of fair-rerank run or evaluate. Type: fair-rerank "
                f"evaluate … output={folder}"
            )
    try:
        found = own_mapping(summary, "the results of one job")
        lacks = [part for part in PARTS if part not in found]
        table = pq.read_table(rows).select(SCHEMA.names).cast(SCHEMA)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, pa.ArrowException, OSError) as error:
        raise InputError.one(str(folder), f"damaged results ({error})", "the results of one job") from error
    damage = f"no {', '.join(lacks)}" if lacks else _damage(found) or _without_rows(found, table)
    if damage is not None:
        raise InputError.one(str(summary), damage, "the results of one job")
    tier = found["tier"] or "unknown"
    learn(_own_measures(found["options"]))
    runs = {name: {part: run[part] for part in run if part != "per_query"} for name, run in found["runs"].items()}
    return JobResults(folder, found["preset"], tier, found["options"], found["counts"], runs, table)


def _own_measures(options: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Return what a job says of measures of the user's own, whose classes need not be here."""
    told = options.get("own_measures")
    found = told.items() if isinstance(told, Mapping) else ()
    return {name: words for name, words in found if isinstance(words, Mapping)}


def _damage(found: Mapping[str, Any]) -> str | None:
    """Say what no job would have written, None where there is nothing."""
    for part in ("options", "counts", "runs"):
        if not isinstance(found[part], Mapping):
            return f"{part} that are no table"
    if not found["runs"]:
        return "no run"
    for name, run in found["runs"].items():
        if not isinstance(run, Mapping) or not all(isinstance(run.get(key), Mapping) for key in ("mean", "interval")):
            return f"run {name!r} without means and intervals"
        for key, value in run["mean"].items():
            if not _number(value):
                return f"the mean {value!r} of {key} of run {name!r}"
        for key, pair in run["interval"].items():
            if pair is not None and not (isinstance(pair, list) and len(pair) == 2 and all(map(_number, pair))):
                return f"the interval {pair!r} of {key} of run {name!r}"
    return None


def _without_rows(found: Mapping[str, Any], table: pa.Table) -> str | None:
    """Name the first run of the summary that has no row in the table, None where all have some."""
    there = set(table["system"].unique().to_pylist())
    return next(
        (f"run {name!r}, of which {PARQUET_FILE} has no row" for name in found["runs"] if name not in there), None
    )


def _number(value: object) -> bool:
    """Return whether a value is a number or null."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Several jobs as one.

    Attributes
    ----------
    home
        shown name -> the job and its name there; anchors that agree everywhere stand once.
    table
        the rows of all of them under their shown names.
    """

    home: Mapping[str, tuple[JobResults, str]]
    table: pa.Table

    def means(self, shown: str) -> Mapping[str, float | str | None]:
        """Return measure -> mean of a run."""
        job, name = self.home[shown]
        found: Mapping[str, float | str | None] = job.runs[name]["mean"]
        return found

    def tier(self, shown: str) -> str:
        """Return the information that a run used; see `tier_of_system`."""
        job, name = self.home[shown]
        return tier_of_system(job.tier, name)

    def intervals(self, shown: str) -> Mapping[str, Interval]:
        """Return measure -> interval of a run."""
        job, name = self.home[shown]
        found: Mapping[str, Interval] = job.runs[name]["interval"]
        return found


ANCHOR_TIERS = {"random": "blind", "ideal": "judged", "worst_first": "judged"}
"""Tiers of anchors that do not depend on the job; the others use what the job's method believes."""


def tier_of_system(tier: str, name: str) -> str:
    """Return the tier of a system: that of its job, but for the anchors that use less or more (`ANCHOR_TIERS`)."""
    return ANCHOR_TIERS.get(name.removeprefix(ANCHOR), tier) if name.startswith(ANCHOR) else tier


def gather(jobs: Sequence[JobResults], mix: Sequence[str] = ()) -> Gathered:
    """Put the results of jobs side by side.

    Parameters
    ----------
    jobs
        one or more.
    mix
        aspects (`ASPECTS`) in which they may differ.

    Raises
    ------
    ConfigError
        where they differ in another aspect, or two runs of one name come from folders of one name.
    """
    check_alike(jobs, mix)
    home: dict[str, tuple[JobResults, str]] = {}
    for job in jobs:
        for name in job.runs:
            shown = _shown(name, job, jobs)
            if name.startswith(ANCHOR) and _agrees(home.get(shown), job.runs[name]):
                continue
            if shown in home:
                raise ConfigError(f"results: two runs are called {shown!r}; rename one of the folders {job.folder}")
            home[shown] = (job, name)
    return Gathered(home, concat(_renamed(job, name, shown) for shown, (job, name) in home.items()))


def _shown(name: str, job: JobResults, jobs: Sequence[JobResults]) -> str:
    """Return a run's name, with that of its folder where another job has a run of that name (and other numbers)."""
    others = [other for other in jobs if other is not job and name in other.runs]
    if not others:
        return name
    if name.startswith(ANCHOR):
        first = next(other for other in jobs if name in other.runs)
        if _agrees((first, name), job.runs[name]):
            return name
        return f"{name} ({_label(job, jobs)})"
    return f"{_label(job, jobs)}/{name}"


def _label(job: JobResults, jobs: Sequence[JobResults]) -> str:
    """Return the folder's name, with its parent's where another folder has that name: of two sweeps, for instance."""
    alike = [other.folder for other in jobs if other.folder.name == job.folder.name]
    parents = {folder.parent.name for folder in alike}
    told_apart = len(parents) == len(alike) > 1 and "" not in parents
    return f"{job.folder.parent.name}/{job.folder.name}" if told_apart else job.folder.name


def _agrees(found: tuple[JobResults, str] | None, run: Mapping[str, Any]) -> bool:
    return found is not None and found[0].runs[found[1]]["mean"] == run["mean"]


def _renamed(job: JobResults, name: str, shown: str) -> pa.Table:
    import pyarrow.compute as pc

    rows = job.table.filter(pc.equal(job.table["system"], name))
    return rows.set_column(0, SCHEMA.field("system"), pa.repeat(pa.scalar(shown, pa.string()), len(rows)))
