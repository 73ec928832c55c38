"""Compiled loops of Mallows policies: the recursion for exposure, selection by displacement and its inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _grow(
    passed: NDArray[np.float64],
    size: int,
    continuation: float,
    power: NDArray[np.float64],
    bracket: NDArray[np.float64],
) -> None:
    """Insert document ``size`` of the reference: ``passed[a]`` is the chance to go on past the first a ranks."""
    share = 1.0 / bracket[size + 1]
    for a in range(min(size + 1, len(passed) - 1), 0, -1):
        without = bracket[size + 1 - a] * passed[a]
        within = power[size + 1 - a] * bracket[a] * continuation * passed[a - 1]
        passed[a] = (without + within) * share


@compiled
def row_exposure(
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    power: NDArray[np.float64],
    bracket: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Fill in the expected exposure of one row; see `rerankers.policies._insertion`.

    Parameters
    ----------
    continuation
        float64 (n,), in the order of the reference.
    position
        float64 (K,), the weights of the first ranks, K <= n; 0 beyond.
    power, bracket
        float64 (n + 1,), q^m and 1 + q + ... + q^(m-1).
    out
        float64 (n,), in the order of the reference.
    """
    n, width = len(continuation), len(position)
    every = 1 + int(np.sqrt(n))  # states kept, so that memory is n^1.5 and every state is computed twice
    kept = np.empty((n // every + 1, width))
    passed = np.zeros(width)
    passed[0] = 1.0
    for size in range(n):
        if size % every == 0:
            kept[size // every] = passed
        _grow(passed, size, continuation[size], power, bracket)
    ahead = position.copy()  # by the rank of a document among those inserted so far: what it is worth at the end
    states = np.empty((every, width))
    for start in range((n - 1) // every * every, -1, -every):
        stop = min(start + every, n)
        states[0] = kept[start // every]
        for size in range(start, stop - 1):
            states[size + 1 - start] = states[size - start]
            _grow(states[size + 1 - start], size, continuation[size], power, bracket)
        for size in range(stop - 1, start - 1, -1):
            share, total = 1.0 / bracket[size + 1], 0.0
            for a in range(min(size + 1, width)):
                total += power[size - a] * states[size - start, a] * ahead[a]
            out[size] = total * share
            for a in range(min(size, width)):
                pushed = power[size - a] * bracket[a + 1] * continuation[size]
                below = ahead[a + 1] if a + 1 < width else 0.0
                ahead[a] = (bracket[size - a] * ahead[a] + pushed * below) * share


@compiled
def select(displacement: NDArray[np.int64], reference: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Take from each ranking's remaining reference, rank by rank, the document that lies ``displacement`` down.

    Parameters
    ----------
    displacement
        int64 (S, k), at rank r from 0 to n - 1 - r.
    reference
        int32 (n,).
    out
        int32 (S, k), filled in.
    """
    left = reference.copy()
    for ranking in range(out.shape[0]):
        reach = 0
        for rank in range(out.shape[1]):
            at = rank + displacement[ranking, rank]
            reach = max(reach, at + 1)
            chosen = left[at]
            for j in range(at, rank, -1):
                left[j] = left[j - 1]
            out[ranking, rank] = chosen
        for j in range(reach):
            left[j] = reference[j]


@compiled
def insert(displacement: NDArray[np.int64], reference: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Put the documents of the reference one by one ``displacement`` above the end of the ranking so far.

    Parameters
    ----------
    displacement
        int64 (S, n), for document i from 0 to i.
    reference
        int32 (n,).
    out
        int32 (S, k), k <= n, filled in: the first ranks, which never depend on what falls below them.
    """
    k = out.shape[1]
    for ranking in range(out.shape[0]):
        for i in range(len(reference)):
            at = i - displacement[ranking, i]
            for j in range(min(i, k - 1), at, -1):
                out[ranking, j] = out[ranking, j - 1]
            if at < k:
                out[ranking, at] = reference[i]


@compiled
def displacements(place: NDArray[np.int64], item_ptr: NDArray[np.int64], longest: int, out: NDArray[np.int64]) -> None:
    """Count for each item the unplaced documents that the reference has before it, with a Fenwick (1994) tree.

    Parameters
    ----------
    place
        int64 (items,), the items' places in the reference of their row.
    item_ptr
        int64 (R + 1,), the rankings.
    longest
        above every place.
    out
        int64 (items,), filled in.
    """
    tree = np.zeros(longest + 1, np.int64)
    for ranking in range(len(item_ptr) - 1):
        low, high = item_ptr[ranking], item_ptr[ranking + 1]
        for item in range(low, high):
            count, j = 0, place[item]
            while j > 0:
                count += tree[j]
                j &= j - 1
            out[item] = place[item] - count
            j = place[item] + 1
            while j <= longest:
                tree[j] += 1
                j += j & -j
        for item in range(low, high):
            j = place[item] + 1
            while j <= longest:
                tree[j] = 0
                j += j & -j
