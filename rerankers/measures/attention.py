"""Inequity of amortised attention: how far attention is from relevance, added up over queries (Biega et al. 2018).

IAA = Σ_d |Σ_q a_qd - Σ_q r_qd|, with the attention and the relevance of each query divided by their sums, so that both
have the same total. It is a measure of individual documents, whatever their groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.exposure.checks import check_bounded
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Definition
from rerankers.measures.scaling import near_one
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

FORMS = ("published", "fairranktune")


def iaa(attention: ArrayLike, relevance: ArrayLike, form: str = "published") -> float:
    """Return Σ over documents of |attention - relevance|, both added up over queries.

    Parameters
    ----------
    attention, relevance
        (queries, n) or (n,), at least 0, of the same documents in every query.
    form
        ``published``: each query's attention and relevance are divided by their sums, a query of zeros stays so: 0 to
        2 a query; ``fairranktune``: the first query only and nothing divided, as FairRankTune 0.0.7 does.

    Raises
    ------
    InputError
        for other shapes, and values that are negative or not finite; as ``fairranktune`` also for those beyond 1e150.
    ConfigError
        for another form.
    """
    choose("form", form, FORMS)
    a, r = np.atleast_2d(np.asarray(attention, dtype=np.float64)), np.atleast_2d(np.asarray(relevance, np.float64))
    if a.shape != r.shape or a.ndim != 2:
        raise InputError.one("relevance", f"shape {np.shape(relevance)}", f"that of attention, {np.shape(attention)}")
    for name, value in (("attention", a), ("relevance", r)):
        if not np.all(np.isfinite(value)) or np.any(value < 0):
            raise InputError.one(name, "values that are negative or not finite", "finite numbers of at least 0")
    if form == "fairranktune":
        check_bounded("attention", a[0])
        check_bounded("relevance", r[0])
        return float(np.abs(a[0] - r[0]).sum())
    a, r = (near_one(value, axis=1) for value in (a, r))
    a, r = (value / np.where(value.sum(1) > 0, value.sum(1), 1.0)[:, np.newaxis] for value in (a, r))
    return float(np.abs(a.sum(axis=0) - r.sum(axis=0)).sum())


class IAA(Definition):
    """The inequity of one query's expected attention."""

    name = "IAA"
    description = (
        "inequity of attention: sum over documents of the difference between their share of the expected exposure and "
        "of the grades, of each query alone; 0 to 2, 0 is best (Biega et al. 2018)"
    )
    parameters = PARAMETERS

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the sum of differences of shares; null where nothing is relevant."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        row, exposure = evaluation.over.row_index, evaluation.exposure(model)
        looks, due = evaluation.per_row(exposure), evaluation.per_row(evaluation.grade)
        share = exposure / np.where(looks > 0, looks, 1.0)[row]
        value = evaluation.per_row(np.abs(share - evaluation.grade / np.where(due > 0, due, 1.0)[row]))
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", due == 0),
            ("no_ranked_document", looks == 0),
        )
