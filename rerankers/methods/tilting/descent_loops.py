"""The compiled descent to the tilts of the least divergence, one evaluation of the shares at a time (see `solver`).

A Levenberg-Marquardt method (Marquardt 1963) for the divergence of the shares from the target. Its curvature is the sum
over groups of the target times the outer product of the slope of the log share: where the target can be reached this
is Newton's method for the roots, and converges quadratically. Where it cannot, the best tilts are infinite, and the
divergence falls off exponentially on the way there, at a curvature equal to its slope. A part of the slope is added to
the curvature, so that such a tilt moves a few nats a round and the others go on converging.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

WORKING, REACHED, PROJECTED, STOPPED = range(4)  # what `advance` returns
BEST, MERIT, DAMPING, ROUND, STEEP, TILT, LOOSE = range(7)  # what a state holds
STATE = 7
ROOM = 4  # rows of (K,) that are kept beside two matrices: gradient, step, and both tilts
ROUNDS = 200
FARTHEST = 6.0  # nats a tilt may move in one round
FLAT = 1e-9  # the slope of the divergence, in nats a nat, at which a projection has been found
TAIL = 0.2  # of its slope that is added to the curvature of a tilt: five nats a round at most where it is infinite
HOLD = 0.1  # of the squared mean of the tilts of an attribute, which is added to the divergence at first
HELD = 30  # rounds after which it no longer is: where the best tilts are infinite, their mean may have to be so too
RIDGE = 1e-13  # of the largest curvature: keeps the equations solvable where tilts change nothing
TINY = 1e-300


@compiled
def judge(
    value: Floats,
    slope: Floats,
    target: Floats,
    part: Ints,
    free: Floats,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """Return the summed divergence of the shares from the target, and write its gradient and curvature by the tilts.

    Parameters
    ----------
    value, slope
        float64 (K,) and (K, K): exposure of the groups and its derivatives by the tilts; slope is overwritten by the
        derivatives of the log shares.
    target, part, free
        float64 (K,), int64 (K,) ascending and float64 (K,): the target shares, the attribute that a group belongs to,
        and 1 where the tilt of a group may move, else 0.
    gradient, curvature
        float64 (K,) and (K, K), written.
    """
    size = len(value)
    divergence = 0.0
    for g in range(size):
        gradient[g] = 0.0
        for h in range(size):
            curvature[g, h] = 0.0
    first = 0
    while first < size:
        end, total = first, 0.0
        while end < size and part[end] == part[first]:
            total += value[end]
            end += 1
        total = max(total, TINY)
        for h in range(size):
            together = 0.0
            for g in range(first, end):
                together += slope[g, h]
            for g in range(first, end):
                slope[g, h] = (slope[g, h] / max(value[g], TINY) - together / total) * free[h]
        for g in range(first, end):
            share = value[g] / total
            if target[g] > 0.0:
                off = max((share - target[g]) / target[g], TINY - 1.0)
                divergence += target[g] * (off - math.log1p(off))  # sums of these terms do not cancel
            else:
                divergence += share
            for h in range(size):
                gradient[h] -= target[g] * slope[g, h]
                for k in range(size):
                    curvature[h, k] += target[g] * slope[g, h] * slope[g, k]
        first = end
    return divergence


@compiled
def _held(tilt: Floats, target: Floats, part: Ints, gradient: Floats, curvature: Floats) -> float:
    """Return what keeps the tilts of each attribute at the mean 0, weighted by target; add its gradient and curvature.

    A common shift of all tilts changes nothing where all documents have groups, and otherwise moves those that have
    none: of all tilts that reach a target, these leave them where they are.
    """
    penalty = 0.0
    for g in range(len(target)):
        mean = 0.0
        for h in range(len(target)):
            if part[h] == part[g]:
                mean += target[h] * tilt[h]
                curvature[g, h] += HOLD * target[g] * target[h]
        gradient[g] += HOLD * target[g] * mean
        penalty += 0.5 * HOLD * mean * mean * target[g]  # the targets of an attribute sum to 1
    return penalty


@compiled
def _largest(vector: Floats) -> float:
    largest = 0.0
    for one in vector:
        largest = max(largest, abs(one))
    return largest


@compiled
def _solved(curvature: Floats, damping: float, gradient: Floats, factor: Floats, step: Floats) -> float:
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
def advance(
    state: Floats,
    room: Floats,
    matrices: Floats,
    value: Floats,
    slope: Floats,
    target: Floats,
    part: Ints,
    free: Floats,
    reach: Floats,
    share: Floats,
    tolerance: float,
) -> int:
    """Take in the exposure of the groups at the tilts that were asked for, and ask for others.

    Parameters
    ----------
    state
        float64 (STATE,), zeros before the first round.
    room
        float64 (ROOM, K): the gradient and a step; row 2, the best tilts so far; row 3, the tilts that are asked for.
    matrices
        float64 (2, K, K), room.
    value, slope, target, part, free
        as in `judge`; slope is overwritten.
    share
        float64 (K,), written: the exposure of the groups at the best tilts.
    tolerance
        the divergence that counts as none, in nats.

    Returns
    -------
    `WORKING` while the exposure at the new tilts is wanted; `REACHED`, `PROJECTED` (no tilt makes the divergence less,
    as far as its slope tells) or `STOPPED` (neither, after `ROUNDS`).
    """
    gradient, step, tilt, trial = room[0], room[1], room[2], room[3]
    for g in range(len(value)):
        for h in range(len(value)):
            slope[g, h] /= reach[h]
    divergence = judge(value, slope, target, part, free, step, matrices[1])
    steep = _largest(step)
    merit = divergence
    if state[LOOSE] == 0.0:
        merit += _held(trial, target, part, step, matrices[1])
    if state[ROUND] == 0.0 or merit <= state[MERIT]:
        state[BEST], state[MERIT], state[STEEP], state[TILT] = divergence, merit, steep, _largest(step)
        state[DAMPING] = 0.1 * state[DAMPING] if state[DAMPING] > 1e-6 else 0.0
        for g in range(len(gradient)):  # loops, since assigning slices takes long to compile
            tilt[g], gradient[g], share[g] = trial[g], step[g], value[g]
            for h in range(len(gradient)):
                matrices[0, g, h] = matrices[1, g, h]
            matrices[0, g, g] += TAIL * abs(gradient[g])
    else:
        state[DAMPING] = max(8.0 * state[DAMPING], 1e-3)
    state[ROUND] += 1.0
    if state[BEST] <= tolerance:
        return REACHED
    if state[TILT] <= FLAT and state[STEEP] <= FLAT:
        return PROJECTED
    if state[LOOSE] == 0.0 and (state[TILT] <= FLAT or state[ROUND] >= HELD):
        state[LOOSE], state[MERIT] = 1.0, np.inf  # the best tilts once more, of the divergence alone
        for g in range(len(gradient)):
            trial[g] = tilt[g]
        return WORKING
    if state[ROUND] >= ROUNDS or state[DAMPING] > 1e12:
        return STOPPED
    largest = TINY
    for g in range(len(gradient)):
        largest = max(largest, matrices[0, g, g])
    damping = (state[DAMPING] + RIDGE) * largest
    while _solved(matrices[0], damping, gradient, matrices[1], step) > FARTHEST:
        damping *= 8.0
    for g in range(len(step)):
        trial[g] = tilt[g] + free[g] * step[g]
    return WORKING
