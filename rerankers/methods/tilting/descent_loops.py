"""The compiled descent to the tilts of the least divergence, one evaluation of the shares at a time (see `solver`).

A Levenberg-Marquardt method (Marquardt 1963) for the divergence of the shares from the target. Its curvature is the sum
over groups of the target times the outer product of the slope of the log share: where the target can be reached this
is Newton's method for the roots, and converges quadratically. Where it cannot, the best tilts are infinite, and the
divergence falls off exponentially on the way there, at a curvature equal to its slope. A part of the slope is added to
the curvature, so that such a tilt moves a few nats a round and the others go on converging.

At first the mean of the tilts of an attribute is held at 0, which leaves documents without groups where they are.
Where no tilts so held reach the target within `HELD` rounds, they are let go, and the divergence alone is made less:
the tilts that come nearest may have any mean, since documents that are in several groups, or in parts of them, move by
sums of tilts. From then on the curvature learns from its steps (BFGS), which finds the way where tilts become
infinite together, in a ratio that no one of them has by itself.

Tilts are counted in nats of the document with the largest weight in the group (``reach``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.methods.tilting.steps_loops import TINY, largest, secant, solved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

WORKING, REACHED, PROJECTED, STOPPED = range(4)  # what `advance` returns
BEST, MERIT, DAMPING, ROUND, STEEP, TILT, LOOSE, AGE, RADIUS = range(9)  # what a state holds
STATE = 9
ROOM = 7  # rows of (K,) that are kept beside two matrices: gradient, step, both tilts, and three for a secant
ROUNDS = 300
FARTHEST = 6.0  # nats a tilt may move in one round while held, and in the first that are loose
WIDEST = 100.0  # nats in any round
FLAT = 1e-9  # the slope of the divergence, in nats a nat, at which a projection has been found
TAIL = 0.2  # of its slope that is added to the curvature of a tilt: five nats a round at most where it is infinite
HOLD = 0.1  # of the squared mean of the tilts of an attribute, which is added to the divergence at first
HELD = 15  # rounds after which it no longer is: where the best tilts are infinite, their mean may have to be so too
FRESH = 25  # rounds after which secants are forgotten: the curvature along infinite tilts falls off quickly
SHORTER = 0.25  # of a step that made the divergence larger
RIDGE = 1e-13  # of the largest curvature: keeps the equations solvable where tilts change nothing


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
def _learn(state: Floats, better: bool, room: Floats, matrices: Floats) -> None:
    """Keep the curvature of the divergence at the best tilts in the first matrix; the second is that of the trial."""
    gradient, step, tilt, trial, move, change, pull = room[0], room[1], room[2], room[3], room[4], room[5], room[6]
    size = len(gradient)
    if state[LOOSE] == 0.0 or state[MERIT] == np.inf or (better and state[AGE] >= FRESH):
        if better:
            state[AGE] = 0.0
            for g in range(size):
                for h in range(size):
                    matrices[0, g, h] = matrices[1, g, h]
                matrices[0, g, g] += TAIL * abs(step[g])
        return
    along = 0.0
    for g in range(size):
        move[g], change[g] = trial[g] - tilt[g], step[g] - gradient[g]
        along += move[g] * change[g]
    if better or along > 0.0:
        secant(matrices[0], move, change, pull)
    state[AGE] += 1.0


@compiled
def _ask(state: Floats, better: bool, matrices: Floats, gradient: Floats, step: Floats) -> None:
    """Write the next step from the best tilts, damped while they are held; when loose, within a radius that grows."""
    loose, farthest, damping = state[LOOSE] > 0.0, FARTHEST, RIDGE
    if loose:
        state[DAMPING] = 0.0 if better else state[DAMPING] + 1.0
        state[RADIUS] = min(2.0 * state[RADIUS], WIDEST) if better else max(SHORTER * state[RADIUS], FARTHEST)
        farthest = state[RADIUS]
    else:
        cooler = 0.1 * state[DAMPING] if state[DAMPING] > 1e-6 else 0.0
        state[DAMPING] = cooler if better else max(8.0 * state[DAMPING], 1e-3)
        damping += state[DAMPING]
    diagonal = TINY
    for g in range(len(gradient)):
        diagonal = max(diagonal, matrices[0, g, g])
    damping *= diagonal
    while solved(matrices[0], damping, gradient, matrices[1], step) > farthest:
        damping *= 8.0
    if loose and state[DAMPING] > 1.0:  # the first time the secant alone shortens it
        for g in range(len(step)):
            step[g] *= SHORTER ** (state[DAMPING] - 1.0)


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
        float64 (ROOM, K): the gradient and a step; row 2, the best tilts so far; row 3, the tilts that are asked for,
        both times ``reach``.
    matrices
        float64 (2, K, K), room.
    value, slope, target, part, free
        as in `judge`; slope is overwritten.
    reach
        float64 (K,), more than 0: by what the tilts of ``value`` and ``slope`` are multiplied in ``room``.
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
    merit = divergence = judge(value, slope, target, part, free, step, matrices[1])
    steep = largest(step)
    if state[LOOSE] == 0.0:
        merit += _held(trial, target, part, step, matrices[1])
    better = state[ROUND] == 0.0 or merit <= state[MERIT]
    _learn(state, better, room, matrices)
    if better:
        state[BEST], state[MERIT], state[STEEP], state[TILT] = divergence, merit, steep, largest(step)
        for g in range(len(gradient)):  # loops, since assigning slices takes long to compile
            tilt[g], gradient[g], share[g] = trial[g], step[g], value[g]
    state[ROUND] += 1.0
    if state[BEST] <= tolerance:
        return REACHED
    if state[TILT] <= FLAT and state[STEEP] <= FLAT:
        return PROJECTED
    if state[ROUND] >= ROUNDS or state[DAMPING] > 1e12:
        return STOPPED
    if state[LOOSE] == 0.0 and (state[TILT] <= FLAT or state[ROUND] >= HELD):
        state[LOOSE], state[MERIT], state[DAMPING], state[RADIUS] = 1.0, np.inf, 0.0, 0.5 * FARTHEST
        for g in range(len(gradient)):
            trial[g] = tilt[g]  # once more, without what held them
        return WORKING
    _ask(state, better, matrices, gradient, step)
    for g in range(len(step)):
        trial[g] = tilt[g] + free[g] * step[g]
    return WORKING
