"""The smallest value of a quadratic function over weights that sum to 1, compiled.

A primal active-set method (Wolfe 1976; Lawson & Hanson 1974): the minimum over the affine hull of the active weights,
or as far towards it as they stay positive; then the weight of the lowest slope joins. The Cholesky factor of the
active part is kept up to date, so that a pivot takes O(m (m + p)) for m active weights of p.

The factor is that of ``square + shift (1 1' + ridge I)``. Steps sum to 0, so that the first addition changes none of
them and makes the matrix definite where the points are affinely independent; the second holds where they hardly are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

POLISH = 4  # steps to the same minimum, each of which takes away what rounding left


@compiled
def _product(x: NDArray[np.float64], y: NDArray[np.float64], size: int) -> float:
    """Return the product of the first entries; four sums side by side, as each addition waits for the one before."""
    a = b = c = d = 0.0
    whole = size - size % 4
    for k in range(0, whole, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(whole, size):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@compiled
def append(
    square: NDArray[np.float64],
    shift: float,
    ridge: float,
    lower: NDArray[np.float64],
    active: NDArray[np.int64],
    m: int,
    new: int,
) -> None:
    """Add the weight ``new`` to m active ones."""
    rest = square[new, new] + shift * (1.0 + ridge)
    for i in range(m):
        x = square[new, active[i]] + shift - _product(lower[i], lower[m], i)
        lower[m, i] = x / lower[i, i]
        rest -= lower[m, i] ** 2
    lower[m, m] = np.sqrt(max(rest, ridge * shift))
    active[m] = new


@compiled
def _drop(lower: NDArray[np.float64], active: NDArray[np.int64], m: int, place: int) -> None:
    """Take the active weight at ``place`` out of m: rotations of neighbouring columns make the factor triangular."""
    for i in range(place, m - 1):
        active[i] = active[i + 1]
        for k in range(i + 2):
            lower[i, k] = lower[i + 1, k]
    for k in range(place, m - 1):
        radius = np.sqrt(lower[k, k] ** 2 + lower[k, k + 1] ** 2)
        cosine, sine = lower[k, k] / radius, lower[k, k + 1] / radius
        for i in range(k, m - 1):
            x, y = lower[i, k], lower[i, k + 1]
            lower[i, k] = cosine * x + sine * y
            lower[i, k + 1] = cosine * y - sine * x


@compiled
def _solve(lower: NDArray[np.float64], m: int, x: NDArray[np.float64]) -> None:
    """Overwrite a right side (m,) with its solution."""
    for i in range(m):
        x[i] = (x[i] - _product(lower[i], x, i)) / lower[i, i]
    for i in range(m - 1, -1, -1):
        value = x[i] / lower[i, i]
        x[i] = value
        for k in range(i):
            x[k] -= lower[i, k] * value


@compiled
def _direction(
    slope: NDArray[np.float64], lower: NDArray[np.float64], active: NDArray[np.int64], m: int, step: NDArray[np.float64]
) -> None:
    """Write the step (m,) of the active weights to the minimum over their affine hull."""
    one = np.ones(m)
    level = above = below = 0.0
    for i in range(m):
        level += slope[active[i]] / m
    for i in range(m):
        step[i] = slope[active[i]] - level
    _solve(lower, m, step)
    _solve(lower, m, one)
    for i in range(m):
        above += step[i]
        below += one[i]
    share = above / below
    for i in range(m):
        step[i] = share * one[i] - step[i]


@compiled
def _reach(
    weight: NDArray[np.float64], active: NDArray[np.int64], m: int, step: NDArray[np.float64]
) -> tuple[float, int]:
    """Return what part of a step keeps the weights positive, and the place that allows no more, or -1 for all of it."""
    length, blocking = 1.0, -1
    for i in range(m):
        if step[i] < 0 and weight[active[i]] + length * step[i] < 0:
            length, blocking = -weight[active[i]] / step[i], i
    return length, blocking


@compiled
def _spread(slope: NDArray[np.float64], active: NDArray[np.int64], m: int) -> tuple[float, float]:
    """Return the lowest slope of an active weight and how far the highest lies above it."""
    lowest = highest = slope[active[0]]
    for i in range(m):
        lowest, highest = min(lowest, slope[active[i]]), max(highest, slope[active[i]])
    return lowest, highest - lowest


@compiled
def minimise_weights(
    square: NDArray[np.float64],
    slope: NDArray[np.float64],
    weight: NDArray[np.float64],
    shift: float,
    ridge: float,
    lower: NDArray[np.float64],
    active: NDArray[np.int64],
    m: int,
    tolerance: float,
    pivots: int,
) -> int:
    """Minimise slope . (w - weight) + (w - weight)' square (w - weight) / 2 over w >= 0 of the same sum.

    Parameters
    ----------
    square
        float64 (c, c), c >= p, symmetric and positive semidefinite up to rounding.
    slope, weight
        float64 (p,), at the start; overwritten with those at the minimum.
    lower, active, m
        float64 (c, c) and int64 (c,), the factor and the places of the m weights that are positive; overwritten.
    tolerance
        slopes this close are equal.
    pivots
        the greatest number of weights that join.

    Returns
    -------
    The number of active weights.
    """
    p = len(weight)
    step = np.empty(p)
    held = np.zeros(p, dtype=np.bool_)
    for i in range(m):
        held[active[i]] = True
    joined = -1
    tries = 0
    while True:
        _direction(slope, lower, active, m, step)
        length, blocking = _reach(weight, active, m, step)
        for i in range(m):
            place, d = active[i], length * step[i]
            weight[place] = max(weight[place] + d, 0.0)
            for k in range(p):
                slope[k] += d * square[place, k]
        if blocking >= 0:
            gone = active[blocking]
            weight[gone] = 0.0
            held[gone] = False
            _drop(lower, active, m, blocking)
            m -= 1
            if gone == joined and length == 0.0:
                return m
            continue
        lowest, spread = _spread(slope, active, m)
        tries += 1
        if spread > tolerance and tries < POLISH:
            continue
        tries = 0
        best = 0
        for k in range(p):
            if slope[k] < slope[best]:
                best = k
        if held[best] or slope[best] >= lowest - tolerance or pivots == 0:
            return m
        append(square, shift, ridge, lower, active, m, best)
        held[best] = True
        joined = best
        pivots -= 1
        m += 1
