"""The ranking quality that an unlucky user meets: the worst ranking of a policy, or a low quantile of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures import over_draws
from rerankers.measures.classic import discount, ideal_dcg
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.group_share import draws_for
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure


class WorstNDCG(Definition):
    """The lowest nDCG among the rankings of a policy, or a quantile of it over them."""

    name = "worst_nDCG"
    description = (
        "nDCG of the worst ranking, or the quantile q over rankings: exact for given rankings and finite mixtures, "
        "else of the draws, whose worst is not the policy's worst; 0 to 1"
    )
    parameters = (Parameter("q", float, "quantile over rankings, 0 for the worst", default=0.0, low=0.0, high=1.0),)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the quantile for every query."""
        q = float(measure.get("q") or 0.0)
        each, ideal = ndcg_of_rankings(evaluation, measure.cutoff)
        value = over_draws.quantile(evaluation.rankings, each, q)
        return Scores.of(
            np.where(np.isnan(value), 0.0, value),  # a row without rankings shows nothing
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", ideal == 0),
            ("too_few_draws", over_draws.draws_below(evaluation, draws_for(q))),
        )


def ndcg_of_rankings(evaluation: Evaluation, cutoff: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nDCG of every ranking, float64 (R,), 0 where nothing is relevant, and the ideal DCG, float64 (B,).

    The gain is the grade, as in `rerankers.measures.classic.NDCG`, whose value is the mean of these.
    """
    hits = evaluation.hits.above(cutoff)
    gained = np.bincount(hits.ranking, weights=hits.grade * discount(hits.rank), minlength=len(hits.rankings))
    ideal = ideal_dcg(evaluation, cutoff)
    divisor = np.where(ideal > 0, ideal, 1.0)[hits.rankings.row_of_ranking]
    return gained / divisor, ideal
