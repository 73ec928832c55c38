"""The relevant documents that come last: lexicographic recall, total search efficiency, and the worst-off document.

Lexirecall prefers the ranking whose last relevant document stands higher; where they are level, the last but one, and
so on (Diaz, Ekstrand & Mitra 2025). Total search efficiency is the exposure of the last relevant document. For policies
the same order, leximin, is taken over the expected exposures of the relevant documents: the policy is better whose
worst-off relevant document gets more, then the second worst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import whole_number
from rerankers.exposure.rankings import item_exposure
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Definition
from rerankers.measures.hits import mean_over_draws
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]


def lexirecall(a: ArrayLike, b: ArrayLike, relevant: int | None = None) -> int:
    """Return 1 where ranking a is preferred, -1 where b is, 0 where their relevant documents have the same ranks.

    Parameters
    ----------
    a, b
        ranks of the relevant documents each has retrieved, in any order, no two alike.
    relevant
        how many relevant documents there are; those not retrieved stand below all others and tie. None: as many as
        the longer of the two has.

    Raises
    ------
    InputError
        for ranks that are repeated or not finite, more of them than relevant documents, and a number of these that is
        no whole one.
    """
    ranks = [_ranks(name, value) for name, value in (("a", a), ("b", b))]
    most = max(map(len, ranks))
    if relevant is not None and whole_number("relevant", relevant) < most:
        raise InputError.one("relevant", str(relevant), f"at least {most}, as many as are ranked")
    # Relevant documents that neither has retrieved tie.
    padded = [np.concatenate([np.full(most - len(one), np.inf), one]) for one in ranks]
    return _first_difference(-padded[0], -padded[1], 0.0)


def leximin(a: ArrayLike, b: ArrayLike, tolerance: float = 1e-12) -> int:
    """Return 1 where a is preferred by its smallest values, -1 where b is, 0 where all are level.

    Parameters
    ----------
    a, b
        (m,), for instance the expected exposures of the relevant documents, in any order.
    tolerance
        differences up to this count as level.

    Raises
    ------
    InputError
        for shapes that differ, values that are not finite, and a tolerance that is no number of at least 0.
    """
    if not tolerance >= 0:
        raise InputError.one("tolerance", str(tolerance), "a number of at least 0")
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise InputError.one("b", f"shapes {x.shape} and {y.shape}", "two vectors of finite numbers, equally long")
    return _first_difference(np.sort(x), np.sort(y), tolerance)


def leximin_preference(
    a: Evaluation, b: Evaluation, model: BrowsingModel | None = None, tolerance: float = 1e-12
) -> NDArray[np.int8]:
    """Return which of two systems each query prefers, by leximin over expected exposures of relevant documents.

    Parameters
    ----------
    a, b
        of the same queries with the same judgments.
    model
        browsing model; None: that of a's options.
    tolerance
        differences of exposure up to this count as level.

    Returns
    -------
    int8 (B,): 1 for a, -1 for b, 0 for level, as is a query without a relevant document. Relevant documents that one
    system's universe lacks have exposure 0 there.

    Raises
    ------
    InputError
        when the systems answer other queries or have other relevant documents.
    """
    chosen = a.options.model if model is None else model
    found = [(one.grade > 0, one.exposure(chosen), one.over) for one in (a, b)]
    (mine, exposure_a, over_a), (yours, exposure_b, over_b) = found
    same = np.array_equal(over_a.query, over_b.query) and np.array_equal(
        over_a.row_index[mine], over_b.row_index[yours]
    )
    if not same or not np.array_equal(over_a.doc[mine], over_b.doc[yours]):
        raise InputError.one("b", "other queries or relevant documents than a's", "the same for both systems")
    row = over_a.row_index[mine]
    order_a, order_b = np.lexsort((exposure_a[mine], row)), np.lexsort((exposure_b[yours], row))
    apart = exposure_a[mine][order_a] - exposure_b[yours][order_b]
    differs = np.flatnonzero(np.abs(apart) > tolerance)
    rows, first = np.unique(row[differs], return_index=True)
    preference = np.zeros(len(over_a), dtype=np.int8)
    preference[rows] = np.sign(apart[differs[first]])
    return preference


def _ranks(name: str, values: ArrayLike) -> Floats:
    ranks = np.asarray(values, dtype=np.float64)
    if ranks.ndim != 1 or not np.all(np.isfinite(ranks)) or len(np.unique(ranks)) < len(ranks):
        raise InputError.one(name, f"{ranks.tolist()}", "the rank of each retrieved relevant document, once each")
    descending: Floats = np.sort(ranks)[::-1]
    return descending


def _first_difference(a: Floats, b: Floats, tolerance: float) -> int:
    level = (a == b) | (np.abs(np.where(np.isfinite(a), a, 0) - np.where(np.isfinite(b), b, 0)) <= tolerance) & (
        np.isfinite(a) & np.isfinite(b)
    )
    differs = np.flatnonzero(~level)
    return 0 if not len(differs) else (1 if a[differs[0]] > b[differs[0]] else -1)


class TSE(Definition):
    """Total search efficiency, averaged over rankings."""

    name = "TSE"
    description = (
        "total search efficiency: exposure of the relevant document that comes last, 0 where one is missing, averaged "
        "over rankings (Diaz, Ekstrand & Mitra 2025)"
    )
    parameters = PARAMETERS

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the mean over rankings of the least exposure of a relevant document."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        rankings, universe = evaluation.rankings, evaluation.universe
        exposure = item_exposure(rankings, model.bind(universe.candidate_grade, rankings.over.indptr))
        hit = universe.candidate_grade[rankings.flat] > 0
        ranking = rankings.ranking_of_item[hit]
        least = np.full(len(rankings), np.inf)
        np.minimum.at(least, ranking, exposure[hit])
        relevant = evaluation.per_row((evaluation.grade > 0).astype(np.float64))
        seen = np.bincount(ranking, minlength=len(rankings))
        whole = (seen >= relevant[rankings.row_of_ranking]) & (seen > 0)
        value = mean_over_draws(rankings, np.where(whole, least, 0.0))
        return Scores.of(value, ("query_not_judged", ~evaluation.query_judged), ("no_relevant_document", relevant == 0))


class WorstExposure(Definition):
    """Expected exposure of the worst-off relevant document."""

    name = "worst_exposure"
    description = (
        "expected exposure of the relevant document that gets least of it, the first thing that leximin compares; "
        "higher is better (Diaz, Ekstrand & Mitra 2025)"
    )
    parameters = PARAMETERS

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the least expected exposure of a relevant document."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        relevant = evaluation.grade > 0
        least = np.full(len(evaluation.over), np.inf)
        np.minimum.at(least, evaluation.over.row_index[relevant], evaluation.exposure(model)[relevant])
        return Scores.of(
            least, ("query_not_judged", ~evaluation.query_judged), ("no_relevant_document", np.isinf(least))
        )
