r"""How much the exposure of single documents varies from one ranking of a policy to the next.

A document of exposure X in a drawn ranking has the variance E[X^2] - E[X]^2. The exposure is a product of a weight of
the rank and the continuations of the documents before; its square is the same product of squares. So E[X^2] is an
expected exposure under squared browsing, and exact wherever there is a closed form.

Under position-based browsing the squares of a complete ranking always have the same sum. Hence the *sum* of the
variances is |v|^2 - |E|^2 for the weights v of the ranks, whatever policy has the exposure E: policies of equal
exposure differ only in which documents bear the variance (see `same_exposure`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import Browsing
from rerankers.exposure.rankings import item_exposure
from rerankers.measures import over_draws
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.scores import Scores
from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure


class ExposureVariance(Definition):
    """The variance over rankings of the exposure of documents."""

    name = "exposure_variance"
    description = (
        "variance over rankings of a document's exposure: the mean (or total=sum) over documents (or of=relevant "
        "ones); 0 for a static ranking"
    )
    parameters = (
        Parameter("of", str, "which documents", "documents", ("documents", "relevant")),
        Parameter("total", str, "mean or sum over these documents", "mean", ("mean", "sum")),
        *PARAMETERS,
    )

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the mean or sum of every query, over the documents of the universe; unranked ones have variance 0."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        candidates, few = evaluation.once(("variance", model), lambda: variances(evaluation, model))
        variance = evaluation.universe.spread(candidates)
        relevant = measure.get("of") == "relevant"
        chosen = evaluation.grade > 0 if relevant else np.ones(evaluation.over.nnz, dtype=np.bool_)
        count = evaluation.per_row(chosen.astype(np.float64))
        value = evaluation.per_row(np.where(chosen, variance, 0.0))
        if measure.get("total") == "mean":
            value = value / np.maximum(count, 1.0)
        nothing = ("no_relevant_document" if relevant else "no_ranked_document", count == 0)
        unjudged = ("query_not_judged", ~evaluation.query_judged)
        return Scores.of(value, unjudged, nothing, ("too_few_draws", few))


def variances(evaluation: Evaluation, model: BrowsingModel) -> tuple[NDArray[np.float64], bool]:
    """Return the variance of the exposure of each candidate, float64 (nnz,), and whether draws were too few for it.

    Exact for given rankings, finite mixtures and closed forms; else the unbiased estimate from the draws.
    """
    source = evaluation.source
    if not isinstance(source, Rankings | Mixture) and not evaluation.options.force_draws:
        browsing = model.bind(evaluation.universe.candidate_grade, source.over.indptr)
        exact = source.exposure(browsing)
        square = None if exact is None else source.exposure(_squared(browsing))
        if exact is not None and square is not None:
            return np.maximum(square.value - np.square(exact.value), 0.0), False
    spread = of_rankings(evaluation.rankings, model, evaluation.universe.candidate_grade)
    if not over_draws.are_estimates(evaluation):
        return spread, False
    draws = evaluation.options.samples
    return spread * (draws / max(draws - 1, 1)), draws < 2


def of_rankings(rankings: Rankings, model: BrowsingModel, grade: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of exposure over weighted rankings as they are, float64 (over.nnz,); grades (over.nnz,).

    The deviations from the mean are squared, not the difference of two means taken, so that nothing cancels; a
    document that a ranking leaves out deviates by its mean.
    """
    over = rankings.over
    exposure = item_exposure(rankings, model.bind(grade, over.indptr))
    flat, weight = rankings.flat, rankings.weight[rankings.ranking_of_item]
    mean = np.bincount(flat, weights=weight * exposure, minlength=over.nnz)
    shown = np.bincount(flat, weights=weight, minlength=over.nnz)
    spread = np.bincount(flat, weights=weight * np.square(exposure - mean[flat]), minlength=over.nnz)
    absent = np.maximum(1.0 - shown, 0.0)
    out: NDArray[np.float64] = spread + np.where(absent < over_draws.ROUNDING, 0.0, absent) * np.square(mean)
    return out


def _squared(browsing: Browsing) -> Browsing:
    position = None if browsing.position is None else np.square(browsing.position)
    return Browsing(position, np.square(browsing.continuation), browsing.satisfaction)
