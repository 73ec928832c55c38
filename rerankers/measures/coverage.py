"""Queries that are judged but that a run does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problem, choose
from rerankers.values import Counts, Judgments, Ragged, Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Ids

MISSING_QUERY = ("error", "zero_exposure", "skip")
MEND = (
    "Give the run a ranking of the query, or choose missing_query=zero_exposure (an empty ranking) "
    "or missing_query=skip (left out and counted)."
)


def missing_queries(over: Ragged, judgments: Judgments) -> NDArray[np.int32]:
    """Return the queries with at least one judgment that have no row, int32, in the judgments' order."""
    judged = judgments.query[judgments.lengths > 0]
    return judged[:0] if np.array_equal(judged, over.query) else judged[~np.isin(judged, over.query)]


def cover(
    rankings: Rankings, judgments: Judgments, queries: Ids, rule: str = "error", system: str = "run"
) -> tuple[Rankings, Counts]:
    """Deal with judged queries that a run does not answer, before it is cut into blocks.

    Parameters
    ----------
    rankings
        a run; its rows are the queries it answers.
    judgments
        of all queries that should be answered, coded alike.
    queries
        the query ids, for messages.
    rule
        ``error``; ``zero_exposure``: the query gets one empty ranking; ``skip``: it does not enter any mean.
    system
        the run's name, for messages.

    Returns
    -------
    rankings, counts
        ``queries_missing_from_run`` where it is not 0.

    Raises
    ------
    InputError
        naming every missing query, under ``error``.
    ConfigError
        for an unknown rule.
    """
    choose("missing_query", rule, MISSING_QUERY)
    missing = missing_queries(rankings.over, judgments)
    if not len(missing):
        return rankings, {}
    if rule == "error":
        raise InputError(
            Problem(system, f"no ranking of the judged query {name!r}", "one or more", mend=MEND)
            for name in queries.take(missing)
        )
    counts = {"queries_missing_from_run": len(missing)}
    return (_with_empty(rankings, missing) if rule == "zero_exposure" else rankings), counts


def _with_empty(rankings: Rankings, queries: NDArray[np.int32]) -> Rankings:
    """Return the rankings with one empty ranking of each query, as rows without documents at the end."""
    more = len(queries)
    over = rankings.over
    return Rankings(
        Ragged(
            np.concatenate([over.query, queries]),
            np.concatenate([over.indptr, np.repeat(over.indptr[-1:], more)]),
            over.doc,
            over.columns,
        ),
        np.concatenate([rankings.query_ptr, rankings.query_ptr[-1] + np.arange(1, more + 1)]),
        np.concatenate([rankings.item_ptr, np.repeat(rankings.item_ptr[-1:], more)]),
        rankings.item,
        np.concatenate([rankings.weight, np.ones(more)]),
        np.concatenate([rankings.label, np.zeros(more, np.int32)]),
    )
