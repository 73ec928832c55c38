"""How far to go in a direction in which a convex function falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.objective import Point

_FLAT = 0.1  # a slope this small a part of the first one will do
_TRIALS = 40
_GROW = 4.0
_INSIDE = 0.05  # a trial keeps this part of the bracket away from its ends
_ROUNDING = 1e-14


def descend(
    at: Callable[[float], Point],
    along: NDArray[np.float64],
    start: Point,
    first: float,
    limit: float,
    flat: float = _FLAT,
) -> tuple[float, Point]:
    """Return a length at which the slope has nearly come to 0, and the point there.

    The slope of a convex function does not fall along a line. A bracket of its zero is narrowed by secants, which
    are exact for quadratic functions, and by halving where those are slow or the function is infinite.

    Parameters
    ----------
    at
        length -> the point there.
    along
        float64 (n,), the direction of the exposure; the slope at ``start`` is negative.
    start
        the point of length 0.
    first, limit
        the length to try first, and the greatest one; both positive.
    flat
        the part of the first slope that may be left.

    Returns
    -------
    The length, and its point, whose value is not above the start's; 0 and the start where rounding allows no more.
    """
    steep = float(np.dot(start.gradient, along))
    ceiling = start.value + _ROUNDING * abs(start.value)
    low, low_slope, best = 0.0, steep, start
    high, high_slope = np.inf, np.inf
    length, width = min(first, limit), np.inf
    for _ in range(_TRIALS):
        point = at(length)
        slope = float(np.dot(point.gradient, along)) if point.value < np.inf else np.inf
        if point.value <= ceiling and abs(slope) <= flat * abs(steep):
            return length, point
        if slope <= 0:
            low, low_slope, best = length, slope, point
            if length >= limit:
                break
        else:
            high, high_slope = length, slope
        # A secant that cuts off little is about to creep along one end: halve instead.
        creeping, width = high - low > width / 2.0, high - low
        length = _next(low, low_slope, high, np.inf if creeping else high_slope, limit)
    return low, best


def _next(low: float, low_slope: float, high: float, high_slope: float, limit: float) -> float:
    if high == np.inf:
        return min(limit, _GROW * low)
    width = high - low
    if high_slope == np.inf:
        return low + width / 2.0
    secant = low - low_slope * width / (high_slope - low_slope)
    return min(max(secant, low + _INSIDE * width), high - _INSIDE * width)
