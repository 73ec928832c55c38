"""Exact expected exposure of documents under Plackett-Luce rankings, without a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import continuation_array, logit_array
from rerankers.exposure.closed_form.levels import Levels, by_gap
from rerankers.exposure.closed_form.route import routed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import Browsing


def exact_exposure(indptr: NDArray[np.int64], logits: ArrayLike, continuation: ArrayLike) -> NDArray[np.float64]:
    """Return the expected exposure under Plackett-Luce rankings where every rank has weight 1.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    logits
        float64 (nnz,), finite or minus infinity; documents at minus infinity come last, uniformly shuffled.
    continuation
        float64 (nnz,) in [0, 1].

    Returns
    -------
    float64 (nnz,), the expectation of the product of the continuations before a document, to about 1e-15 for any
    spread of the logits. Time is linear in the documents.

    Raises
    ------
    ValueError
        for a logit that is not a number or plus infinity, a continuation outside [0, 1], or other lengths.
    """
    return _exposure(indptr, logits, continuation_array(continuation), None)


def plackett_luce_exposure(indptr: NDArray[np.int64], logits: ArrayLike, browsing: Browsing) -> NDArray[np.float64]:
    """Return the expected exposure under Plackett-Luce rankings for any browsing model, as `exact_exposure`.

    Time stays linear in the documents where ranks have weights: of order n k if the first k of them, 120 at most, are
    all that weigh anything, and that of some thirty rows without weights for others. The error is then about n times
    1e-16 of the largest weight, and 1e-14 for weights that are a mixture of geometric sequences, such as DCG's.
    """
    return _exposure(indptr, logits, browsing.continuation, browsing.position)


def _exposure(
    indptr: NDArray[np.int64],
    logits: ArrayLike,
    continuation: NDArray[np.float64],
    position: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    scores = logit_array(logits, "logits")
    levels, ordered = ordered_levels(indptr, scores, continuation)
    exposure = np.empty(len(scores))
    alone = within(levels, scores[levels.order], ordered, position)
    exposure[levels.order] = levels.spread(levels.before(ordered)) * alone
    return exposure


def ordered_levels(
    indptr: NDArray[np.int64], logit: NDArray[np.float64], continuation: NDArray[np.float64]
) -> tuple[Levels, NDArray[np.float64]]:
    """Cut rows where no ranking crosses, and order the continuations likewise; `InputError` for other lengths."""
    if not len(logit) == len(continuation) == indptr[-1]:
        found = f"{len(logit)} and {len(continuation)} continuations"
        raise InputError.one("logits", found, f"{indptr[-1]} of both, one a document")
    levels = by_gap(indptr, logit)
    return levels, continuation[levels.order]


def within(
    levels: Levels,
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64] | None,
    chosen: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return the exposure of documents if all of the better levels were passed: float64 (nnz,).

    Parameters
    ----------
    levels
        where the rows are cut.
    logit, continuation
        float64 (nnz,), in the order of the levels.
    position
        float64 (K,), the weights of ranks, or None.
    chosen
        bool (S,), the levels that are wanted; 0 is returned for others.
    """
    exposure = np.zeros(len(logit))
    finite = np.where(np.isneginf(logit), 0.0, logit)  # minus infinity fills a level or is absent from it
    for place, solver in routed(levels, continuation, position, chosen):
        exposure[place] = solver.exposure(finite[place], continuation[place])
    return exposure
