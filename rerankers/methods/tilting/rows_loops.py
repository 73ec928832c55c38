"""The compiled loop over the rows of a block in which every rank weighs the same (see `solver`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.group_shares_loops import ROWS, group_sums
from rerankers.methods.tilting.descent_loops import ROOM, STATE, WORKING, advance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

WIDE = 4  # a status beside those of `advance`: logits farther apart than the integral is taken for
WIDEST = 300.0  # nats
SEPARATE = 120.0  # nats beside the spread and the log of the documents: no ranking crosses it, wherever others go


@compiled
def tilt_documents(logit: Floats, start: Ints, group: Ints, weight: Floats, tilt: Floats, tilted: Floats) -> float:
    """Write logits (n,) with the tilts of their groups added, and return how far apart they are."""
    low, high = np.inf, -np.inf
    for d in range(len(logit)):
        one = logit[d]
        for entry in range(start[d], start[d + 1]):
            one += weight[entry] * tilt[group[entry]]
        tilted[d] = one
        low, high = min(low, one), max(high, one)
    return high - low


@compiled
def _log_masses(logit: Floats, start: Ints, group: Ints, weight: Floats, mass: Floats) -> float:
    """Write the log of each group's sum of weighted e^logit (K,), and return how far the logits are apart."""
    low, high = np.inf, -np.inf
    largest, total = np.full(len(mass), -np.inf), np.zeros(len(mass))
    for d in range(len(logit)):
        low, high = min(low, logit[d]), max(high, logit[d])
        for entry in range(start[d], start[d + 1]):
            largest[group[entry]] = max(largest[group[entry]], logit[d])
    for d in range(len(logit)):
        for entry in range(start[d], start[d + 1]):
            total[group[entry]] += weight[entry] * math.exp(logit[d] - largest[group[entry]])
    for g in range(len(mass)):
        mass[g] = largest[g] + math.log(total[g])
    return high - low


@compiled
def first_tilts(
    rows: Ints,
    indptr: Ints,
    logit: Floats,
    start: Ints,
    group: Ints,
    weight: Floats,
    columns: Ints,
    target: Floats,
    part: Ints,
    free: Floats,
    tilt: Floats,
) -> None:
    """Write tilts with which the first document of a ranking is of each group as often as the target says.

    Their mean, weighted by target, is 0 for each attribute. Groups whose target is 0 are put behind all others instead,
    where no ranking brings them forward. Arguments as in `tilt_rows`.
    """
    for row in rows:
        low, high, end = indptr[row], indptr[row + 1], columns[row + 1]
        mass = np.empty(end - columns[row])
        spread = _log_masses(logit[low:high], start[low : high + 1], group, weight, mass)
        behind = -2.0 * spread - SEPARATE - math.log(1.0 + high - low)
        begin = columns[row]
        while begin < end:
            stop, mean = begin, 0.0
            while stop < end and part[stop] == part[begin]:
                if free[stop] > 0.0:
                    mean += target[stop] * (math.log(target[stop]) - mass[stop - columns[row]])
                stop += 1
            for c in range(begin, stop):
                tilt[c] = behind
                if free[c] > 0.0:
                    tilt[c] = math.log(target[c]) - mass[c - columns[row]] - mean
            begin = stop


@compiled
def tilt_rows(
    rows: Ints,
    indptr: Ints,
    logit: Floats,
    stop: Floats,
    start: Ints,
    group: Ints,
    weight: Floats,
    columns: Ints,
    target: Floats,
    part: Ints,
    free: Floats,
    reach: Floats,
    tilt: Floats,
    share: Floats,
    status: Ints,
    found: Floats,
    tolerance: float,
) -> None:
    """Find the tilts of some rows.

    Parameters
    ----------
    rows
        int64 (O,), which.
    indptr, logit, stop
        int64 (B + 1,) and float64 (nnz,): the rows, their logits, one minus the continuations.
    start, group, weight
        int64 (nnz + 1,), int64 (entries,), float64 (entries,): the groups of documents, numbered within their row.
    columns, target, part, free, reach
        int64 (B + 1,) and (C,): the groups of row i are columns[i]:columns[i + 1]; the others as in `advance`.
    tilt
        float64 (C,), read as the tilts to begin with, and overwritten.
    share
        float64 (C,), written: exposure of the groups.
    status, found
        int64 (B,) and float64 (B, STATE), written: how it ended.
    """
    for row in rows:
        docs, own = slice(indptr[row], indptr[row + 1]), slice(columns[row], columns[row + 1])
        n, size = docs.stop - docs.start, own.stop - own.start
        starts = start[docs.start : docs.stop + 1]
        kept, sums, tilted = np.empty((ROWS, n)), np.empty((2, size)), np.empty(n)
        room, matrices, asked = np.zeros((ROOM, size)), np.empty((2, size, size)), np.empty(size)
        value, slope = np.empty(size), np.empty((size, size))
        state = np.zeros(STATE)
        for c in range(size):
            room[3, c] = tilt[own.start + c] * reach[own.start + c]
        state_of = WORKING
        while state_of == WORKING:
            for c in range(size):
                asked[c] = room[3, c] / reach[own.start + c]
            if tilt_documents(logit[docs], starts, group, weight, asked, tilted) > WIDEST:
                state_of = WIDE
                break
            group_sums(tilted, stop[docs], starts, group, weight, value, slope, kept, sums)
            state_of = advance(
                state,
                room,
                matrices,
                value,
                slope,
                target[own],
                part[own],
                free[own],
                reach[own],
                share[own],
                tolerance,
            )
        for c in range(size):
            if state_of != WIDE:
                tilt[own.start + c] = room[2, c] / reach[own.start + c]
        for what in range(STATE):
            found[row, what] = state[what]
        status[row] = state_of
