"""The terms of the expected exposure of groups as bilinear forms of exposure and target of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_sums
from rerankers.measures.decomposition import decompose, mean_square_of_sum
from rerankers.measures.placebo import Bilinear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation


def bilinear(evaluation: Evaluation, model: BrowsingModel, attribute: str, term: str) -> Bilinear:
    """Return a term of the groups of an attribute.

    The documents that count are those of the universe, ranked or not. Where exposure is estimated from draws, the sums
    over documents are unbiased, as the term itself is.

    Parameters
    ----------
    model
        how users look at rankings.
    term
        ``loss``: (E - T)·(E - T), ``disparity``: E·E, ``relevance``: E·T, ``target``: T·T.
    """
    exposure, target = evaluation.exposure(model), evaluation.target(model)
    x = {"loss": exposure - target, "disparity": exposure, "relevance": exposure, "target": target}[term]
    y = target if term == "relevance" else x
    over, documents = evaluation.over, decompose(evaluation, model, None)
    sums = row_sums(x, over.indptr) * row_sums(y, over.indptr)
    if term in ("loss", "disparity"):
        sums = sums - _noise_of_sum(evaluation, model)
    product: NDArray[np.float64] = getattr(documents, term)
    return Bilinear(evaluation.groups[attribute], over.indptr, over.doc, x, y, product, sums)


def _noise_of_sum(evaluation: Evaluation, model: BrowsingModel) -> NDArray[np.float64]:
    """Return the estimated variance of the sum of a query's estimated exposures, float64 (B,); 0 where exact."""
    if not evaluation.estimated(model) or evaluation.options.force_draws:
        return np.zeros(len(evaluation.over))
    mean = row_sums(evaluation.exposure(model), evaluation.over.indptr)
    return (mean_square_of_sum(evaluation, model) - mean * mean) / max(evaluation.options.samples - 1, 1)
