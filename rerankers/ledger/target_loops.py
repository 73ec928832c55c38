"""The compiled loop behind the mean target: a Poisson-binomial distribution, and each document taken out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _counts(belief: NDArray[np.float64], chance: NDArray[np.float64]) -> None:
    """Fill chance (n + 1,) with the probabilities of 0..n relevant documents, by convolution."""
    chance[0] = 1.0
    for d in range(len(belief)):
        p = belief[d]
        chance[d + 1] = p * chance[d]
        for s in range(d, 0, -1):
            chance[s] = (1.0 - p) * chance[s] + p * chance[s - 1]
        chance[0] *= 1.0 - p


@compiled
def _without(chance: NDArray[np.float64], p: float, n: int, others: NDArray[np.float64]) -> None:
    """Fill others (n,) with the probabilities of 0..n-1 relevant documents among the others.

    Dividing by the larger of p and 1 - p, from the end where that is stable, loses no digits.
    """
    if p < 0.5:
        before = 0.0
        for s in range(n):
            before = (chance[s] - p * before) / (1.0 - p)
            others[s] = before
    else:
        after = 0.0
        for s in range(n - 1, -1, -1):
            after = (chance[s + 1] - (1.0 - p) * after) / p
            others[s] = after


@compiled
def mean_targets(
    indptr: NDArray[np.int64],
    belief: NDArray[np.float64],
    position: NDArray[np.float64],
    relevant: float,
    irrelevant: float,
    target: NDArray[np.float64],
) -> None:
    """Fill target (nnz,) with each row's mean target.

    Parameters
    ----------
    position
        float64 (longest row,), weights of ranks.
    relevant, irrelevant
        continuation past a document of either kind.
    """
    longest = len(position)
    chance, others = np.empty(longest + 1), np.empty(longest + 1)
    top, below = np.empty(longest + 1), np.empty(longest + 1)
    for row in range(len(indptr) - 1):
        low, n = indptr[row], indptr[row + 1] - indptr[row]
        _counts(belief[low : low + n], chance)
        # top[s]: what a relevant document has with s relevant ones in all; below[s]: what an irrelevant one has
        total = 0.0
        passed = 1.0
        for s in range(n):
            total += position[s] * passed
            passed *= relevant
            top[s + 1] = total / (s + 1)
        tail = 0.0
        for s in range(n - 1, -1, -1):
            tail = position[s] + irrelevant * tail
            below[s] = tail / (n - s)
        passed = 1.0
        for s in range(n):
            below[s] *= passed
            passed *= relevant
        for d in range(low, low + n):
            p = belief[d]
            _without(chance, p, n, others)
            mean = 0.0
            for s in range(n):
                mean += others[s] * (p * top[s + 1] + (1.0 - p) * below[s])
            target[d] = mean
