"""The compiled loops of `Transpositions`: drawing, drawing evenly, probabilities of rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def draw_swaps(
    noise: NDArray[np.float64],
    order: NDArray[np.int32],
    swaps: NDArray[np.int32],
    chance: NDArray[np.float64],
    ranked: NDArray[np.int32],
) -> None:
    """Fill ``ranked``, int32 (draws, k), with the first documents of rankings; ``noise`` is (draws, at least m)."""
    draws, k = ranked.shape
    n = len(order)
    rank = np.empty(n, np.int32)
    for draw in range(draws):
        for place in range(n):
            rank[place] = place
        for swap in range(len(swaps)):
            if noise[draw, swap] < chance[swap]:
                one, other = swaps[swap, 0], swaps[swap, 1]
                held = rank[one]
                rank[one] = rank[other]
                rank[other] = held
        for place in range(n):
            if rank[place] < k:
                ranked[draw, rank[place]] = order[place]


@compiled
def draw_evenly(
    start: NDArray[np.float64],
    order: NDArray[np.int32],
    swaps: NDArray[np.int32],
    chance: NDArray[np.float64],
    ranked: NDArray[np.int32],
) -> None:
    """Fill ``ranked``, int32 (draws, k), with rankings whose mean is nearer to the expectation; see `schedule`.

    ``start`` is float64 (m,), uniform numbers, one a swap.
    """
    draws, k = ranked.shape
    n = len(order)
    rank = np.empty((n, draws), np.int32)
    for place in range(n):
        for draw in range(draws):
            rank[place, draw] = place
    key = np.empty(draws, np.int64)
    for swap in range(len(swaps)):
        one, other = swaps[swap, 0], swaps[swap, 1]
        for draw in range(draws):
            key[draw] = np.int64(rank[one, draw]) * n + rank[other, draw]
        sums = start[swap]
        for draw in np.argsort(key, kind="mergesort"):
            sums += chance[swap]
            if sums >= 1.0:
                sums -= 1.0
                held = rank[one, draw]
                rank[one, draw] = rank[other, draw]
                rank[other, draw] = held
    for place in range(n):
        for draw in range(draws):
            if rank[place, draw] < k:
                ranked[draw, rank[place, draw]] = order[place]


@compiled
def swap_log_probs(
    item: NDArray[np.int32],
    item_ptr: NDArray[np.int64],
    place: NDArray[np.int64],
    swaps: NDArray[np.int32],
    first_settles: NDArray[np.bool_],
    chance: NDArray[np.float64],
    log_prob: NDArray[np.float64],
) -> None:
    """Fill ``log_prob``, float64 (R,), with the log probabilities that rankings of one row begin as given.

    Parameters
    ----------
    item, item_ptr
        int32 (items,) and int64 (R + 1,), the rankings.
    place
        int64 (n,), the place of each document.
    swaps, first_settles, chance
        int32 (m, 2); bool (m,), whether the swap is the last one of its first place, else it is of its second;
        float64 (m,).

    Notes
    -----
    A swap is the last one of some place, whose document must have its wanted rank after it: that tells whether the
    swap happened. The ranks that are not given are one and the same here; where both places hold such a rank and
    may, it makes no difference what happened.
    """
    n = len(place)
    rank, wanted = np.empty(n, np.int64), np.empty(n, np.int64)
    for ranking in range(len(log_prob)):
        start = item_ptr[ranking]
        k = item_ptr[ranking + 1] - start
        for at in range(n):
            rank[at] = min(at, k)
            wanted[at] = k
        for at in range(k):
            wanted[place[item[start + at]]] = at
        total = 0.0
        for swap in range(len(swaps)):
            one, other = swaps[swap, 0], swaps[swap, 1]
            if rank[one] == rank[other]:
                continue
            settling = one if first_settles[swap] else other
            if rank[settling] == wanted[settling]:
                total += np.log1p(-chance[swap])
            else:
                total += np.log(chance[swap])
                held = rank[one]
                rank[one] = rank[other]
                rank[other] = held
            if rank[settling] != wanted[settling]:
                total = -np.inf
                break
        for at in range(n):
            if rank[at] != wanted[at]:
                total = -np.inf
        log_prob[ranking] = total
