"""A number of every ranking of a policy, seen as a distribution: means, quantiles, probabilities by query.

Where the rankings are the policy itself (given rankings, finite mixtures, draws that are themselves judged), their
weights are probabilities and everything here is exact. Else they are draws, and stand for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from rerankers.exposure.rows import buckets
from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation

ROUNDING = 1e-12  # by how much sums of weights may miss a probability


def before_shuffling(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with the real labels, of which one with shuffled labels was made, else itself.

    What has nothing to do with labels is kept there, once for all shuffles; places in the rows are the same.
    """
    origin = getattr(evaluation, "origin", None)
    return evaluation if origin is None else cast("Evaluation", origin.base)


def are_estimates(evaluation: Evaluation) -> bool:
    """Whether `Evaluation.rankings` are draws that stand for a policy, not the policy itself."""
    source = before_shuffling(evaluation).source
    return not isinstance(source, Rankings | Mixture) and not evaluation.options.force_draws


def draws_below(evaluation: Evaluation, least: int) -> bool:
    """Whether rankings that stand for a policy are fewer than an estimate needs."""
    return are_estimates(evaluation) and evaluation.options.samples < least


def mean(rankings: Rankings, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted mean over the rankings of each row that have a value (NaN: none): float64 (B,), or NaN."""
    out = np.full(len(rankings.over), np.nan)
    for rows, values, weights in _matrices(rankings, value):
        total = weights.sum(axis=1)
        some = total > 0
        sums = (np.where(weights > 0, values, 0.0) * weights).sum(axis=1)
        out[rows[some]] = sums[some] / total[some]
    return out


def quantile(rankings: Rankings, value: NDArray[np.float64], q: float) -> NDArray[np.float64]:
    """Return the q-quantile over the rankings of each row.

    It is the smallest value that is not exceeded with a probability of at least q (the inverse of the distribution
    function; definition 1 of Hyndman & Fan 1996): one of the values, the least of positive weight for q = 0.

    Parameters
    ----------
    rankings
        R rankings of B rows; their weights count.
    value
        float64 (R,), NaN for rankings without one, which are left out.
    q
        from 0 to 1.

    Returns
    -------
    float64 (B,), NaN where no ranking of the row has a value.
    """
    out = np.full(len(rankings.over), np.nan)
    for rows, values, weights in _matrices(rankings, value):
        order = np.argsort(np.where(weights > 0, values, np.inf), axis=1, kind="stable")
        upto = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
        reached = (upto >= q * upto[:, -1:] - ROUNDING) & (upto > 0)
        first = np.take_along_axis(order, np.argmax(reached, axis=1)[:, None], axis=1)
        some = upto[:, -1] > 0
        out[rows[some]] = np.take_along_axis(values, first, axis=1)[some, 0]
    return out


def _matrices(
    rankings: Rankings, value: NDArray[np.float64]
) -> list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
    """Return rows of equal numbers of rankings with their values and weights (rows, rankings), 0 where NaN.

    So every result of a row depends on that row alone.
    """
    found = []
    for count, rows in buckets(rankings.counts):
        place = rankings.query_ptr[rows][:, None] + np.arange(count)
        values = value[place]
        found.append((rows, values, np.where(np.isnan(values), 0.0, rankings.weight[place])))
    return found
