r"""Consistency for a returning user: the expected rank-biased overlap of two independent rankings of one policy.

The overlap of two rankings at depth D counts the documents that both have among their first D ranks, so its
expectation over independent rankings is \sum_d P(rank of d <= D)^2: the expected RBO follows from the inclusion
probabilities alone. They are exact for given rankings, finite mixtures, shuffles within levels and Plackett-Luce.

From S draws the mean over the S (S - 1) / 2 distinct pairs is unbiased. No pair is looked at: a document contributes
to a pair a number W that depends on the later of its two ranks only, so that one sort of each document's S ranks gives
the sum over all pairs. For n documents that is O(n S log S), against O(n S^2) pair by pair. Only rankings of one query
that differ in length are compared pair by pair.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.single import pl_rank_marginals
from rerankers.measures import over_draws
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.rank_overlap import rbo
from rerankers.measures.scores import Scores
from rerankers.policies import GradeShuffle, PlackettLuce

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.policies import Policy
    from rerankers.values import Rankings

PERSISTENCE = 0.9
MOST_CELLS = 1 << 13  # documents times ranks of a row up to which exact marginals take some 0.02 s at most
NEGLIGIBLE = 1e-16
_TILE = 1 << 18  # ranks sorted together
_EDGE = 1e-6


class Consistency(Definition):
    """The expected rank-biased overlap of two independent rankings of the policy."""

    name = "consistency"
    description = (
        "expected rank-biased overlap (persistence p, .9 unless given) of two independent rankings of the policy, "
        "with a cutoff of their first k ranks; 1 for a static ranking"
    )
    parameters = (
        Parameter("p", float, "persistence of the reader", default=PERSISTENCE, low=_EDGE, high=1.0 - _EDGE),
        Parameter("kind", str, "extrapolated, or the lower bound", default="ext", choices=("ext", "min")),
    )

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the expected overlap for every query."""
        p, kind, cutoff = float(measure.get("p") or PERSISTENCE), str(measure.get("kind")), measure.cutoff
        exact = np.full(len(evaluation.over), np.nan)
        estimates = over_draws.are_estimates(evaluation)
        if estimates:
            exact = exact_overlap(evaluation.source, p, kind, cutoff)  # type: ignore[arg-type]
        rows = np.flatnonzero(np.isnan(exact))
        value = exact
        if len(rows):
            value[rows] = mean_overlap(evaluation.rankings, p, kind, cutoff, distinct=estimates, rows=rows)
        few = np.zeros(len(value), dtype=np.bool_)
        few[rows] = over_draws.draws_below(evaluation, 2)
        empty = evaluation.source.over.lengths == 0
        missing = ("no_ranked_document", empty | (np.isnan(value) & ~few))
        return Scores.of(value, ("query_not_judged", ~evaluation.query_judged), missing, ("too_few_draws", few))


def pair_weights(length: int, p: float, kind: str) -> NDArray[np.float64]:
    """Return W: what a document at the later 0-based rank r of two rankings of one length adds to their overlap.

    Returns
    -------
    float64 (length + 1,), 0 at ``length``: what a document adds that one of them does not have. With all documents
    in common they sum to 1 (``ext``).
    """
    depth = np.arange(1, length + 1)
    terms = (1.0 - p) * p ** (depth - 1.0) / depth
    if kind == "ext":
        weight = np.cumsum(terms[::-1])[::-1] + p**length / length
    else:
        weight = (1.0 - p) * (-np.log1p(-p) / p) - (np.cumsum(terms) - terms)
    return np.append(weight, 0.0)


def exact_overlap(policy: Policy, p: float, kind: str, cutoff: int | None) -> NDArray[np.float64]:
    """Return the exact expected overlap for each row, float64 (B,), NaN where there is no (affordable) closed form.

    Which rows that is depends on their length, p and the cutoff only. Ranks beyond which all weights together are
    below 1e-16 are not computed.
    """
    out = np.full(len(policy.over), np.nan)
    for row, size in enumerate(policy.over.lengths.tolist()):
        length = size if cutoff is None else min(size, cutoff)
        part = policy.over.row(row)
        if not length:
            continue
        deep = min(length, int(np.ceil(np.log(NEGLIGIBLE * (1.0 - p)) / np.log(p))) + 1)
        if isinstance(policy, GradeShuffle):
            both = _shuffled(np.asarray(policy.level[part]), deep)
        elif isinstance(policy, PlackettLuce) and size * deep <= MOST_CELLS:
            inclusion = np.minimum(np.cumsum(pl_rank_marginals(policy.logit[part], deep), axis=1), 1.0)
            both = np.square(inclusion).sum(axis=0)
        else:
            continue
        weight = pair_weights(length, p, kind)
        # Both within D + 1 ranks but not within D: the later rank is D. What is left at the end is at most negligible.
        out[row] = min(float(np.dot(np.diff(both, prepend=0.0), weight[:deep])), 1.0)
    return out


def _shuffled(level: NDArray[np.number], deep: int) -> NDArray[np.float64]:
    """Return the expected overlap at depths 1 … deep of shuffles within levels: a level of m has x^2 / m at x of m."""
    sizes = np.unique(level, return_counts=True)[1][::-1]
    before = np.cumsum(sizes) - sizes
    depth = np.arange(1, deep + 1)
    level_of = np.searchsorted(np.cumsum(sizes), depth, side="left")
    inside = depth - before[level_of]
    both: NDArray[np.float64] = before[level_of] + np.square(inside) / sizes[level_of]
    return both


def mean_overlap(
    rankings: Rankings,
    p: float,
    kind: str = "ext",
    cutoff: int | None = None,
    distinct: bool = True,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the mean rank-biased overlap over pairs of rankings of each row.

    Parameters
    ----------
    rankings
        R rankings of B rows; empty ones are left out.
    p, kind
        persistence strictly between 0 and 1; ``ext`` or ``min``, see `rank_overlap.rbo`.
    cutoff
        compare the first ranks only; None for all.
    distinct
        pairs of two different rankings, equally weighted: the unbiased estimate from draws. Else all pairs, a ranking
        with itself too, by the product of their weights: the expectation if the rankings are the policy.
    rows
        int64, those wanted; all by default.

    Returns
    -------
    float64 (rows,), NaN where there is no pair.
    """
    chosen = np.arange(len(rankings.over)) if rows is None else rows
    out = np.full(len(chosen), np.nan)
    for place, row in enumerate(chosen.tolist()):
        asked = slice(int(rankings.query_ptr[row]), int(rankings.query_ptr[row + 1]))
        ends = rankings.item_ptr[asked.start : asked.stop + 1]
        lists = [rankings.item[low:high][:cutoff] for low, high in pairwise(ends.tolist())]
        filled = [number for number, items in enumerate(lists) if len(items)]
        if len(filled) < (2 if distinct else 1):
            continue
        lists = [lists[number] for number in filled]
        weight = rankings.weight[asked][filled]
        lengths = {len(items) for items in lists}
        if len(lengths) == 1:
            size = int(rankings.over.lengths[row])
            out[place] = _sorted_mean(np.stack(lists), size, weight, pair_weights(lengths.pop(), p, kind), distinct)
        else:
            out[place] = _pairwise_mean(lists, weight, p, kind, distinct)
    return out


def _sorted_mean(
    items: NDArray[np.int32], size: int, weight: NDArray[np.float64], value: NDArray[np.float64], distinct: bool
) -> float:
    """Return the mean over pairs of rankings (S, L) of one length, of ``value`` at the later rank of each document."""
    draws, length = items.shape
    rank = np.full((size, draws), length, dtype=np.int32)
    rank[items.T, np.arange(draws)] = np.arange(length, dtype=np.int32)[:, None]
    total = 0.0
    for start in range(0, size, max(1, _TILE // draws)):
        some = rank[start : start + max(1, _TILE // draws)]
        if distinct:
            # in ascending order, the rank at place m is the later one of m pairs
            total += float(np.sum(value[np.sort(some, axis=1)] @ np.arange(draws, dtype=np.float64)))
        else:
            order = np.argsort(some, axis=1, kind="stable")
            own = weight[order]
            pairs = own * (2.0 * np.cumsum(own, axis=1) - own)
            total += float(np.sum(value[np.take_along_axis(some, order, axis=1)] * pairs))
    return total / (draws * (draws - 1) / 2.0 if distinct else float(weight.sum()) ** 2)


def _pairwise_mean(
    lists: list[NDArray[np.int32]], weight: NDArray[np.float64], p: float, kind: str, distinct: bool
) -> float:
    """Return the mean over pairs of rankings of different lengths."""
    total = (
        0.0
        if distinct
        else sum(float(w) ** 2 * rbo(one, one, p, kind=kind) for w, one in zip(weight, lists, strict=True))
    )
    scale = 1.0 if distinct else float(weight.sum()) ** 2
    for first in range(len(lists)):
        for second in range(first):
            pair = 1.0 if distinct else 2.0 * float(weight[first] * weight[second])
            total += pair * rbo(lists[first], lists[second], p, kind=kind)
    return total / (len(lists) * (len(lists) - 1) / 2 if distinct else scale)
