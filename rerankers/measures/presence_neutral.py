"""FaiRR and NFaiRR of a policy by name; see `rerankers.measures.neutrality_measures`.

Both are linear in the expected exposure, so that the mean over rankings and the value of the policy are the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.definition import Parameter
from rerankers.measures.group_measure import GROUP, GroupMeasure
from rerankers.measures.presence_exposure import depth_of, log_exposure, totals, values_of
from rerankers.measures.scores import Scores
from rerankers.values.companions import NEUTRALITY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.values import GroupAlignment, Ragged

    Floats = NDArray[np.float64]

BACKGROUND = Parameter(
    "background",
    str,
    "the set of the ideal: candidates = what might have been ranked; union = judged documents as well",
    "candidates",
    ("candidates", "union"),
)
MISSING = Parameter(
    "missing",
    str,
    "documents without a value: null = the query has none either; neutral = they count as 1; drop = they keep their "
    "rank and add nothing",
    "null",
    ("null", "neutral", "drop"),
)
_OF = "score, ideal (the best order of the background) or agnostic (its mean neutrality at every rank)"


class _Neutrality(GroupMeasure):
    """A measure of the neutralities that documents carry; groups are looked up for their attribute's name alone."""

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Return False: neutralities are not labels, there is nothing to shuffle."""
        return False

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every query; null (``no_labels``) where documents carry no neutrality."""
        values = values_of(measure, evaluation, NEUTRALITY)
        if values is None:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_labels", True))
        over, exposure = log_exposure(evaluation, depth_of(measure, evaluation))
        missing, word = str(measure.get("missing")), measure.get("background")
        background = over if word == "candidates" else evaluation.universe.union
        ranked = _Values.of(values, over, missing)
        ideal = _Ideal.of(_Values.of(values, background, missing), depth_of(measure, evaluation))
        score = totals(over, exposure * ranked.value)
        value, uses_ideal = cls.combined(str(measure.get("of")), score, ideal)
        lacking = totals(over, (ranked.missing & (exposure > 0)).astype(np.float64)) > 0
        counted = totals(over, exposure * ranked.counts) > 0 if measure.get("of") == "score" else ideal.known
        return Scores.of(
            value,
            ("no_ranked_document", ~(totals(over, exposure) > 0)),
            ("unlabelled_document", (lacking | (ideal.lacking & uses_ideal)) if missing == "null" else False),
            ("no_labels", ~counted),
            ("no_neutral_background", ~(ideal.value > 0) if cls.name == "NFaiRR" else False),
        )

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the value for an attribute that is there."""
        return cls.per_unit(measure, evaluation)

    @classmethod
    @abstractmethod
    def combined(cls, of: str, score: Floats, ideal: _Ideal) -> tuple[Floats, bool]:
        """Return what is asked for, and whether it depends on the background."""


class FaiRR(_Neutrality):
    """Discounted neutrality."""

    name = "FaiRR"
    description = (
        "sum of the expected 1/log2(1+rank) of documents times their neutrality; at least 0, more is more neutral "
        "(Rekabsaz, Kopeinik & Schedl 2021)"
    )
    parameters = (
        Parameter("of", str, _OF, "score", ("score", "ideal", "agnostic")),
        BACKGROUND,
        MISSING,
        GROUP,
    )

    @classmethod
    def combined(cls, of: str, score: Floats, ideal: _Ideal) -> tuple[Floats, bool]:
        """Return FaiRR, that of the ideal or the agnostic order."""
        return {"score": score, "ideal": ideal.value, "agnostic": ideal.agnostic}[of], of != "score"


class NFaiRR(_Neutrality):
    """Discounted neutrality over that of the background's best order."""

    name = "NFaiRR"
    description = (
        "FaiRR divided by that of the most neutral order of the background; 0 to 1, the best (Rekabsaz, Kopeinik & "
        "Schedl 2021). Ranked documents are candidates, so that none is outside of the background"
    )
    parameters = (Parameter("of", str, "score, or agnostic: an order at random", "score", ("score", "agnostic")),
                  BACKGROUND, MISSING, GROUP)  # fmt: skip

    @classmethod
    def combined(cls, of: str, score: Floats, ideal: _Ideal) -> tuple[Floats, bool]:
        """Return NFaiRR of the ranking or of an order at random."""
        best = np.where(ideal.value > 0, ideal.value, 1.0)
        return (score if of == "score" else ideal.agnostic) / best, True


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """Neutralities of the documents of rows: (nnz,) each; 0 where missing and not neutral."""

    over: Ragged
    value: Floats
    missing: NDArray[np.bool_]
    counts: NDArray[np.bool_]

    @classmethod
    def of(cls, values: GroupAlignment, over: Ragged, missing: str) -> _Values:
        item, column, weight = values.entries(over.doc)
        first = column == 0
        value = np.bincount(item[first], weights=weight[first], minlength=over.nnz)
        lacking = values.unknown[over.doc] > 0
        filled = np.where(lacking, 1.0 if missing == "neutral" else 0.0, value)
        return cls(over, filled, lacking, ~lacking if missing == "drop" else np.ones(over.nnz, dtype=np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class _Ideal:
    """What the best and a random order of the background would have, (B,) each.

    ``lacking``: where a document has no value; ``known``: where any counts.
    """

    value: Floats
    agnostic: Floats
    lacking: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, known: _Values, k: int | None) -> _Ideal:
        over, row = known.over, known.over.row_index
        order = np.lexsort((-known.value, ~known.counts, row))  # what does not count stands behind the rest
        rank = np.arange(over.nnz) - over.indptr[:-1][row]
        size = totals(over, known.counts.astype(np.float64))
        within = (rank < size[row]) & (rank < (over.nnz if k is None else k))
        weight = np.where(within, 1.0 / np.log2(rank + 2.0), 0.0)
        mean = totals(over, np.where(known.counts, known.value, 0.0)) / np.maximum(size, 1.0)
        lacking = totals(over, known.missing.astype(np.float64)) > 0
        return cls(totals(over, weight * known.value[order]), mean * totals(over, weight), lacking, size > 0)
