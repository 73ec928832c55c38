"""Measures of scores as predictions of relevance, pair by pair: no ranking and no policy is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from rerankers.exposure.rows import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTWISE = ("AUC", "pooled_AUC", "log_loss")
"""Mean over queries of the area under the ROC curve; that of all pairs together; mean negative log-likelihood of all
pairs, scores being log-odds of relevance. A document is relevant when its grade is above 0."""


def row_auc(indptr: NDArray[np.int64], scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the area under the ROC curve of each row (Mann & Whitney 1947): float64 (B,), ties count a half.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    scores, relevant
        float64 and bool (nnz,).

    Returns
    -------
    From 0 to 1; NaN where a row has no relevant or no other document.
    """
    area = np.full(len(indptr) - 1, np.nan)
    for length, rows in buckets(np.diff(indptr)):
        place = indptr[rows][:, None] + np.arange(length)
        marked = relevant[place]
        good = marked.sum(axis=1)
        pairs = good * (length - good)
        above = (rankdata(scores[place], axis=1) * marked).sum(axis=1) - 0.5 * good * (good + 1)
        np.divide(above, pairs, out=above, where=pairs > 0)
        area[rows] = np.where(pairs > 0, above, np.nan)
    return area


def log_loss(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return -log of the probability given to what is the case, float64 (nnz,), at log-odds ``scores`` (nnz,)."""
    return np.logaddexp(0.0, np.where(relevant, -scores, scores))
