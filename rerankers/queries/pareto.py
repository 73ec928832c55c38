"""Pareto dominance among points whose coordinates are all to be high.

A point dominates another if it is nowhere lower and somewhere higher. The front is what nothing dominates: points that
are equal in every coordinate do not dominate each other, so all of them are on it or none is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

_CELLS = 1 << 20  # comparisons held at once: 1 MB each of two tables


def pareto_mask(points: ArrayLike) -> NDArray[np.bool_]:
    """Return which points no other one dominates.

    Parameters
    ----------
    points
        float64 (m, d), every coordinate to be high; d at least 1. Infinite values are compared as any other.

    Returns
    -------
    numpy.ndarray
        bool (m,). Equal rows share their value. Time grows with m times the size of the front, memory with m.

    Raises
    ------
    InputError
        for not-a-number, which cannot be compared, and for anything that is not a matrix with a column.
    """
    distinct, back = _distinct(point_array("points", points))
    mask = np.zeros(len(distinct), dtype=bool)
    front = distinct[:0]
    step = 256  # a part is compared with itself, then only with what is left of those before it
    for start in range(0, len(distinct), step):
        part = distinct[start : start + step]
        alive = ~dominated(part, front)
        alive[alive] = ~dominated(part[alive], part[alive])
        mask[start : start + step] = alive
        front = np.concatenate([front, part[alive]])
    return mask[back]


def pareto_ranks(points: ArrayLike) -> NDArray[np.int64]:
    """Return the number of the front that each point is on when fronts are peeled off one by one.

    Parameters
    ----------
    points
        as in `pareto_mask`.

    Returns
    -------
    numpy.ndarray
        int64 (m,): 1 on the front, 2 on the front of what is left without it, and so on (Goldberg 1989). It is one
        more than the highest rank of a point that dominates.

    Raises
    ------
    InputError
        as `pareto_mask`.
    """
    distinct, back = _distinct(point_array("points", points))
    ranks = np.ones(len(distinct), dtype=np.int64)
    for place in range(1, len(distinct)):
        # distinct rows that come before and are nowhere lower are somewhere higher
        above = np.all(distinct[:place] >= distinct[place], axis=1)
        ranks[place] = 1 + ranks[:place][above].max(initial=0)
    return ranks[back]


def dominance_counts(points: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many points each one dominates, and by how many it is dominated.

    Parameters
    ----------
    points
        as in `pareto_mask`.

    Returns
    -------
    dominates, dominated_by
        int64 (m,) each; equal rows count one by one.

    Raises
    ------
    InputError
        as `pareto_mask`.
    """
    array = point_array("points", points)
    dominates = np.zeros(len(array), dtype=np.int64)
    dominated_by = np.zeros(len(array), dtype=np.int64)
    for rows in _parts(len(array), len(array)):
        beats = dominance(array[rows], array)
        dominates[rows] = beats.sum(axis=1)
        dominated_by += beats.sum(axis=0)
    return dominates, dominated_by


def dominated(points: Floats, by: Floats) -> NDArray[np.bool_]:
    """Return which points at least one of another set dominates, bool (m,).

    Parameters
    ----------
    points, by
        float64 (m, d) and (n, d) without not-a-number.
    """
    out = np.zeros(len(points), dtype=bool)
    for rows in _parts(len(points), len(by)):
        out[rows] = dominance(by, points[rows]).any(axis=0)
    return out


def dominance(over: Floats, under: Floats) -> NDArray[np.bool_]:
    """Return which point of the first set dominates which of the second, bool (m, n), for (m, d) and (n, d)."""
    nowhere_lower = np.ones((len(over), len(under)), dtype=bool)
    somewhere_higher = np.zeros((len(over), len(under)), dtype=bool)
    for high, low in zip(over.T, under.T, strict=True):
        nowhere_lower &= high[:, None] >= low
        somewhere_higher |= high[:, None] > low
    return nowhere_lower & somewhere_higher


def point_array(name: str, points: ArrayLike) -> NDArray[np.float64]:
    """Return points as float64 (m, d); no points at all, as an empty list, are (0, 1).

    Raises
    ------
    InputError
        unless they are a matrix of numbers with at least one column.
    """
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError.one(name, type(points).__name__, "a matrix of numbers, a row a point") from error
    if array.shape == (0,):
        return array.reshape(0, 1)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError.one(name, f"shape {array.shape}", "a matrix (points, objectives) with at least one objective")
    wrong = np.flatnonzero(np.isnan(array).any(axis=1))
    if len(wrong):
        raise InputError.one(
            name,
            f"not-a-number in row {wrong[0]}" + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""),
            "numbers that can be compared",
            mend="Leave out points with an objective that is not defined, and count them.",
        )
    return array


def _distinct(array: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return distinct rows, the lexicographically highest first, and the place of each row among them.

    What dominates a row comes before it.
    """
    if not len(array):
        return array, np.zeros(0, dtype=np.intp)
    rows, back = np.unique(array + 0.0, axis=0, return_inverse=True)  # 0.0: -0 and 0 are one value
    return rows[::-1], len(rows) - 1 - back.reshape(-1)


def _parts(rows: int, columns: int) -> list[slice]:
    step = max(1, _CELLS // max(columns, 1))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]
