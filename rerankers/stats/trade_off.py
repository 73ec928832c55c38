"""Fairness at matched utility: what loss a family of policies reaches when its users lose no more than so much.

A family is a curve of M policies, for instance one for each temperature. Drawing one of two policies at random gives
every point of the chord between theirs, so that the family reaches the lower convex envelope of its points, and with
less utility whatever it reaches with more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.stats.bootstrap import RESAMPLES, resample_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

FEWEST = 2
"""Queries that are resampled: a single one would get an interval of no width."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A family of M policies, measured on the same B queries.

    Attributes
    ----------
    utility, loss
        float64 (M, B), finite.
    """

    utility: Floats
    loss: Floats

    def __post_init__(self) -> None:
        if self.utility.ndim != 2 or self.utility.shape != self.loss.shape or not self.utility.size:
            found = f"shapes {self.utility.shape} and {self.loss.shape}"
            raise InputError.one("curve", found, "utility and loss of one shape (policies, queries), neither of them 0")
        if not (np.all(np.isfinite(self.utility)) and np.all(np.isfinite(self.loss))):
            raise InputError.one("curve", "numbers that are not finite", "a utility and a loss of every query")


@dataclass(frozen=True, slots=True)
class Matched:
    """The loss of a family at a utility; None where no policy of the family has so much.

    Attributes
    ----------
    curve
        name of the family.
    share
        of the reference's utility.
    utility
        that is.
    loss, low, high
        with the percentile interval over resampled queries, None of a single query.
    difference, difference_low, difference_high
        the loss less that of the first family, in the same resamples.
    reached
        share of the resamples in which the family reaches the utility.
    """

    curve: str
    share: float
    utility: float
    loss: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    reached: float


def loss_at_utility(utility: ArrayLike, loss: ArrayLike, at: ArrayLike) -> Floats:
    """Return the least loss of mixtures of points whose utility is at least so much.

    Parameters
    ----------
    utility, loss
        (M,), the points.
    at
        (K,), utilities.

    Returns
    -------
    float64 (K,), not falling in ``at``; NaN above the largest utility.

    Raises
    ------
    InputError
        for points that are not finite, none, or not as many of both.
    """
    return read_envelope(*envelope(*_points(utility, loss)), np.atleast_1d(np.asarray(at, dtype=np.float64)))


def area_between(
    utility: ArrayLike, loss: ArrayLike, front_utility: ArrayLike, front_loss: ArrayLike, low: float, high: float
) -> float:
    """Return the mean amount by which a curve lies above a front, over utilities from ``low`` to ``high``.

    Both are read as `loss_at_utility` reads them: linear between the corners of their envelopes, so the area is exact.

    Raises
    ------
    InfeasibleError
        where one of them does not reach ``high``.
    InputError
        for an empty range, and points as in `loss_at_utility`.
    """
    if not low < high:
        raise InputError.one("low", f"{low:.6g} with high={high:.6g}", "a range of positive length")
    own, front = envelope(*_points(utility, loss)), envelope(*_points(front_utility, front_loss))
    reach = min(own[0][-1], front[0][-1])
    if high > reach:
        raise InfeasibleError(f"utility: found {high:.6g}; the greatest that both curves have is {reach:.6g}")
    grid = np.unique(np.concatenate([[low, high], own[0], front[0]]))
    grid = grid[(grid >= low) & (grid <= high)]
    return float(np.trapezoid(read_envelope(*own, grid) - read_envelope(*front, grid), grid) / (high - low))


def _points(utility: ArrayLike, loss: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(utility, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError.one("utility", f"shapes {x.shape} and {y.shape}", "(M,) of both, at least one point")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise InputError.one("utility", "points that are not finite", "finite numbers")
    return x, y


def read_envelope(corner_x: Floats, corner_y: Floats, at: Floats) -> Floats:
    """Return the loss of an `envelope` at utilities: NaN above its last corner, its least loss below the first."""
    found = np.interp(at, corner_x, corner_y)
    found[at > corner_x[-1]] = np.nan
    return found


def envelope(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the corners of the lower convex envelope from the least loss on, utility ascending."""
    order = np.lexsort((y, x))
    corners: list[int] = []
    for point in order:
        if corners and x[point] == x[corners[-1]]:
            continue  # of equal utility the first has the least loss
        while len(corners) > 1 and _above(x, y, corners[-2], corners[-1], point):
            corners.pop()
        corners.append(int(point))
    kept = np.array(corners)
    kept = kept[int(np.argmin(y[kept])) :]
    return x[kept], y[kept]


def _above(x: Floats, y: Floats, first: int, middle: int, last: int) -> bool:
    """Return whether the middle point is on or above the chord between the others."""
    return bool((y[middle] - y[first]) * (x[last] - x[first]) >= (y[last] - y[first]) * (x[middle] - x[first]))


def matched_losses(
    curves: Mapping[str, Curve],
    reference: Floats,
    shares: Sequence[float] = (0.8, 0.9, 0.95),
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[Matched]:
    """Return the loss of each family at shares of a reference's utility, with intervals over queries.

    Queries are resampled with replacement, the same for all families and the reference, so that differences are
    paired.

    Parameters
    ----------
    curves
        name -> family; differences are taken from the first.
    reference
        float64 (B,), the utility of each query under the policy that is compared with, for instance the static
        ranking.
    shares
        of its mean utility.
    seed, resamples, level
        of the bootstrap.

    Raises
    ------
    InputError
        for families that were measured on other numbers of queries.
    """
    for name, curve in curves.items():
        if curve.utility.shape[1] != len(reference):
            found = f"{curve.utility.shape[1]} queries"
            raise InputError.one(f"curve {name!r}", found, f"{len(reference)}, as the reference has")
    at = np.array(shares) * reference.mean()
    drawn = _resampled(curves, reference, np.array(shares), seed, resamples)
    first = next(iter(curves))
    rows = []
    for name, curve in curves.items():
        points = loss_at_utility(curve.utility.mean(axis=1), curve.loss.mean(axis=1), at)
        base = loss_at_utility(curves[first].utility.mean(axis=1), curves[first].loss.mean(axis=1), at)
        for place, share in enumerate(shares):
            own, other = drawn[name][:, place], drawn[first][:, place]
            rows.append(
                Matched(
                    name,
                    float(share),
                    float(at[place]),
                    *with_interval(points[place], own, level, len(reference)),
                    *with_interval(points[place] - base[place], own - other, level, len(reference)),
                    float(np.mean(~np.isnan(own))),
                )
            )
    return rows


def _resampled(
    curves: Mapping[str, Curve], reference: Floats, shares: Floats, seed: int, resamples: int
) -> dict[str, Floats]:
    """Return name -> float64 (resamples, shares), NaN where a family does not reach the utility."""
    queries = len(reference)
    drawn = {name: np.empty((resamples, len(shares))) for name in curves}
    start = 0
    for counts in resample_counts(queries, seed, resamples):
        weight = counts / queries
        # einsum adds in one fixed order; BLAS does not promise it
        at = np.einsum("rb,b->r", weight, reference)[:, None] * shares
        for name, curve in curves.items():
            utility, loss = (np.einsum("rb,mb->rm", weight, part) for part in (curve.utility, curve.loss))
            for row in range(len(weight)):
                drawn[name][start + row] = read_envelope(*envelope(utility[row], loss[row]), at[row])
        start += len(weight)
    return drawn


def with_interval(
    value: float, drawn: Floats, level: float, queries: int
) -> tuple[float | None, float | None, float | None]:
    """Return a value with the percentile interval of its resamples; of a single query without one."""
    known = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(known):
        return None, None, None
    if queries < FEWEST:
        return float(value), None, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(value), float(low), float(high)
