"""Compiled means over which documents are relevant (see `expected_target`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEGLIGIBLE = 1e-20  # chance of a number of relevant documents that is left out


@compiled
def means_over_numbers(
    chance: NDArray[np.float64],
    relevant: NDArray[np.float64],
    other: NDArray[np.float64],
    mean: NDArray[np.float64],
) -> None:
    """Write the mean of each document's value over which of n independent documents are relevant.

    Parameters
    ----------
    chance
        float64 (n,), n >= 1, the chances of being relevant.
    relevant, other
        float64 (n + 1,), the value of a relevant and of another document where so many documents are relevant.
    mean
        float64 (n,), written. Time and memory are of order n times the numbers that may occur: all n, or some twenty
        of their standard deviations.
    """
    n = len(chance)
    variance = 0.0
    for d in range(n):
        variance += chance[d] * (1.0 - chance[d])
    width = min(n + 1, int(20.0 * math.sqrt(variance)) + 80)
    before = np.zeros((n, width))  # chances of numbers of relevant documents among the first d, from low[d] on
    low, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    before[0, 0], size[0] = 1.0, 1
    for d in range(1, n):
        p, old = chance[d - 1], before[d - 1]
        count, skip = min(size[d - 1] + 1, width), 0
        for k in range(count):
            stay = old[k] * (1.0 - p) if k < size[d - 1] else 0.0
            before[d, k] = stay + (old[k - 1] * p if k > 0 else 0.0)
        while count > 1 and before[d, count - 1] < NEGLIGIBLE:
            count -= 1
        while skip < count - 1 and before[d, skip] < NEGLIGIBLE:
            skip += 1
        for k in range(count - skip):
            before[d, k] = before[d, k + skip]
        low[d], size[d] = low[d - 1] + skip, count - skip
    # The mean values where k of the documents before are relevant, over the documents behind.
    if_relevant, if_other = np.zeros(n + 2), np.zeros(n + 2)
    if_relevant[:n], if_other[: n + 1] = relevant[1:], other
    for d in range(n - 1, -1, -1):
        p, total = chance[d], 0.0
        for k in range(size[d]):
            at = low[d] + k
            total += before[d, k] * (p * if_relevant[at] + (1.0 - p) * if_other[at])
        mean[d] = total
        # One number less than there may be is possible without one of the documents before.
        for at in range(max(low[d] - 1, 0), low[d] + size[d]):
            if_relevant[at] = (1.0 - p) * if_relevant[at] + p * if_relevant[at + 1]
            if_other[at] = (1.0 - p) * if_other[at] + p * if_other[at + 1]
