"""Compiled chances of how many protected documents the first ranks hold, where each next one is random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def next_protected(held: int, rank: int, share: float, protected: int, pool: int) -> float:
    """Return the chance that the document at a 0-based rank is protected, with ``held`` protected ones before it.

    The share where ``pool`` is 0: draws from a population; else draws without replacement from ``pool`` documents.
    """
    if pool == 0:
        return share
    return max(protected - held, 0) / (pool - rank)


@compiled
def failure(table: NDArray[np.int64], share: float, protected: int, pool: int, last: bool) -> float:
    """Return the chance that some prefix holds fewer protected documents than its minimum.

    Parameters
    ----------
    table
        int64 (k,), the minimum of the prefixes of 1..k documents; k at most ``pool`` where that is not 0.
    share, protected, pool
        as for `next_protected`.
    last
        heed the last minimum; the published code does not where it is above the one before.
    """
    k = len(table)
    chance = np.zeros(k + 2)  # of so many protected documents, and no prefix below its minimum so far
    chance[0] = 1.0
    failed = 0.0
    for rank in range(k):
        for held in range(rank, -1, -1):
            drawn = chance[held] * next_protected(held, rank, share, protected, pool)
            chance[held + 1] += drawn
            chance[held] = max(chance[held] - drawn, 0.0)
        if rank < k - 1 or last or k == 1 or table[k - 1] <= table[k - 2]:
            for held in range(min(table[rank], rank + 2)):
                failed += chance[held]
                chance[held] = 0.0
    return failed


@compiled
def distributions(k: int, protected: int, pool: int, cumulative: NDArray[np.float64]) -> None:
    """Write the chances of at most j protected among the first i + 1 documents of a pool: float64 (k, k + 1)."""
    chance = np.zeros(k + 2)
    chance[0] = 1.0
    for rank in range(k):
        for held in range(rank, -1, -1):
            odds = next_protected(held, rank, 0.0, protected, pool)
            chance[held + 1] += chance[held] * odds
            chance[held] *= 1.0 - odds
        total = 0.0
        for held in range(k + 1):
            total += chance[held]
            cumulative[rank, held] = total
