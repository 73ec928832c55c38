"""One query at a time, arrays in and arrays out: the functions of `rerankers.exposure`.

Numbers that vanish (underflow) are below any rounding here, whatever the caller has told numpy to do about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure._binding import bound_to_row
from rerankers.exposure.browsing import BrowsingModel, Cascade
from rerankers.exposure.checks import logit_array, row_grades, whole_array, whole_number
from rerankers.exposure.closed_form.levels import by_gap
from rerankers.exposure.closed_form.marginals import rank_marginals
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.rankings import seen
from rerankers.exposure.targets import equal_exposure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@np.errstate(under="ignore")
def equal_exposure_target(grades: ArrayLike, browsing: BrowsingModel) -> NDArray[np.float64]:
    """Return the target of equal expected exposure: documents of one grade share the exposure of their ranks.

    Parameters
    ----------
    grades
        (n,), negative ones count as 0.
    browsing
        the browsing model.

    Returns
    -------
    float64 (n,).

    Raises
    ------
    ValueError
        for grades that are not one finite number a document.
    """
    values = row_grades(grades)
    return equal_exposure(_one_row(len(values)), values, bound_to_row(browsing, len(values), values))


@np.errstate(under="ignore")
def ranking_exposure(order: ArrayLike, browsing: BrowsingModel, grades: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the exposure of documents in one ranking.

    Parameters
    ----------
    order
        int (k,), 0-based documents, best first; may be shorter than n.
    browsing
        the browsing model.
    grades
        (n,), negative ones count as 0; without them n is the length of ``order`` (of the continuation for `Cascade`).

    Returns
    -------
    float64 (n,), 0 for documents that are not ranked.

    Raises
    ------
    ValueError
        for a document twice or outside 0 … n - 1, and where the model needs grades and there are none.
    """
    ranked = whole_array("order", order)
    if ranked.ndim != 1:
        raise InputError.one("order", f"an array of shape {ranked.shape}", "whole numbers, one a rank")
    if grades is not None:
        size = len(row_grades(grades))
    else:
        size = len(browsing.continuation) if isinstance(browsing, Cascade) else len(ranked)
    outside = ranked[(ranked < 0) | (ranked >= size)]
    if len(outside):
        raise InputError.one("order", f"document {outside[0]}", f"documents from 0 to {size - 1}")
    times = np.bincount(ranked, minlength=size)
    if np.any(times > 1):
        raise InputError.one("order", f"document {int(np.argmax(times > 1))} more than once", "each document once")
    exposure = np.zeros(size)
    exposure[ranked] = seen(ranked[None], bound_to_row(browsing, size, grades))[0]
    return exposure


@np.errstate(under="ignore")
def pl_exposure(scores: ArrayLike, browsing: BrowsingModel, grades: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the exact expected exposure of documents under Plackett-Luce rankings.

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity for documents that come after all others.
    browsing
        the browsing model.
    grades
        (n,), negative ones count as 0.

    Returns
    -------
    float64 (n,).

    Raises
    ------
    ValueError
        for scores that are not numbers, and where the model needs grades and there are none.
    """
    logit = logit_array(scores)
    return plackett_luce_exposure(_one_row(len(logit)), logit, bound_to_row(browsing, len(logit), grades))


@np.errstate(under="ignore")
def pl_rank_marginals(scores: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return the exact probabilities of ranks under Plackett-Luce rankings.

    Parameters
    ----------
    scores
        (n,), logits as in `pl_exposure`.
    k
        how many ranks, from the first; at least 1.

    Returns
    -------
    float64 (n, k), document by 0-based rank; 0 at ranks from n on.

    Raises
    ------
    ValueError
        for scores that are not numbers, and a k that is no whole number of at least 1.
    """
    k = whole_number("k", k, 1)
    logit = logit_array(scores)
    levels = by_gap(_one_row(len(logit)), logit)
    probability = np.zeros((len(logit), k))
    for low, high in zip(levels.indptr[:-1], levels.indptr[1:], strict=True):
        docs, ranks = levels.order[low:high], np.arange(low, min(high, k))
        if len(ranks):
            inside = np.where(np.isneginf(logit[docs]), 0.0, logit[docs])
            probability[np.ix_(docs, ranks)] = rank_marginals(inside, len(ranks))
    return probability


def _one_row(size: int) -> NDArray[np.int64]:
    return np.array([0, size], dtype=np.int64)
