"""Compiled rankings by score in which single ranks are filled at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def explore(noise: NDArray[np.float64], epsilon: float, ranking: NDArray[np.int64]) -> None:
    """Write rankings of documents 0..n - 1, which are in the order of their scores.

    Parameters
    ----------
    noise
        float64 (draws, n), uniform in (0, 1): below epsilon a rank is filled at random.
    epsilon
        in [0, 1].
    ranking
        int64 (draws, n), written.
    """
    draws, n = noise.shape
    left = np.empty(n, np.int64)
    for draw in range(draws):
        for d in range(n):
            left[d] = d
        for rank in range(n):
            at = rank  # what stands in left[rank:] is left, in the order of scores
            if noise[draw, rank] < epsilon:
                at += min(int(noise[draw, rank] / epsilon * (n - rank)), n - rank - 1)
            ranking[draw, rank] = left[at]
            for d in range(at, rank, -1):
                left[d] = left[d - 1]
