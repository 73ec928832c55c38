"""Compiled loops that walk down rankings: one after the other, of any lengths, nothing padded.

Every loop works on the rows ``low`` to ``high`` and returns -1, or the first ranking with a document that its row
does not have or with more documents than there are ranks, where it stops. Numbers below the smallest normal one count
as 0: arithmetic with them is a hundred times slower, and since neither weights of ranks nor chances rise, all that
follows in the ranking is 0 as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 2.0**-1022  # the smallest normal number
ROOT = 2.0**-511  # its square root


@compiled
def _square(x: float) -> float:
    kept = x if x >= ROOT else 0.0
    return kept * kept


@compiled
def _fits(items: NDArray[np.int32], size: int, ranks: int) -> bool:
    """Say whether all items are from 0 to size - 1, and no more than there are ranks.

    Negative items are large when read without a sign.
    """
    largest = np.uint32(0)
    for k in range(len(items)):
        largest = max(largest, np.uint32(items[k]))
    return len(items) == 0 or (len(items) <= ranks and int(largest) < size)


@compiled
def _look(
    items: NDArray[np.int32],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    exposure: NDArray[np.float64],
) -> int:
    """Write the exposure of the items of one ranking; return how many are seen, what follows is not written."""
    chance = 1.0
    for k in range(len(items)):
        x = position[k] * chance
        if x < LEAST:
            return k
        exposure[k] = x
        chance *= continuation[items[k]]
    return len(items)


@compiled
def item_walk(
    low: int,
    high: int,
    query_ptr: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    indptr: NDArray[np.int64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    exposure: NDArray[np.float64],
) -> int:
    """Write the exposure of every item (items,)."""
    for row in range(low, high):
        go_on = continuation[indptr[row] : indptr[row + 1]]
        for ranking in range(query_ptr[row], query_ptr[row + 1]):
            start, stop = item_ptr[ranking], item_ptr[ranking + 1]
            if not _fits(item[start:stop], len(go_on), len(position)):
                return ranking
            depth = _look(item[start:stop], go_on, position, exposure[start:stop])
            exposure[start + depth : stop] = 0.0
    return -1


@compiled
def mean_walk(
    low: int,
    high: int,
    query_ptr: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    indptr: NDArray[np.int64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    weight: NDArray[np.float64],
    value: NDArray[np.float64],
    square: NDArray[np.float64],
) -> int:
    """Add the weighted exposure of rankings to ``value`` (nnz,) and their squared norms to ``square`` (B,)."""
    for row in range(low, high):
        go_on = continuation[indptr[row] : indptr[row + 1]]
        mean = value[indptr[row] : indptr[row + 1]]
        for ranking in range(query_ptr[row], query_ptr[row + 1]):
            items = item[item_ptr[ranking] : item_ptr[ranking + 1]]
            if not _fits(items, len(go_on), len(position)):
                return ranking
            share, norm, chance = weight[ranking], 0.0, 1.0
            # `_look` in place: a third faster than writing the exposures down and reading them again.
            for k in range(len(items)):
                x = position[k] * chance
                if x < LEAST:
                    break
                norm += _square(x)
                mean[items[k]] += share * x
                chance *= go_on[items[k]]
            square[row] += share * norm
    return -1


@compiled
def along_walk(
    low: int,
    high: int,
    query_ptr: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    indptr: NDArray[np.int64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    mean: NDArray[np.float64],
    target: NDArray[np.float64],
    along_mean: NDArray[np.float64],
    along_target: NDArray[np.float64],
    square: NDArray[np.float64],
) -> int:
    """Write each ranking's product with ``mean`` and ``target`` (nnz,) and its squared norm, all (R,)."""
    exposure = np.empty(len(position))
    for row in range(low, high):
        part = slice(indptr[row], indptr[row + 1])
        go_on, m, t = continuation[part], mean[part], target[part]
        for ranking in range(query_ptr[row], query_ptr[row + 1]):
            items = item[item_ptr[ranking] : item_ptr[ranking + 1]]
            if not _fits(items, len(go_on), len(position)):
                return ranking
            on_mean = on_target = norm = 0.0
            for k in range(_look(items, go_on, position, exposure)):
                x = exposure[k]
                on_mean += x * m[items[k]]
                on_target += x * t[items[k]]
                norm += _square(x)
            along_mean[ranking], along_target[ranking], square[ranking] = on_mean, on_target, norm
    return -1


@compiled
def _taken_up(
    total: NDArray[np.float64],
    documents: NDArray[np.int32],
    entry_ptr: NDArray[np.int64],
    group: NDArray[np.int32],
) -> float:
    """Return the squared norm of the totals that the documents of a ranking have filled, and set them back to 0."""
    norm = 0.0
    if len(total) <= len(documents):
        for g in range(len(total)):
            norm += _square(total[g])
        total[:] = 0.0
        return norm
    # There may be as many groups as authors: only those that were met are visited.
    for document in documents:
        for entry in range(entry_ptr[document], entry_ptr[document + 1]):
            norm += _square(total[group[entry]])
            total[group[entry]] = 0.0
    return norm


@compiled
def group_walk(
    low: int,
    high: int,
    query_ptr: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    indptr: NDArray[np.int64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    entry_ptr: NDArray[np.int64],
    group: NDArray[np.int32],
    part: NDArray[np.float64],
    groups: NDArray[np.int64],
    mean: NDArray[np.float64],
    target: NDArray[np.float64],
    along_mean: NDArray[np.float64],
    along_target: NDArray[np.float64],
    square: NDArray[np.float64],
) -> int:
    """Do as `along_walk` for the groups of A attributes at once: arrays (A, nnz) and (A, R).

    The entries of a document in attribute a are entry_ptr[a, document]:entry_ptr[a, document + 1] of ``group``, which
    is below ``groups[a]``, and ``part``.
    """
    exposure, room = np.empty(len(position)), np.zeros(groups.max())
    for row in range(low, high):
        first, end = indptr[row], indptr[row + 1]
        go_on = continuation[first:end]
        for ranking in range(query_ptr[row], query_ptr[row + 1]):
            items = item[item_ptr[ranking] : item_ptr[ranking + 1]]
            if not _fits(items, len(go_on), len(position)):
                return ranking
            depth = _look(items, go_on, position, exposure)
            for a in range(len(groups)):
                entries, m, t = entry_ptr[a, first : end + 1], mean[a, first:end], target[a, first:end]
                total = room[: groups[a]]
                on_mean = on_target = 0.0
                for k in range(depth):
                    x, document = exposure[k], items[k]
                    on_mean += x * m[document]
                    on_target += x * t[document]
                    for entry in range(entries[document], entries[document + 1]):
                        total[group[entry]] += x * part[entry]
                along_mean[a, ranking], along_target[a, ranking] = on_mean, on_target
                square[a, ranking] = _taken_up(total, items[:depth], entries, group)
    return -1
