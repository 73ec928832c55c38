"""Classic measures of rankings with judgments, averaged over the rankings of a policy.

Their values on one ranking are those of trec_eval and ir_measures, with one difference that shows in means:
a query without a relevant document has no AP, nDCG, R and RR (0/0, or nothing to be found), where those tools
count 0. See `rerankers.measures` for the whole table of what is null and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.hits import top_share
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.hits import Hits
    from rerankers.measures.names import Measure

REL = Parameter("rel", int, "the lowest grade that counts as relevant", default=1, low=1, high=2**15 - 1)


def discount(rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 / log2(r + 2) of 0-based ranks."""
    weight: NDArray[np.float64] = 1.0 / np.log2(rank + 2.0)
    return weight


def _relevant(measure: Measure, evaluation: Evaluation) -> tuple[Hits, NDArray[np.float64], NDArray[np.bool_]]:
    """Return the hits within the cutoff, the number of relevant judged documents (B,), and where that is 0."""
    grade = int(measure.get("rel") or 1)
    hits = evaluation.hits.from_grade(grade).above(measure.cutoff)
    known = evaluation.per_row((evaluation.grade >= grade).astype(np.float64))
    return hits, known, known == 0


def _scores(evaluation: Evaluation, value: NDArray[np.float64], nothing: NDArray[np.bool_] | bool) -> Scores:
    return Scores.of(value, ("query_not_judged", ~evaluation.query_judged), ("no_relevant_document", nothing))


def ideal_dcg(evaluation: Evaluation, cutoff: int | None) -> NDArray[np.float64]:
    """Return the discounted cumulative gain of the judged grades in descending order, float64 (B,)."""
    row = evaluation.over.row_index
    best = np.lexsort((-evaluation.grade, row))
    place = np.arange(len(best)) - evaluation.over.indptr[row]
    inside = place < (len(best) if cutoff is None else cutoff)
    return evaluation.per_row(np.where(inside, evaluation.grade[best] * discount(place), 0.0))


class NDCG(Definition):
    """Discounted cumulative gain over that of the best ranking (Järvelin & Kekäläinen 2002), gain = grade."""

    name = "nDCG"
    description = "normalised discounted cumulative gain, gain = grade, discount 1/log2(rank + 1); 0 to 1"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Σ grade / log2(r + 2) over the first k ranks, over the same sum of the judged grades in descending order."""
        hits = evaluation.hits.above(measure.cutoff)
        gained = hits.per_row(hits.grade * discount(hits.rank))
        ideal = ideal_dcg(evaluation, measure.cutoff)
        nothing = ideal == 0
        return _scores(evaluation, gained / np.where(nothing, 1.0, ideal), nothing)


class AP(Definition):
    """Average precision (Buckley & Voorhees 2000)."""

    name = "AP"
    description = "mean of the precision at each relevant document, 0 for those not shown within k; 0 to 1"
    parameters = (REL,)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Σ over relevant documents at rank r of (relevant up to r) / r, over the number of relevant documents."""
        hits, known, nothing = _relevant(measure, evaluation)
        precision = hits.per_row((hits.number + 1.0) / (hits.rank + 1.0))
        return _scores(evaluation, precision / np.maximum(known, 1.0), nothing)


class RR(Definition):
    """Reciprocal rank (Kantor & Voorhees 2000)."""

    name = "RR"
    description = "1 / rank of the first relevant document, 0 where none is shown within k; 0 to 1"
    parameters = (REL,)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return 1 over the rank of the first hit of each ranking, averaged."""
        hits, _, nothing = _relevant(measure, evaluation)
        return _scores(evaluation, hits.per_row(np.where(hits.number == 0, 1.0 / (hits.rank + 1.0), 0.0)), nothing)


class P(Definition):
    """Precision at k (van Rijsbergen 1979)."""

    name = "P"
    description = "share of the first k ranks that hold a relevant document; shorter rankings are divided by k; 0 to 1"
    parameters = (REL,)
    cutoff = "required"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the number of relevant documents within k, over k."""
        hits, _, _ = _relevant(measure, evaluation)
        return _scores(evaluation, hits.per_row(np.ones(len(hits.rank))) / (measure.cutoff or 1), False)


class R(Definition):
    """Recall at k (van Rijsbergen 1979)."""

    name = "R"
    description = "share of the relevant documents that are shown within k; 0 to 1"
    parameters = (REL,)
    cutoff = "required"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the number of relevant documents within k, over the number of relevant documents."""
        hits, known, nothing = _relevant(measure, evaluation)
        return _scores(evaluation, hits.per_row(np.ones(len(hits.rank))) / np.maximum(known, 1.0), nothing)


class Judged(Definition):
    """Judgment rate at k."""

    name = "Judged"
    description = "share of the documents shown within k that have a judgment of any grade; 0 to 1"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the mean over non-empty rankings; a ranking shorter than k is divided by its length."""
        share = top_share(evaluation.rankings, evaluation.universe.candidate_judged, measure.cutoff)
        return Scores.of(share, ("query_not_judged", ~evaluation.query_judged), ("no_ranked_document", np.isnan(share)))
