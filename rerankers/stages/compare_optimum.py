"""What could be had at most: fronts beside runs, at a share of the static utility and at each run's own utility."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.report.keys import LOSSES, parse
from rerankers.stages.compare_distances import Distance, distances_of
from rerankers.stages.fronts import FILE, read_fronts
from rerankers.stages.measured import values_of
from rerankers.stages.sweeps import UTILITY, common_units
from rerankers.stages.trade_offs import bounds
from rerankers.stats.trade_off import Curve, Matched, matched_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.compare_rows import Row
    from rerankers.stages.compare_sections import Section
    from rerankers.stages.gathered import JobResults

SHARE = 0.9
"""Of the static ranking's utility, at which fronts stand in the table."""
KINDS = 6
"""Different sets of fronts shown at most; jobs of other candidates or estimates have other ones."""
HOW = "fair-rerank run … measures.fronts=true"


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A front at a share of the static utility; ``point`` is its loss with its interval."""

    name: str
    loss: str
    point: Matched


@dataclass(frozen=True, slots=True)
class Optimum:
    """What a section's fronts say; ``missing`` where no job has any, ``notes`` on what else is missing."""

    points: Sequence[FrontPoint] = field(default_factory=tuple)
    distances: Sequence[Distance] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    missing: bool = False


def optimum(section: Section, level: float, resamples: int, seed: int = 0) -> Optimum:
    """Return the fronts of a section's jobs at `SHARE`, and how far its runs lie above them.

    Parameters
    ----------
    section
        jobs of one collection.
    level, resamples, seed
        of the intervals.

    Raises
    ------
    InputError
        for a damaged file of fronts.
    """
    units = common_units(section.jobs)
    homes = _homes(section.runs)
    if not homes or not units:
        return Optimum(missing=True)
    static = _static(section, units)
    losses = [key for key in dict.fromkeys(key for row in section.runs for key in row.grid.keys) if _is_loss(key)]
    how = {"seed": seed, "resamples": resamples, "level": level}
    points: list[FrontPoint] = []
    distances: list[Distance] = []
    for place, (jobs, rows) in enumerate(list(homes.items())[:KINDS]):
        suffix = f" ({rows[0].name})" if place else ""
        for loss in losses:
            read = {name: one for name, one in _mean_fronts(jobs, loss, units).items() if bounds(name, loss)}
            curves = {f"{name}{suffix}": curve for name, curve in read.items()}
            if not curves:
                continue
            if static is not None:
                found = matched_losses(curves, static, (SHARE,), **how)  # type: ignore[arg-type]
                points += [FrontPoint(one.curve, loss, one) for one in found if not _known(one, loss, points)]
            distances += distances_of(rows, curves, loss, units, level, resamples, seed)
    return Optimum(points, distances, _notes(section, homes, losses, distances, static is not None))


def _homes(rows: Sequence[Row]) -> dict[tuple[JobResults, ...], list[Row]]:
    """Return the jobs of each different set of fronts, one a seed where seeds have other ones -> their rows."""
    first: dict[tuple[str, ...], tuple[JobResults, ...]] = {}
    found: dict[tuple[JobResults, ...], list[Row]] = {}
    for row in rows:
        marks: dict[str, JobResults] = {}
        for member in row.members:
            path = member.job.folder / FILE
            if path.is_file():
                marks.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), member.job)
        if marks:
            jobs = first.setdefault(tuple(sorted(marks)), tuple(marks.values()))
            found.setdefault(jobs, []).append(row)
    return found


def _mean_fronts(jobs: Sequence[JobResults], loss: str, units: Sequence[str]) -> dict[str, Curve]:
    """Return fronts, of several seeds the mean over them of every query and policy."""
    read = [read_fronts([job], loss, units) for job in jobs]
    out = {}
    for name, one in read[0].items():
        curves = [other[name] for other in read if name in other and other[name].utility.shape == one.utility.shape]
        utility, value = (np.mean([getattr(curve, part) for curve in curves], axis=0) for part in ("utility", "loss"))
        out[name] = Curve(utility, value)
    return out


def _static(section: Section, units: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the utility of each query under the static ranking, the mean over seeds; None where no job has it."""
    for row in section.rows:
        if row.system == f"{ANCHOR}deterministic" and set(units) <= set(row.grid.units):
            found = values_of(row.grid, UTILITY, units)
            if np.all(np.isfinite(found)):
                return found
    return None


def _is_loss(text: str) -> bool:
    key = parse(text)
    return key.base in LOSSES and not key.part


def _known(one: Matched, loss: str, points: Sequence[FrontPoint]) -> bool:
    """Return whether a front of another job has the same values: that of the judgments, mostly."""
    name = one.curve.partition(" (")[0]
    return any(
        other.loss == loss
        and other.name.partition(" (")[0] == name
        and (other.point.utility, other.point.loss) == (one.utility, one.loss)
        for other in points
    )


def missing_sentences(titles: Sequence[str], several: int) -> list[str]:
    """Say which of several collections have no fronts, in one line."""
    if not titles:
        return []
    where = "" if len(titles) == several else f" of {', '.join(titles)}"
    return [f"no job{where} has a {FILE}: the optimum is not in the table. Type: {HOW}"]


def _notes(
    section: Section,
    homes: Mapping[tuple[JobResults, ...], Sequence[Row]],
    losses: Sequence[str],
    distances: Sequence[Distance],
    static: bool,
) -> list[str]:
    out = []
    lacking = sum(not (job.folder / FILE).is_file() for job in section.jobs)
    if lacking:
        out.append(f"{lacking} of {len(section.jobs)} jobs have no {FILE}: their runs are beside no front. Type: {HOW}")
    if len(homes) > KINDS:
        out.append(f"{len(homes)} different sets of fronts; the first {KINDS} are shown")
    if not static:
        out.append("no job has anchor:deterministic: fronts stand at the runs' own utilities only")
    if homes and any(job.options.get("exposure") == "draws" for jobs in homes for job in jobs):
        out.append(
            "fronts are measured from drawn rankings here, as the runs are (measures.exposure): something may lie "
            "below them by chance"
        )
    bare = [loss for loss in losses if loss not in {one.loss for one in distances}]
    if distances and bare:
        out.append(
            f"no front bounds {', '.join(bare)}: fronts of groups are computed for one attribute (groups.attribute=…)"
        )
    return out
