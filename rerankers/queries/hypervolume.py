"""The hypervolume of a set of points: how much of the space of objectives it dominates (Zitzler and Thiele 1998)."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.pareto import pareto_mask, point_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def hypervolume(points: ArrayLike, reference: ArrayLike = 0.0) -> float:
    """Return the volume between a reference point and the points, all coordinates to be high.

    Exact, by a sweep for up to three objectives. Beyond, the volume of each point is that of its own box less what
    the points after it cover of that box (While, Bradstreet and Barone 2012): exponential in the worst case, fast for
    the fronts of tens of points that occur here.

    Parameters
    ----------
    points
        float64 (m, d), finite. Equal rows count once; a row that is not above the reference in every coordinate
        covers nothing.
    reference
        a number for all coordinates or float64 (d,), finite.

    Returns
    -------
    float
        at least 0, at most the volume of the box of the highest coordinates; 0 without points.

    Raises
    ------
    InputError
        as `rerankers.queries.pareto.pareto_mask`, for infinite values and for a reference of another shape.
    """
    array = point_array("points", points)
    low = np.asarray(reference, dtype=np.float64)
    if low.ndim > 1 or (low.ndim == 1 and low.shape != array.shape[1:]):
        raise InputError.one("reference", f"shape {low.shape}", f"a number or {array.shape[1]} of them")
    if not (np.all(np.isfinite(array)) and np.all(np.isfinite(low))):
        raise InputError.one("points and reference", "a number that is not finite", "finite numbers")
    return front_volume(_front(array - low))


def _front(above: Floats) -> Floats:
    """Return the distinct points of the front that are above 0 everywhere."""
    above = np.unique(above[np.all(above > 0, axis=1)], axis=0)
    return above[pareto_mask(above)]


def front_volume(front: Floats) -> float:
    """Return the hypervolume from 0 of points that are above 0 everywhere and do not dominate each other.

    Parameters
    ----------
    front
        float64 (m, d); equal rows are allowed.
    """
    if not len(front):
        return 0.0
    if len(front) == 1 or front.shape[1] == 1:
        return float(np.prod(front.max(axis=0)))
    if front.shape[1] == 2:
        return _area(front)
    if front.shape[1] == 3:
        return _sweep(front)
    # the highest in the first coordinate last: the boxes of the others shrink most when cut down to theirs
    front = front[np.lexsort(front.T[::-1])]
    total = 0.0
    for place, point in enumerate(front):
        covered = front_volume(_front(np.minimum(front[place + 1 :], point)))
        total += float(np.prod(point)) - covered
    return total


def _area(front: Floats) -> float:
    """Return the area of a two-dimensional front: steps from the widest point to the highest one."""
    order = np.argsort(-front[:, 0], kind="stable")
    width, height = front[order].T
    return float(np.sum(width * np.diff(height, prepend=0.0)))


def _sweep(front: Floats) -> float:
    """Return the volume of a three-dimensional front: slices between the third coordinates, the highest first.

    The stairs of what was met so far are kept in order of their width, heights falling; each new point replaces the
    stairs that it covers (Beume et al. 2009).
    """
    order = np.argsort(-front[:, 2], kind="stable")
    points = front[order].tolist()
    widths: list[float] = []
    heights: list[float] = []
    total = area = 0.0
    for place, (width, height, level) in enumerate(points):
        area += _step(widths, heights, width, height)
        below = points[place + 1][2] if place + 1 < len(points) else 0.0
        total += area * (level - below)
    return total


def _step(widths: list[float], heights: list[float], width: float, height: float) -> float:
    """Put a point among the stairs; return the area that it adds."""
    last = bisect_left(widths, width)  # stairs from here on are at least as wide
    floor = heights[last] if last < len(heights) else 0.0
    if floor >= height:
        return 0.0
    added, first, right = 0.0, last, width
    while first > 0 and heights[first - 1] <= height:
        first -= 1
        added += (right - widths[first]) * (height - floor)
        right, floor = widths[first], heights[first]
    left = widths[first - 1] if first > 0 else 0.0
    added += (right - left) * (height - floor)
    same = last < len(widths) and widths[last] == width
    widths[first : last + same] = [width]
    heights[first : last + same] = [height]
    return added
