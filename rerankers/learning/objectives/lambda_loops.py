"""The compiled loop over the pairs of documents of `lambda_loss`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

LOG_2 = float(np.log(2.0))


@compiled
def add_pairs(
    indptr: Integers,
    order: Integers,
    score: Floats,
    grade: Floats,
    share: Floats,
    discount: Floats,
    k: int,
    first: float,
    second: float,
    sigma: float,
    value: Floats,
    slope: Floats,
    curvature: Floats,
) -> None:
    """Add up weighted pairwise logistic losses, their slopes and the diagonals of their Hessians.

    Parameters
    ----------
    indptr, order
        int64 (B + 1,), and int64 (nnz,): the pairs of each row, the highest score first.
    score, grade, share
        float64 (nnz,): the share of a document is its gain over the highest possible DCG.
    discount
        float64 (longest row + 1,), of the ranks from 0.
    k
        pairs of documents of which neither is among so many first ranks are left out.
    first, second
        what the difference of discounts counts for, and what their fall at the distance of ranks does.
    sigma
        steepness.
    value, slope, curvature
        float64 (B,), float64 (nnz,), float64 (nnz,): added to.
    """
    for row in range(len(value)):
        low, high = indptr[row], indptr[row + 1]
        for upper in range(low, min(low + k, high)):
            above = order[upper]
            for lower in range(upper + 1, high):
                below = order[lower]
                if grade[above] == grade[below]:
                    continue
                apart = lower - upper
                weight = first * (discount[upper - low] - discount[lower - low])
                weight += second * (discount[apart - 1] - discount[apart])
                weight *= abs(share[above] - share[below])
                better, worse = (above, below) if grade[above] > grade[below] else (below, above)
                margin = sigma * (score[better] - score[worse])
                odds = np.exp(-abs(margin))
                wrong = (odds if margin >= 0.0 else 1.0) / (1.0 + odds)  # the chance of the other order
                value[row] += weight * (np.log1p(odds) + max(-margin, 0.0)) / LOG_2
                pushed = weight * wrong * sigma / LOG_2
                bent = pushed * (1.0 - wrong) * sigma
                slope[better] -= pushed
                slope[worse] += pushed
                curvature[better] += bent
                curvature[worse] += bent
