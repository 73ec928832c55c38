"""Sorting documents by key, fast where a ranking hardly differs from the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOVES = 4  # of insertion sort, a document: beyond, merging is quicker
RUN = 16  # documents at least in a run that is merged, sorted by insertion where there is none as long


@compiled
def _ahead(a: int, b: int, key: NDArray[np.float64], priority: NDArray[np.float64], shift: float) -> bool:
    """Say whether document a goes before b: by key descending, then by shifted priority, then by place."""
    if key[a] != key[b]:
        return bool(key[a] > key[b])
    first, second = priority[a] + shift, priority[b] + shift
    first, second = first - np.floor(first), second - np.floor(second)
    return bool(first < second if first != second else a < b)


@compiled
def _insert(
    order: NDArray[np.int32],
    low: int,
    high: int,
    moves: int,
    key: NDArray[np.float64],
    priority: NDArray[np.float64],
    shift: float,
) -> bool:
    """Sort order[low:high] by insertion, or give up after some moves; return whether it is sorted."""
    for i in range(low + 1, high):
        doc = order[i]
        j = i
        while j > low and _ahead(doc, order[j - 1], key, priority, shift):
            order[j] = order[j - 1]
            j -= 1
        order[j] = doc
        moves -= i - j
        if moves < 0:
            return False
    return True


@compiled
def _runs(
    order: NDArray[np.int32],
    key: NDArray[np.float64],
    priority: NDArray[np.float64],
    shift: float,
    bounds: NDArray[np.int32],
) -> int:
    """Cut order into sorted runs, short ones made longer by insertion; return how many, their bounds in ``bounds``."""
    n, low, count = len(order), 0, 0
    bounds[0] = 0
    while low < n:
        high = low + 1
        while high < n and not _ahead(order[high], order[high - 1], key, priority, shift):
            high += 1
        if high - low < RUN:
            high = min(low + RUN, n)
            _insert(order, low, high, RUN * RUN, key, priority, shift)
        count += 1
        bounds[count] = high
        low = high
    return count


@compiled
def _merge(
    source: NDArray[np.int32],
    goal: NDArray[np.int32],
    low: int,
    middle: int,
    high: int,
    key: NDArray[np.float64],
    priority: NDArray[np.float64],
    shift: float,
) -> None:
    """Merge two neighbouring sorted runs of source into goal."""
    i, j = low, middle
    for k in range(low, high):
        if i < middle and (j >= high or not _ahead(source[j], source[i], key, priority, shift)):
            goal[k] = source[i]
            i += 1
        else:
            goal[k] = source[j]
            j += 1


@compiled
def rank(
    order: NDArray[np.int32],
    key: NDArray[np.float64],
    priority: NDArray[np.float64],
    shift: float,
    near: bool,
    spare: NDArray[np.int32],
    bounds: NDArray[np.int32],
) -> None:
    """Sort order (n,), a permutation of the documents, by key (n,) descending; ``near`` says that it is nearly so.

    The result is one total order, so it does not depend on the order that sorting starts from, only its time does.
    ``spare`` and ``bounds`` are room for n and n + 1 numbers or more.
    """
    n = len(order)
    if (near or n <= RUN) and _insert(order, 0, n, max(MOVES * n, RUN * RUN), key, priority, shift):
        return
    count = _runs(order, key, priority, shift, bounds)
    source, goal = order, spare[:n]
    while count > 1:
        merged = 0
        for run in range(0, count, 2):
            low, middle = bounds[run], bounds[run + 1]
            high = bounds[run + 2] if run + 1 < count else middle
            _merge(source, goal, low, middle, high, key, priority, shift)
            merged += 1
            bounds[merged] = high
        count = merged
        source, goal = goal, source
    for k in range(n):
        order[k] = source[k]
