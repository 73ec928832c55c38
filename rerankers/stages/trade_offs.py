"""Curves of compared jobs: utility against each loss, and losses at matched utility."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.anchors import PREFIX
from rerankers.report.keys import LOSSES, in_order
from rerankers.report.text import number
from rerankers.report.trade_off import ANCHOR, FRONT, RUN, SWEEP, Line, Spot, trade_off
from rerankers.stages.fronts import read_fronts
from rerankers.stages.sweeps import UTILITY, common_units, families, reference
from rerankers.stats.bootstrap import mean_intervals
from rerankers.stats.front_gaps import SPAN, FrontGap, front_gaps
from rerankers.stats.trade_off import Curve, Matched, matched_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.report import Picture
    from rerankers.stages.compare_rows import Row
    from rerankers.stages.gathered import JobResults
    from rerankers.stages.sweeps import Family

SHARES = (0.8, 0.9, 0.95)
SHOWN_ANCHORS = ("random", "deterministic", "plackett_luce")
HEADER = ("loss", "curve", "share of the static utility", "utility", "mean", "low", "high")
DIFFERENCE = ("difference to the first curve", "low", "high")
GAP_HEADER = ("loss", "front", "curve", "share of the static utility", "above the front", "closed of the first's gap")
WHOSE = {"EEL": "documents", "group_EEL": "groups"}
"""Whose front bounds which loss, by the last word of the front's name."""


@dataclass(frozen=True, slots=True, eq=False)
class TradeOffs:
    """What a comparison shows of curves.

    Attributes
    ----------
    pictures
        one a loss.
    matched
        loss -> the losses of its curves at shares of the static ranking's utility.
    gaps
        loss -> how far its curves lie above its fronts, at the shares and over `SPAN` of them.
    """

    pictures: Sequence[Picture]
    matched: dict[str, list[Matched]]
    gaps: dict[str, list[FrontGap]] = field(default_factory=dict)

    def lines(self) -> list[list[str]]:
        """Return the rows of a table under `HEADER` and `DIFFERENCE`."""
        return [
            [
                loss,
                row.curve,
                f"{row.share:.0%}",
                number(row.utility),
                *(number(value) for value in (row.loss, row.low, row.high)),
                *(number(value) for value in (row.difference, row.difference_low, row.difference_high)),
            ]
            for loss, rows in self.matched.items()
            for row in rows
        ]

    def gap_lines(self) -> list[list[str]]:
        """Return the rows of a table under `GAP_HEADER`."""
        return [
            [
                loss,
                row.front,
                row.curve,
                share_words(row.share),
                _spread(row.gap, row.low, row.high),
                _spread(row.closed, row.closed_low, row.closed_high),
            ]
            for loss, rows in self.gaps.items()
            for row in rows
        ]


def matched_csv(parts: Sequence[tuple[str, TradeOffs]]) -> str:
    """Return the losses at matched utility of collections in full precision, empty where a curve does not reach one."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    numbers = ("mean", "low", "high", "difference", "d_low", "d_high")
    out.writerow(["collection", "loss", "curve", "share", "utility", *numbers])
    for title, curves in parts:
        for loss, rows in curves.matched.items():
            for r in rows:
                values = (r.loss, r.low, r.high, r.difference, r.difference_low, r.difference_high)
                out.writerow([title, loss, r.curve, r.share, r.utility, *values])
    return text.getvalue()


def gaps_csv(parts: Sequence[tuple[str, TradeOffs]]) -> str:
    """Return the distances from fronts in full precision; the share is empty where the row is the mean of the range."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    closed = ("closed", "closed_low", "closed_high")
    about = ("collection", "loss", "front", "curve", "share", "from", "to")
    out.writerow([*about, "gap", "low", "high", *closed, "reached"])
    for title, curves in parts:
        for loss, rows in curves.gaps.items():
            for r in rows:
                span = SPAN if r.share is None else (r.share, r.share)
                values = (r.gap, r.low, r.high, r.closed, r.closed_low, r.closed_high, r.reached)
                out.writerow([title, loss, r.front, r.curve, r.share, *span, *values])
    return text.getvalue()


def share_words(share: float | None) -> str:
    """Return a share of the static utility in words, the range for None."""
    return f"mean of {SPAN[0]:.0%} to {SPAN[1]:.0%}" if share is None else f"{share:.0%}"


def _spread(value: float | None, low: float | None, high: float | None) -> str:
    return number(value) if value is None or low is None else f"{number(value)} [{number(low)}, {number(high)}]"


def trade_offs(
    jobs: Sequence[JobResults],
    level: float,
    resamples: int,
    seed: int = 0,
    rows: Sequence[Row] = (),
    slug: str = "",
) -> TradeOffs:
    """Return utility against each loss: the curves among jobs, and rows that are on no curve as points.

    Parameters
    ----------
    jobs
        measured alike.
    level, resamples, seed
        of the intervals over queries.
    rows
        runs of these jobs; without them jobs in which no option moves through three values or more make no picture.
    slug
        for the pictures' files, of one collection among several.
    """
    found = families(jobs)
    units = common_units(jobs)
    if not (found or rows) or not units:
        return TradeOffs([], {})
    static = reference(jobs, units)
    on_curve = {(family.system, job.folder) for family in found for point in family.jobs for job in point}
    beside = [row for row in rows if (row.system, row.members[0].job.folder) not in on_curve]
    pictures, matched, gaps = [], {}, {}
    for key in in_order(dict.fromkeys(name for job in jobs for run in job.runs.values() for name in run["mean"])):
        if key.base not in LOSSES or key.part:
            continue
        curves = {family.name: curve for family in found if (curve := family.curve(key.text, units)) is not None}
        points = [line for row in beside if (line := _run(row, key.text)) is not None]
        if not curves and not points:
            continue
        drawn = [
            _line(family, curves[family.name], level, resamples, seed) for family in found if family.name in curves
        ]
        fronts = read_fronts(jobs, key.text, units)
        drawn += [*points, *(_front(name, curve) for name, curve in fronts.items())]
        drawn += _anchors(jobs[0], key.text)
        name = re.sub(r"[^a-z0-9]+", "_", f"{key.text} {slug}".lower()).strip("_")
        pictures.append(trade_off(key.text, drawn, name, f"{level:.0%}"))
        if static is not None and curves:
            how = {"seed": seed, "resamples": resamples, "level": level}
            matched[key.text] = matched_losses({**curves, **fronts}, static, SHARES, **how)  # type: ignore[arg-type]
            own = {name: front for name, front in fronts.items() if bounds(name, key.text)}
            gaps[key.text] = front_gaps(curves, own, static, SHARES, **how)  # type: ignore[arg-type]
    return TradeOffs(pictures, matched, {loss: rows for loss, rows in gaps.items() if rows})


def _run(row: Row, loss: str) -> Line | None:
    """Return a run as a point with its intervals, None where it lacks a mean."""
    utility, value = row.means.get(UTILITY), row.means.get(loss)
    if utility is None or value is None:
        return None
    ends = [row.intervals.get(key) or (None, None) for key in (UTILITY, loss)]
    return Line(row.name, RUN, "", [Spot(None, _triple(utility, *ends[0]), _triple(value, *ends[1]))])


def bounds(front: str, loss: str) -> bool:
    """Return whether a front is of a loss: of another one it is no bound."""
    whose = front.rpartition(", ")[2]
    return whose not in WHOSE.values() or whose == WHOSE.get(loss)


def _line(family: Family, curve: Curve, level: float, resamples: int, seed: int) -> Line:
    spans = {
        name: mean_intervals(values.T, seed=seed, resamples=resamples, level=level)
        for name, values in ((UTILITY, curve.utility), ("loss", curve.loss))
    }
    spots = []
    for place, value in enumerate(family.values):
        utility, loss = spans[UTILITY][place], spans["loss"][place]
        spots.append(
            Spot(
                value,
                _triple(utility.mean, utility.low, utility.high),
                _triple(loss.mean, loss.low, loss.high),
            )
        )
    return Line(family.name, SWEEP, family.option, spots)


def _triple(mean: float | None, low: float | None, high: float | None) -> tuple[float, float, float]:
    centre = np.nan if mean is None else mean
    return centre, centre if low is None else low, centre if high is None else high


def _front(name: str, curve: Curve) -> Line:
    points: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = list(zip(curve.utility, curve.loss, strict=True))
    spots = [Spot(None, _triple(float(u.mean()), None, None), _triple(float(v.mean()), None, None)) for u, v in points]
    return Line(name, FRONT, "", sorted(spots, key=lambda spot: spot.utility[0]))


def _anchors(job: JobResults, loss: str) -> list[Line]:
    lines = []
    for name in SHOWN_ANCHORS:
        means = job.runs.get(f"{PREFIX}{name}", {}).get("mean", {})
        utility, value = means.get(UTILITY), means.get(loss)
        if isinstance(utility, int | float) and isinstance(value, int | float):
            spot = Spot(None, _triple(float(utility), None, None), _triple(float(value), None, None))
            lines.append(Line(name, ANCHOR, "", [spot]))
    return lines
