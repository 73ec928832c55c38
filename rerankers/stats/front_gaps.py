"""How far curves of policies lie above a front, and how much of the first curve's distance another one closes.

The distance is taken at shares of a reference's utility and as the mean over a range of utilities (`area_between`).
The front is the best that can be had, so that a distance of 0 is perfect; "closed" is 1 on the front, 0 for the
first curve (for instance Plackett-Luce by temperature), and below 0 for what is worse than that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import RESAMPLES, resample_counts
from rerankers.stats.trade_off import Curve, envelope, read_envelope, with_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SPAN = (0.8, 0.95)
"""Shares of the reference's utility between which the area is taken."""


@dataclass(frozen=True, slots=True)
class FrontGap:
    """A curve's distance from a front.

    Attributes
    ----------
    curve, front
        names.
    share
        of the reference's utility; None for the mean over the range.
    gap, low, high
        the curve's loss less the front's with its percentile interval over resampled queries; None where one of
        them does not reach the utility (the upper end of the range).
    closed, closed_low, closed_high
        1 - gap / the first curve's gap, in the same resamples; None for the first curve itself, where the first
        curve lies on the front or below, and where one of the three is not known.
    reached
        share of the resamples in which the gap is known.
    """

    curve: str
    front: str
    share: float | None
    gap: float | None
    low: float | None
    high: float | None
    closed: float | None
    closed_low: float | None
    closed_high: float | None
    reached: float


def front_gaps(
    curves: Mapping[str, Curve],
    fronts: Mapping[str, Curve],
    reference: Floats,
    shares: Sequence[float] = (0.8, 0.9, 0.95),
    span: tuple[float, float] = SPAN,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[FrontGap]:
    """Return the distances of all curves from all fronts, at shares and over a range, with intervals over queries.

    Parameters
    ----------
    curves
        name -> family of policies; "closed" is told against the first.
    fronts
        name -> the best that can be had.
    reference
        float64 (B,), the utility of each query under the policy that is compared with.
    shares
        of its mean utility.
    span
        shares between which the mean distance is taken, the lower one first.
    seed, resamples, level
        of the bootstrap, its resamples those of `matched_losses`.

    Raises
    ------
    InputError
        for families that were measured on other numbers of queries, and an empty range.
    """
    everyone = {**{("curve", name): one for name, one in curves.items()}}
    everyone |= {("front", name): one for name, one in fronts.items()}
    for (_, name), curve in everyone.items():
        if curve.utility.shape[1] != len(reference):
            found = f"{curve.utility.shape[1]} queries"
            raise InputError.one(f"curve {name!r}", found, f"{len(reference)}, as the reference has")
    if not span[0] < span[1]:
        raise InputError.one("span", str(span), "two shares, the lower one first")
    if not curves or not fronts:
        return []
    at = np.array(shares, dtype=np.float64)
    points = {name: _told(one.utility.mean(axis=1), one.loss.mean(axis=1), reference.mean(), at, span)
              for name, one in everyone.items()}  # fmt: skip
    drawn = _resampled(everyone, reference, at, span, seed, resamples)
    first = ("curve", next(iter(curves)))
    rows = []
    for front in fronts:
        base = (points[first] - points["front", front], drawn[first] - drawn["front", front])
        for name in curves:
            own = (points["curve", name] - points["front", front], drawn["curve", name] - drawn["front", front])
            closed = (_closed(own[0], base[0]), _closed(own[1], base[1]))
            for place, share in enumerate((*shares, None)):
                gap = with_interval(own[0][place], own[1][:, place], level, len(reference))
                part = with_interval(closed[0][place], closed[1][:, place], level, len(reference))
                reached = float(np.mean(~np.isnan(own[1][:, place])))
                if ("curve", name) == first:
                    part = (None, None, None)
                rows.append(FrontGap(name, front, None if share is None else float(share), *gap, *part, reached))
    return rows


def mean_loss(corner_utility: Floats, corner_loss: Floats, low: float, high: float) -> float:
    """Return the mean loss of an envelope over utilities from ``low`` to ``high``, exactly; NaN where it ends before.

    Parameters
    ----------
    corner_utility, corner_loss
        as `envelope` returns them.
    low, high
        utilities, ``low`` below ``high``.
    """
    if high > corner_utility[-1]:
        return float("nan")
    inside = corner_utility[(corner_utility > low) & (corner_utility < high)]
    grid = np.concatenate([[low], inside, [high]])
    return float(np.trapezoid(read_envelope(corner_utility, corner_loss, grid), grid) / (high - low))


def _told(utility: Floats, loss: Floats, reference: float, shares: Floats, span: tuple[float, float]) -> Floats:
    """Return the losses at the shares, and behind them the mean over the range: float64 (shares + 1,)."""
    corners = envelope(utility, loss)
    found = np.empty(len(shares) + 1)
    found[:-1] = read_envelope(*corners, shares * reference)
    # a reference without utility leaves no range to take a mean over
    found[-1] = mean_loss(*corners, span[0] * reference, span[1] * reference) if reference > 0 else np.nan
    return found


def _resampled(
    curves: Mapping[tuple[str, str], Curve],
    reference: Floats,
    shares: Floats,
    span: tuple[float, float],
    seed: int,
    resamples: int,
) -> dict[tuple[str, str], Floats]:
    queries, start = len(reference), 0
    drawn = {name: np.empty((resamples, len(shares) + 1)) for name in curves}
    for counts in resample_counts(queries, seed, resamples):
        weight = counts / queries
        # einsum adds in one fixed order; BLAS does not promise it
        level = np.einsum("rb,b->r", weight, reference)
        for name, curve in curves.items():
            utility, loss = (np.einsum("rb,mb->rm", weight, part) for part in (curve.utility, curve.loss))
            for row in range(len(weight)):
                drawn[name][start + row] = _told(utility[row], loss[row], float(level[row]), shares, span)
        start += len(weight)
    return drawn


def _closed(gap: Floats, base: Floats) -> Floats:
    out: Floats = np.full(gap.shape, np.nan)
    np.divide(base - gap, base, out=out, where=base > 0)
    return out
