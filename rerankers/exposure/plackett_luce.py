"""Exact expected exposure of documents under Plackett-Luce rankings, without a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure._levels import Levels, by_gap
from rerankers.exposure._nodes import NEGLIGIBLE
from rerankers.exposure._quadrature import race_exposure
from rerankers.exposure.checks import continuation_array, logit_array
from rerankers.exposure.marginals import weighted_race
from rerankers.exposure.rows import buckets

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

    Where ranks have weights, a row of n documents takes time of order n^1.5, times the square root of the rank at
    which the weights end abruptly (see `marginals`), and its error is about n times 1e-16.
    """
    return _exposure(indptr, logits, browsing.continuation, browsing.position)


def _exposure(
    indptr: NDArray[np.int64],
    logits: ArrayLike,
    continuation: NDArray[np.float64],
    position: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    scores = logit_array(logits, "logits")
    if not len(scores) == len(continuation) == indptr[-1]:
        found = f"{len(scores)} and {len(continuation)} continuations"
        raise InputError.one("logits", found, f"{indptr[-1]} of both, one a document")
    levels = by_gap(indptr, scores)
    ordered = continuation[levels.order]
    exposure = np.empty(len(scores))
    alone = within(levels, scores[levels.order], ordered, position)
    exposure[levels.order] = levels.spread(levels.before(ordered)) * alone
    return exposure


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
    sizes = levels.size if chosen is None else np.where(chosen, levels.size, 0)
    for length, same in buckets(sizes):
        place = levels.indptr[same][:, None] + np.arange(length)
        if position is None:
            exposure[place] = race_exposure(finite[place], continuation[place])
            continue
        weight = position[levels.rank[same][:, None] + np.arange(length)]
        flat = _flat(weight, continuation[place])
        exposure[place[flat]] = weight[flat, :1] * race_exposure(finite[place[flat]], continuation[place[flat]])
        steep = ~flat
        exposure[place[steep]] = weighted_race(finite[place[steep]], continuation[place[steep]], weight[steep])
    return exposure


def _flat(weight: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which rows (R, n) keep their first weight at all ranks that can be reached: bool (R,)."""
    other = weight != weight[:, :1]
    rank = np.where(np.any(other, axis=1), np.argmax(other, axis=1), weight.shape[1])
    with np.errstate(divide="ignore"):
        furthest = np.log(continuation.max(axis=1)) * rank  # a bound on the log of the chance of getting there
    flat: NDArray[np.bool_] = (rank == weight.shape[1]) | (furthest < NEGLIGIBLE)
    return flat
