"""The least unfair exposures among those of at least a given utility, with a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.exposure.optimal.permutahedron import document_array, linear_gap, padded_weights, pooled, utility_end

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_STEPS = 200  # projections at most; some ten are usual
_ROUNDING = 1e-14  # of the largest possible utility
_LARGEST = 1e300


class LeastUnfair(NamedTuple):
    """Exposures with the least squared distance to a target at a utility, and the proof.

    Attributes
    ----------
    exposure
        float64 (n,).
    multiplier
        lambda, what a unit of utility costs: half the slope of the loss. 0 where the floor does not bind.
    loss
        the squared distance to the target.
    utility
        the product of relevance and exposure.
    bound
        no reachable exposures of that utility have a smaller loss: the minimum of the Lagrangian at the multiplier,
        from below by one sort.
    gap
        loss minus bound, without the cancellation: how far the loss can be from the optimum. It may be negative by
        the rounding of utility times the multiplier, which is large near the greatest utility.
    """

    exposure: NDArray[np.float64]
    multiplier: float
    loss: float
    utility: float
    bound: float
    gap: float


def least_unfair_with_utility(
    relevance: ArrayLike, target: ArrayLike, position_weights: ArrayLike, floor: float
) -> LeastUnfair:
    """Minimise the squared distance to a target subject to relevance . exposure >= floor.

    The optimum is the projection of target + lambda relevance for the lambda that meets the floor (see
    `pareto_front`). Utility grows with lambda and is piecewise linear, so steps along its pieces from both ends of a
    bracket, with bisection between, end on the piece of the floor, where the result is exact.

    Parameters
    ----------
    relevance, target
        (n,), finite.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.
    floor
        the utility asked for, finite.

    Returns
    -------
    LeastUnfair

    Raises
    ------
    InfeasibleError
        when no policy has this utility; the text says which is the greatest.
    ValueError
        for numbers that are not finite, weights that increase, or shapes that differ.
    """
    worth = document_array("relevance", relevance)
    goal = document_array("target", target, len(worth))
    weight = padded_weights(position_weights, len(worth))
    floor = float(floor)
    if not math.isfinite(floor):
        raise InputError.one("floor", str(floor), "a finite utility")
    path = _Path(worth, goal, weight)
    low, high = path.at(0.0), path.end()
    rounding = _ROUNDING * float(np.abs(worth).max(initial=0.0) * weight.sum())
    if floor > high.utility + rounding:
        raise InfeasibleError(f"floor: found a utility of {floor:.17g}; the greatest is {high.utility:.17g}")
    if low.utility >= floor:
        return path.certified(low.exposure, 0.0, floor)
    if floor >= high.utility - rounding:
        return path.certified(high.exposure, high.factor, floor)
    low, high = _bracket(path, low, high, floor, rounding)
    share = (floor - low.utility) / (high.utility - low.utility) if high is not low else 0.0
    exposure = low.exposure + share * (high.exposure - low.exposure)
    return path.certified(exposure, low.factor + share * (high.factor - low.factor), floor)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A point of the path: its factor, exposure, utility, and how fast utility grows there."""

    factor: float
    exposure: NDArray[np.float64]
    utility: float
    rate: float


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The projections of target + factor * relevance."""

    relevance: NDArray[np.float64]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]

    def at(self, factor: float) -> _Point:
        value, rate = pooled(self.target, self.relevance, np.array([factor]), self.weight)
        return _Point(factor, value[0], float(self.relevance @ value[0]), float(rate[0]))

    def end(self) -> _Point:
        exposure, factor = utility_end(self.relevance, self.target, self.weight)
        # A piece between relevances that hardly differ may end beyond the largest number.
        factor = min(factor, _LARGEST / float(np.abs(self.relevance).max(initial=1.0)))
        return _Point(factor, exposure, float(self.relevance @ exposure), 0.0)

    def certified(self, exposure: NDArray[np.float64], factor: float, floor: float) -> LeastUnfair:
        """Return the exposure with its bound: a convex function exceeds its minimum by at most the duality gap."""
        away = exposure - self.target
        loss, utility = float(away @ away), float(self.relevance @ exposure)
        slope = 2.0 * (away - factor * self.relevance)
        gap = 2.0 * factor * (utility - floor) + linear_gap(exposure, slope, self.weight)
        return LeastUnfair(exposure, factor, loss, utility, loss - gap, gap)


def _bracket(path: _Path, low: _Point, high: _Point, floor: float, rounding: float) -> tuple[_Point, _Point]:
    """Return points around the floor between which utility is linear, or so close that it does not matter."""
    # Of two documents, relevance decides from about here on; the end of the path may lie many powers of ten away.
    usual = float(np.ptp(path.target) + path.weight[0]) / float(np.ptp(path.relevance))
    for step in range(_STEPS):
        factor = _next(low, high, floor, step)
        if not low.factor < factor < high.factor:
            factor = usual if low.factor == 0.0 and usual < high.factor else _middle(low.factor, high.factor)
        if not low.factor < factor < high.factor:
            break
        point = path.at(float(factor))
        if abs(point.utility - floor) <= rounding:
            return point, point
        if point.utility < floor:
            low = point
        else:
            high = point
    return low, high


def _next(low: _Point, high: _Point, floor: float, step: int) -> float:
    """Return where the piece of the lower end or that of the upper end meets the floor; every third time 0."""
    if step % 3 == 0 and low.rate > 0.0:
        return low.factor + (floor - low.utility) / low.rate
    if step % 3 == 1 and high.rate > 0.0:
        return high.factor - (high.utility - floor) / high.rate
    return 0.0


def _middle(low: float, high: float) -> float:
    return low + (high - low) / 2.0 if high < 8.0 * low or low == 0.0 else low**0.5 * high**0.5
