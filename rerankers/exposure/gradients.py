"""Exact gradients of Plackett-Luce exposure, without a draw.

The gradient of any smooth function F of the exposures E is that of the sum of (dF/dE) E with the factor held: compute
the exposures, then dF/dE at them, and hand it over as ``pull``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure._binding import bound_to_row
from rerankers.exposure.checks import bounded_array, logit_array
from rerankers.exposure.closed_form.plackett_luce import ordered_levels
from rerankers.exposure.closed_form.route import routed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import Browsing, BrowsingModel


@np.errstate(under="ignore")
def pl_exposure_gradient(
    scores: ArrayLike, browsing: BrowsingModel, weights: ArrayLike, grades: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the gradient of the weighted sum of exposures under Plackett-Luce rankings, with respect to the scores.

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity for documents that come after all others.
    browsing
        the browsing model.
    weights
        (n,), below 1e150 in size: what each document's exposure counts for. For a function F of the exposures they
        are its derivatives dF/dE, and the gradient is that of F.
    grades
        (n,), negative ones count as 0.

    Returns
    -------
    float64 (n,), adding up to 0; 0 for documents at minus infinity.

    Raises
    ------
    ValueError
        for scores or weights that are not numbers, for another number of weights, and where the model needs grades
        and there are none.
    """
    logit = logit_array(scores)
    pull = bounded_array("weights", weights, len(logit))
    indptr = np.array([0, len(logit)], dtype=np.int64)
    return plackett_luce_gradient(indptr, logit, bound_to_row(browsing, len(logit), grades), pull)


def plackett_luce_gradient(
    indptr: NDArray[np.int64], logits: ArrayLike, browsing: Browsing, pull: ArrayLike
) -> NDArray[np.float64]:
    """Return the gradient of the sum of pull times Plackett-Luce exposure in each row, with respect to the logits.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    logits
        float64 (nnz,), finite or minus infinity.
    browsing
        the model, bound to the rows.
    pull
        float64 (nnz,), finite and below 1e150 in size.

    Returns
    -------
    float64 (nnz,), adding up to 0 in each row; 0 for documents at minus infinity. It costs one to three times as much
    as `plackett_luce_exposure`, and is as exact, relative to the largest pull of a row.

    Raises
    ------
    ValueError
        for a logit that is not a number or plus infinity, a pull that is not a finite number below
        1e150 in size, or other lengths.
    """
    scores, pulled = logit_array(logits, "logits"), bounded_array("pull", pull, int(indptr[-1]))
    levels, ordered = ordered_levels(indptr, scores, browsing.continuation)
    logit = scores[levels.order]
    # Where the logits leave a gap, a level is reached with the same chance whatever they are.
    reached = levels.spread(levels.before(ordered)) * pulled[levels.order]
    slope = np.zeros(len(logit))
    certain = levels.size > 1
    certain[np.isneginf(logit[levels.indptr[:-1]])] = False
    for place, solver in routed(levels, ordered, browsing.position, certain):
        slope[place] = solver.gradient(logit[place], ordered[place], reached[place])
    gradient = np.empty(len(scores))
    gradient[levels.order] = slope
    return gradient
