"""The compiled loop behind the projection onto the permutahedron: isotonic regression by pooling, many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def pool_rows(
    order: NDArray[np.int64],
    target: NDArray[np.float64],
    relevance: NDArray[np.float64],
    factor: NDArray[np.float64],
    weight: NDArray[np.float64],
    value: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> None:
    """Project ``target + factor * relevance`` onto the permutahedron of ``weight``, one row a factor.

    Parameters
    ----------
    order
        int64 (L, n), the documents of each row by that sum, descending up to rounding, changed to be exactly so; for
        an infinite factor by relevance, then by target.
    target, relevance
        float64 (n,).
    factor
        float64 (L,); infinity for the limit, in which documents of unequal relevance are never pooled.
    weight
        float64 (n,), not increasing.
    value
        float64 (L, n), filled with the projections.
    rate
        float64 (L,), filled with how fast the product of relevance and projection grows with the factor.

    Notes
    -----
    Sums are only ever compared by the differences of target and relevance, which near each other are exact, so that
    a large factor or a common offset costs no digits.
    """
    rows, n = order.shape
    start = np.empty(n + 1, np.int64)
    total = np.empty(n)  # of the sums of a block minus the weights, the sum of its first document taken as 0
    for row in range(rows):
        limit = factor[row] == np.inf
        step = 0.0 if limit else factor[row]
        place = order[row]
        blocks = 0
        for at in range(n):
            doc = place[at]
            last = at
            while not limit and last > 0:
                other = place[last - 1]
                if (target[doc] - target[other]) + step * (relevance[doc] - relevance[other]) <= 0.0:
                    break
                place[last] = other
                last -= 1
            place[last] = doc
        for at in range(n):
            start[blocks], start[blocks + 1] = at, at + 1
            total[blocks] = -weight[at]
            blocks += 1
            while blocks > 1:
                low, middle, high = start[blocks - 2], start[blocks - 1], start[blocks]
                one, other = place[low], place[middle]
                if limit and relevance[one] != relevance[other]:
                    break
                lower = (target[one] - target[other]) + step * (relevance[one] - relevance[other])
                if lower + total[blocks - 2] / (middle - low) > total[blocks - 1] / (high - middle):
                    break
                total[blocks - 2] += total[blocks - 1] - (high - middle) * lower
                start[blocks - 1] = high
                blocks -= 1
        grown = 0.0
        for block in range(blocks):
            low, high = start[block], start[block + 1]
            first = place[low]
            # What the sum loses to rounding is kept: it would be the same for all documents of the block.
            mean = lost = relevance_mean = 0.0
            for at in range(low, high):
                doc = place[at]
                relevance_mean += relevance[doc] - relevance[first]
                term = (weight[at] - weight[low]) - (target[doc] - target[first]) - lost
                summed = mean + term
                lost = (summed - mean) - term
                mean = summed
            relevance_mean /= high - low
            mean = mean / (high - low) + weight[low]
            for at in range(low, high):
                doc = place[at]
                over = relevance[doc] - relevance[first] - relevance_mean
                value[row, doc] = mean + (target[doc] - target[first]) + step * over
                grown += over * over
        rate[row] = grown
