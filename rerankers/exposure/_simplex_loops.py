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
    row = lower[m]
    rest = square[new, new] + shift * (1.0 + ridge)
    for i in range(m):
        x = square[new, active[i]] + shift
        for k in range(i):
            x -= lower[i, k] * row[k]
        row[i] = x / lower[i, i]
        rest -= row[i] * row[i]
    row[m] = np.sqrt(max(rest, ridge * shift))
    active[m] = new


@compiled
def _drop(lower: NDArray[np.float64], active: NDArray[np.int64], m: int, place: int) -> None:
    """Take the active weight at ``place`` out of m: rotations of neighbouring columns make the factor triangular."""
    for i in range(place, m - 1):
        active[i] = active[i + 1]
        lower[i, : i + 2] = lower[i + 1, : i + 2]
    for k in range(place, m - 1):
        radius = np.hypot(lower[k, k], lower[k, k + 1])
        cosine, sine = lower[k, k] / radius, lower[k, k + 1] / radius
        for i in range(k, m - 1):
            x, y = lower[i, k], lower[i, k + 1]
            lower[i, k] = cosine * x + sine * y
            lower[i, k + 1] = cosine * y - sine * x


@compiled
def _solve(lower: NDArray[np.float64], m: int, x: NDArray[np.float64]) -> None:
    """Overwrite a right side (m,) with its solution."""
    for i in range(m):
        value = x[i]
        for k in range(i):
            value -= lower[i, k] * x[k]
        x[i] = value / lower[i, i]
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
    level = 0.0
    for i in range(m):
        level += slope[active[i]] / m
    for i in range(m):
        step[i] = slope[active[i]] - level
    _solve(lower, m, step)
    _solve(lower, m, one)
    share = step[:m].sum() / one.sum()
    for i in range(m):
        step[i] = share * one[i] - step[i]


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
    held[active[:m]] = True
    joined = -1
    tries = 0
    while True:
        _direction(slope, lower, active, m, step)
        length, blocking = 1.0, -1
        for i in range(m):
            if step[i] < 0 and weight[active[i]] + length * step[i] < 0:
                length, blocking = -weight[active[i]] / step[i], i
        for i in range(m):
            d, row = length * step[i], square[active[i]]
            weight[active[i]] = max(weight[active[i]] + d, 0.0)
            for k in range(p):
                slope[k] += d * row[k]
        if blocking >= 0:
            gone = active[blocking]
            weight[gone] = 0.0
            held[gone] = False
            _drop(lower, active, m, blocking)
            m -= 1
            if gone == joined and length == 0.0:
                return m
            continue
        highest, lowest = -np.inf, np.inf
        for i in range(m):
            highest, lowest = max(highest, slope[active[i]]), min(lowest, slope[active[i]])
        tries += 1
        if highest - lowest > tolerance and tries < POLISH:
            continue
        tries = 0
        best = int(np.argmin(slope))
        if held[best] or slope[best] >= lowest - tolerance or pivots == 0:
            return m
        append(square, shift, ridge, lower, active, m, best)
        held[best] = True
        joined = best
        pivots -= 1
        m += 1
