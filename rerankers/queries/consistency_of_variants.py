"""How alike the rankings of the variants of one topic are: mean rank-biased overlap within a set and across two.

The mean over pairs of different human variants is also what is expected across two disjoint halves of them, whatever
their sizes: the ceiling of the mean across a human and a generated set. Across sets a query that both hold is
compared with itself as well, for it is one of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerankers.queries.rank_pairs import rbo_matrix
from rerankers.queries.ranked import Ranked
from rerankers.stats.means import exact_mean


@dataclass(frozen=True, slots=True)
class Consistency:
    """A mean over pairs of rankings.

    Attributes
    ----------
    value
        from 0 to 1; None where there is no pair.
    pairs
        how many pairs of rankings that are not empty.
    empty
        rankings that are empty; overlap with them is not defined.
    """

    value: float | None
    pairs: int
    empty: int


def consistency_within(
    rankings: Sequence[Ranked], *, p: float, depth: int | None = None, ties: str = "a"
) -> Consistency:
    """Return the mean rank-biased overlap of every two rankings of a set.

    Parameters
    ----------
    rankings
        of the distinct variants of one topic.
    p, depth, ties
        as of `rerankers.queries.rank_pairs.rbo_matrix`; p has no default.
    """
    found = rbo_matrix(rankings, p=p, depth=depth, ties=ties)
    return _mean(found[np.triu_indices(len(rankings), 1)], sum(not len(one) for one in rankings))


def consistency_across(
    human: Sequence[Ranked], generated: Sequence[Ranked], *, p: float, depth: int | None = None, ties: str = "a"
) -> Consistency:
    """Return the mean rank-biased overlap of every ranking of one set with every one of another.

    Parameters
    ----------
    human, generated
        of the distinct variants of one topic.
    p, depth, ties
        as of `consistency_within`.
    """
    found = rbo_matrix(human, generated, p=p, depth=depth, ties=ties)
    return _mean(found.ravel(), sum(not len(one) for one in (*human, *generated)))


def _mean(overlaps: np.ndarray[tuple[int, ...], np.dtype[np.float64]], empty: int) -> Consistency:
    return Consistency(exact_mean(overlaps), int(np.sum(~np.isnan(overlaps))), empty)
