"""Compiled steps of a descent: the equations of a step, and what a step tells about the curvature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST = 0.1  # of the curvature that was expected along a move, which a secant leaves of it
TINY = 1e-300


@compiled
def largest(vector: Floats) -> float:
    """Return the largest absolute value."""
    found = 0.0
    for one in vector:
        found = max(found, abs(one))
    return found


@compiled
def solved(curvature: Floats, damping: float, gradient: Floats, factor: Floats, step: Floats) -> float:
    """Solve (curvature + damping) step = -gradient by Cholesky; return how far it moves the farthest tilt."""
    size = len(gradient)
    for i in range(size):
        for j in range(i + 1):
            rest = curvature[i, j] + (damping if i == j else 0.0)
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = math.sqrt(max(rest, 0.01 * damping)) if i == j else rest / factor[j, j]
    for i in range(size):
        rest = -gradient[i]
        for k in range(i):
            rest -= factor[i, k] * step[k]
        step[i] = rest / factor[i, i]
    farthest = 0.0
    for i in range(size - 1, -1, -1):
        rest = step[i]
        for k in range(i + 1, size):
            rest -= factor[k, i] * step[k]
        step[i] = rest / factor[i, i]
        farthest = max(farthest, abs(step[i]))
    return farthest


@compiled
def secant(curvature: Floats, move: Floats, change: Floats, pull: Floats) -> None:
    """Update a curvature by how a move has changed the gradient: BFGS, damped as in Powell (1978).

    ``change`` (K,) is overwritten, ``pull`` (K,) is room.
    """
    size = len(move)
    seen, expected = 0.0, 0.0
    for g in range(size):
        pull[g] = 0.0
        for h in range(size):
            pull[g] += curvature[g, h] * move[h]
        seen += change[g] * move[g]
        expected += pull[g] * move[g]
    if expected <= TINY:
        return
    if seen < LEAST * expected:  # so little that the curvature might no longer be positive
        mix = (1.0 - LEAST) * expected / (expected - seen)
        for g in range(size):
            change[g] = mix * change[g] + (1.0 - mix) * pull[g]
        seen = LEAST * expected
    for g in range(size):
        for h in range(size):
            curvature[g, h] += change[g] * change[h] / seen - pull[g] * pull[h] / expected
