"""Compiled loops over the scenarios of a row: exposures of a ranking, and moves of documents that raise its gain.

Arrays are (n, M), documents by scenarios, M a multiple of `LANES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.lanes_loops import load, put, same, total
from rerankers.exposure.closed_form.sweep import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 1e-13  # of the size of gains: what a move must be worth
UNREACHED = 1e-9  # mean chance to reach a rank below which it and those behind it are taken to be worth nothing


@compiled
def walk(
    order: NDArray[np.int64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    exposure: NDArray[np.float64],
) -> None:
    """Write the exposures of the documents of a ranking in all scenarios."""
    n, count = continuation.shape
    reach = np.ones(count)
    for rank in range(n):
        d = order[rank]
        for m in range(count):
            exposure[d, m] = position[rank] * reach[m]
            reach[m] *= continuation[d, m]


@compiled
def gain_of(
    order: NDArray[np.int64],
    gain: NDArray[np.float64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
) -> float:
    """Return the sum of gain times exposure of a ranking over documents and scenarios."""
    n, count = continuation.shape
    behind, found = np.empty((1, count)), same(0.0)
    behind[0, :] = 0.0
    for rank in range(n - 1, -1, -1):
        d, weight = order[rank], same(position[rank])
        for m in range(0, count, LANES):
            put(behind, 0, m, weight * load(gain, d, m) + load(continuation, d, m) * load(behind, 0, m))
    for m in range(0, count, LANES):
        found += load(behind, 0, m)
    worth: float = total(found)
    return worth


@compiled
def improve(
    order: NDArray[np.int64],
    gain: NDArray[np.float64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    sweeps: int,
) -> None:
    """Move single documents to their best ranks until no move raises the sum of gain times exposure.

    With the others in their order, z, a document at rank q is worth

        sum of those before + reach_q (position_q gain_d + c_d behind_q),

    where behind_q is what z_q, z_{q + 1}, … are worth one rank later if they are reached. All n ranks of all n
    documents take a time of order n k M, with k ranks that are reached.

    Parameters
    ----------
    order
        int64 (n,), overwritten.
    gain, continuation
        float64 (n, M).
    position
        float64 (n,), weights of ranks.
    sweeps
        how often all documents are looked at, at most.
    """
    n, count = continuation.shape
    reach, behind = np.empty((n, count)), np.empty((1, count))
    others, before = np.empty(n, np.int64), np.zeros(n)
    size = 0.0
    for d in range(n):
        for m in range(count):
            size += abs(gain[d, m])
    for _ in range(sweeps):
        moved = False
        for d in range(n):
            place = _without(order, d, others)
            last = _ahead(others, gain, continuation, position, reach, before)
            best, worth = _best_rank(d, place, last, others, gain, continuation, position, reach, before, behind)
            if best != place and worth > LEAST * size:
                for rank in range(best):
                    order[rank] = others[rank]
                order[best] = d
                for rank in range(best, n - 1):
                    order[rank + 1] = others[rank]
                moved = True
        if not moved:
            return


@compiled
def _without(order: NDArray[np.int64], d: int, others: NDArray[np.int64]) -> int:
    """Write the other documents in their order; return the rank of d."""
    place, k = 0, 0
    for rank in range(len(order)):
        if order[rank] == d:
            place = rank
        else:
            others[k] = order[rank]
            k += 1
    return place


@compiled
def _ahead(
    others: NDArray[np.int64],
    gain: NDArray[np.float64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    reach: NDArray[np.float64],
    before: NDArray[np.float64],
) -> int:
    """Write the chances to reach each rank past the others, and what those before it are worth; return the last one."""
    n, count = reach.shape
    reach[0, :] = 1.0
    for q in range(n - 1):
        z = others[q]
        worth, reached = same(0.0), same(0.0)
        for m in range(0, count, LANES):
            here = load(reach, q, m)
            worth += here * load(gain, z, m)
            reached += here
            put(reach, q + 1, m, here * load(continuation, z, m))
        before[q + 1] = before[q] + position[q] * total(worth)
        if total(reached) < UNREACHED * count or position[q] == 0.0:
            return int(q)
    return int(n - 1)


@compiled
def _best_rank(
    d: int,
    place: int,
    last: int,
    others: NDArray[np.int64],
    gain: NDArray[np.float64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    reach: NDArray[np.float64],
    before: NDArray[np.float64],
    behind: NDArray[np.float64],
) -> tuple[int, float]:
    """Return the best rank of d, up to the last one that is reached, and by how much it is better than its place."""
    count = reach.shape[1]
    behind[0, :] = 0.0
    best, most, now = place, -np.inf, before[last]
    if place > last:
        most = now
    for q in range(last, -1, -1):
        weight = same(position[q])
        value = same(0.0)
        for m in range(0, count, LANES):
            worth = weight * load(gain, d, m) + load(continuation, d, m) * load(behind, 0, m)
            value += load(reach, q, m) * worth
        worth_here = before[q] + total(value)
        if q == place:
            now = worth_here
        if worth_here > most:
            best, most = q, worth_here
        if q > 0:
            z, weight = others[q - 1], same(position[q])
            for m in range(0, count, LANES):
                put(behind, 0, m, weight * load(gain, z, m) + load(continuation, z, m) * load(behind, 0, m))
    return best, most - now
