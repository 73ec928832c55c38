"""Which points of a front to show when not all of them can be: those with most room around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.pareto import point_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def crowding(points: ArrayLike) -> NDArray[np.float64]:
    """Return the crowding distance of every point of a front (Deb, Pratap, Agarwal and Meyarivan 2002).

    Coordinate by coordinate, the gap between the next lower and the next higher value that occurs, divided by the
    range, summed. Values that occur more than once count once, so that the order of the points does not matter; without
    such ties these are the published distances.

    Parameters
    ----------
    points
        float64 (m, d), finite.

    Returns
    -------
    numpy.ndarray
        float64 (m,), infinite for points with the lowest or highest value of a coordinate that varies; 0 where no
        coordinate does.

    Raises
    ------
    InputError
        as `rerankers.queries.pareto.pareto_mask`, and for infinite values.
    """
    array = point_array("points", points)
    if not np.all(np.isfinite(array)):
        raise InputError.one("points", "a number that is not finite", "finite numbers")
    out = np.zeros(len(array))
    for column in array.T:
        values, place = np.unique(column, return_inverse=True)
        if len(values) < 2:
            continue
        gaps = np.full(len(values), np.inf)
        gaps[1:-1] = (values[2:] - values[:-2]) / (values[-1] - values[0])
        out += gaps[place.reshape(-1)]
    return out


def least_crowded(points: ArrayLike, k: int) -> NDArray[np.int64]:
    """Return the places of k points that are spread out, ascending.

    The most crowded point is taken away until k are left, with distances anew each time: taken away all at once,
    neighbours would go together (Kukkonen and Deb 2006). Of equal points all but the first go before any other; of
    equally crowded ones the last goes first.

    Parameters
    ----------
    points
        float64 (m, d), finite.
    k
        at least 0.

    Returns
    -------
    numpy.ndarray
        int64 (min(k, m),).

    Raises
    ------
    InputError
        as `crowding`, and for a negative k.
    """
    array = point_array("points", points)
    if k < 0:
        raise InputError.one("k", str(k), "at least 0")
    first: NDArray[np.intp] = np.unique(array, axis=0, return_index=True)[1] if len(array) else np.zeros(0, np.intp)
    copies = np.setdiff1d(np.arange(len(array)), first)
    left = sorted(first.tolist())
    if len(left) < k:
        return np.sort(np.array([*left, *copies[: k - len(left)].tolist()], dtype=np.int64))
    while len(left) > k:
        distance = crowding(array[left])
        left.pop(len(left) - 1 - int(np.argmin(distance[::-1])))
    return np.array(left, dtype=np.int64)
