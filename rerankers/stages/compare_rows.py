"""The rows of a comparison: jobs that differ in nothing but their seed are one, anchors that agree stand once.

A row of several seeds has, for every query and measure, the mean over its seeds. Its interval resamples queries of
those means: it covers what other queries would give with these seeds. What other seeds would give is told apart, by the
standard deviation of the mean over seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.grid import grids
from rerankers.stages.compare_configs import lasting_options, options_of
from rerankers.stages.compare_names import identity
from rerankers.stages.compare_seeds import beside, mean_grid, number, seed_intervals, spread
from rerankers.stages.gathered import tier_of_system
from rerankers.stats.bootstrap import RESAMPLES

if TYPE_CHECKING:
    from rerankers.measures.grid import Grid
    from rerankers.report.data import Interval
    from rerankers.stages.gathered import JobResults

SEED = "seed"


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A system of one job.

    Attributes
    ----------
    job, system
        which.
    options
        flat, seeds left out, models by what they were trained with.
    seed
        of the job, None where its config has none.
    grid
        its values.
    """

    job: JobResults
    system: str
    options: Mapping[str, Any]
    seed: int | None
    grid: Grid

    @property
    def is_anchor(self) -> bool:
        """Whether it is no run."""
        return self.system.startswith(ANCHOR)

    @property
    def means(self) -> Mapping[str, float | None]:
        """Measure -> mean."""
        found: Mapping[str, float | None] = self.job.runs[self.system]["mean"]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row of a collection's table.

    Attributes
    ----------
    name
        shown.
    system
        what its jobs call it; an anchor by its prefix.
    members
        its jobs, a seed each.
    grid
        means over the seeds of every query and measure.
    means, intervals
        measure -> mean, and (low, high).
    spread
        measure -> standard deviation of the mean over seeds; empty for one job.
    """

    name: str
    system: str
    members: tuple[Member, ...]
    grid: Grid
    means: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    spread: Mapping[str, float]

    @property
    def is_anchor(self) -> bool:
        """Whether it is no run but something to hold runs against."""
        return self.system.startswith(ANCHOR)

    @property
    def tier(self) -> str:
        """The information that it used."""
        return tier_of_system(self.members[0].job.tier, self.system)

    @property
    def seeds(self) -> int:
        """How many jobs it is the mean of."""
        return len(self.members)


def members_of(jobs: Sequence[JobResults], seeds: str = "together") -> list[Member]:
    """Return every system of every job, in the order of the jobs.

    Parameters
    ----------
    seeds
        ``apart`` keeps the seed among the options.
    """
    out = []
    for job in jobs:
        options = options_of(job.folder)
        seed = options.get(SEED)
        lasting = lasting_options(options)
        if seeds == "apart" and options:
            lasting |= {SEED: seed}
        values = grids(job.table)
        out += [
            Member(job, system, lasting, seed if isinstance(seed, int) else None, values[system])
            for system in job.runs
            if system in values
        ]
    return out


def together(members: Sequence[Member], left_out: Collection[str] = ()) -> dict[tuple[object, ...], tuple[Member, ...]]:
    """Return the members as rows, by what they have in common: those that differ in nothing but their seed are one.

    A seed that comes again begins another row, since the same job counted twice is no repetition; members without a
    config stand for themselves. Values of exact exposure and of draws are never together.

    Parameters
    ----------
    left_out
        options that go with the collection, and do not tell rows of several collections apart.
    """
    rows: dict[tuple[object, ...], list[Member]] = {}
    for member in members:
        if not member.options:
            rows[(str(member.job.folder), member.system)] = [member]
            continue
        told = tuple(sorted((key, identity(value)) for key, value in member.options.items() if key not in left_out))
        again = 0
        key = (member.system, member.job.options.get("exposure"), told)
        while any(other.seed == member.seed for other in rows.get((*key, again), ())):
            again += 1
        rows.setdefault((*key, again), []).append(member)
    return {key: tuple(found) for key, found in rows.items()}


def anchors_together(members: Sequence[Member]) -> list[tuple[Member, ...]]:
    """Return the anchors as rows: one where all jobs have the same numbers, or the same ones seed by seed."""
    rows: list[tuple[Member, ...]] = []
    for group in together(members).values():
        for place, row in enumerate(rows):
            merged = _one_anchor(row, group)
            if merged is not None:
                rows[place] = merged
                break
        else:
            same = all(dict(member.means) == dict(group[0].means) for member in group)
            rows.append(group[:1] if same else group)
    return rows


def _one_anchor(row: tuple[Member, ...], group: tuple[Member, ...]) -> tuple[Member, ...] | None:
    """Return two rows of an anchor as one, None where their numbers differ."""
    if row[0].system != group[0].system:
        return None
    if len(row) == 1:
        return row if all(dict(one.means) == dict(row[0].means) for one in group) else None
    known = {member.seed: member for member in row}
    for member in group:
        other = known.get(member.seed)
        if other is not None and dict(other.means) != dict(member.means):
            return None
    if not any(member.seed in known for member in group):
        return None
    return tuple({**{member.seed: member for member in group}, **known}.values())


def rows_of(groups: Sequence[tuple[Member, ...]], names: Sequence[str], level: float) -> list[Row]:
    """Return rows with means and intervals; those of several seeds are resampled together.

    Parameters
    ----------
    level
        of the intervals of several seeds; a single job's are those that it left.
    """
    pooled = [mean_grid([member.grid for member in group]) for group in groups]
    several = [place for place, group in enumerate(groups) if len(group) > 1]
    resamples = int(groups[0][0].job.options.get("resamples", RESAMPLES)) if groups else RESAMPLES
    spans = seed_intervals([pooled[place] for place in several], level, resamples)
    out = []
    for place, (group, name) in enumerate(zip(groups, names, strict=True)):
        if len(group) == 1:
            (one,) = group
            found = {key: number(value) for key, value in one.means.items()}
            row = Row(name, one.system, group, one.grid, found, one.job.runs[one.system]["interval"], {})
        else:
            means, intervals = spans[several.index(place)]
            told, grids = [member.means for member in group], [member.grid for member in group]
            means = means | beside(told, means)
            row = Row(name, group[0].system, group, pooled[place], means, intervals, spread(told, grids))
        out.append(row)
    return out
