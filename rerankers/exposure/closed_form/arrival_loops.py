"""Compiled loops: who has arrived at a time, and between which ranks the number of arrivals lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.nodes import BEND, CLAMP, FIRST, NEGLIGIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIME, REST, MOVED, DENSITY = 0, 1, 2, 3  # the rows of a state
FAR = 20.0  # nats after which times are computed anew instead of scaled
GONE = 1e-60  # a chance that stays negligible when divided by any other, its own factor excepted
_MOST = math.exp(CLAMP)
_SMALL = 0.5  # above, 1 - e^-a is exact to rounding without expm1
SHARP = 0.2  # nats: a cutoff whose arrival is less certain needs no closer nodes
_CLOSER = 2.0  # how much closer nodes lie around a cutoff


@compiled
def start(logit: NDArray[np.float64], x: float, base: NDArray[np.float64]) -> None:
    """Fill ``base`` with w t at log time x."""
    for d in range(len(logit)):
        base[d] = math.exp(min(logit[d] + x, CLAMP))


@compiled
def arrive(
    base: NDArray[np.float64], factor: float, continuation: NDArray[np.float64], state: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Fill the state (4, n) at ``factor`` times the time of ``base``.

    Its rows are a = w t, the chance q = e^-a of not having arrived, the continuation times p = 1 - q, and the density
    a q of arrivals in log time. The mean and the variance of the number of arrivals are returned, with the least of
    the sums q + c p.
    """
    mean, variance, least = 0.0, 0.0, 1.0
    for d in range(len(base)):
        time = min(base[d] * factor, _MOST)
        if time < _SMALL:
            come = -math.expm1(-time)
            rest = 1.0 - come
        else:
            rest = math.exp(-time)
            come = 1.0 - rest
        moved = continuation[d] * come
        mean += come
        variance += come * rest
        least = min(least, rest + moved)
        state[TIME, d], state[REST, d], state[MOVED, d], state[DENSITY, d] = time, rest, moved, time * rest
    return mean, variance, least


@compiled
def _reach(variance: float) -> float:
    """Return how far a sum of independent 0-1 variables strays from its mean, up to a probability of e^-40.

    Bennett's inequality: the probability of straying t is at most exp(-v h(t / v)), h(u) = (1 + u) log(1 + u) - u.
    """
    v = max(variance, 1e-300)
    reach = -NEGLIGIBLE / 3.0 + math.sqrt((NEGLIGIBLE / 3.0) ** 2 - 2.0 * v * NEGLIGIBLE)  # Bernstein's is weaker
    for _ in range(4):  # Newton on a convex function from above: every step stays above
        slope = math.log1p(reach / v)
        reach -= ((v + reach) * slope - reach + NEGLIGIBLE) / slope
    return reach


@compiled
def window(mean: float, variance: float, n: int, furthest: float, aside: int) -> tuple[int, int]:
    """Return the first and the last rank that matter when up to ``aside`` documents are left out of the count.

    ``furthest`` is a rank that nobody passes, because of the continuations.
    """
    reach = _reach(variance)
    low = max(0, int(mean - reach) - aside)
    return low, max(low, int(min(n - 1.0, mean + reach + 2.0, furthest + aside)))


@compiled
def bent(v: float) -> tuple[float, float]:
    """Return log time at v, and its slope: the left decay is made doubly exponential (see `nodes`)."""
    bend = math.exp(-(v + BEND))
    return v - bend, 1.0 + bend


@compiled
def cutoff_time(logit: NDArray[np.float64], cut: int, right: float) -> tuple[float, float]:
    """Return the v at which the document of rank ``cut`` arrives, and how uncertain that is; 1 if it is not sharp."""
    n = len(logit)
    ones, base, state = np.ones(n), np.empty(n), np.empty((4, n))
    low, high, width = FIRST, right, 1.0
    while high - low > 0.5 * width:
        v = 0.5 * (low + high)
        x, slope = bent(v)
        start(logit, x, base)
        mean, variance, _ = arrive(base, 1.0, ones, state)
        rate = 0.0
        for d in range(n):
            rate += slope * state[DENSITY, d]
        width = max(math.sqrt(variance) / max(rate, 1e-300), 1e-3)
        if mean < cut - 0.5:
            low = v
        else:
            high = v
    return 0.5 * (low + high), width if width < SHARP else 1.0


@compiled
def stretched(v: float, centre: float, width: float) -> float:
    """Return y, of which equal steps are short ones of v around a sharp cutoff, and near to those of v elsewhere."""
    if width >= SHARP:
        return v
    return v + _CLOSER * (math.asinh((v - centre) / width) - math.asinh((FIRST - centre) / width))


@compiled
def unstretched(y: float, low: float, high: float, centre: float, width: float) -> tuple[float, float]:
    """Return the v between ``low`` and ``high`` that is stretched to y, and its slope in y."""
    if width >= SHARP:
        return y, 1.0
    v = 0.5 * (low + high)
    slope = 1.0
    for _ in range(60):  # Newton, kept between the bounds
        slope = 1.0 + _CLOSER / math.hypot(v - centre, width)
        miss = stretched(v, centre, width) - y
        if miss > 0.0:
            high = v
        else:
            low = v
        step = miss / slope
        if abs(step) <= 1e-15 * max(1.0, abs(v)):
            break
        v = v - step if low <= v - step <= high else 0.5 * (low + high)
    return v, 1.0 / slope
