"""Which documents of a query count: the ranked or candidate ones, the judged ones, or both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import choose
from rerankers.values import Judgments, Ragged, outer_join

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIVERSES = ("union", "judged")


@dataclass(frozen=True, eq=False)
class Universe:
    """The documents over which exposure, target and every sum run.

    Attributes
    ----------
    candidates
        the rows that are ranked, B of them.
    judgments
        coded alike; queries without a row there are not judged.
    rule
        ``union``: candidates and judged documents, the unjudged with grade 0; ``judged``: judged documents only
        (the others still take ranks).

    Raises
    ------
    ConfigError
        for an unknown rule.
    """

    candidates: Ragged
    judgments: Judgments
    rule: str = "union"

    def __post_init__(self) -> None:
        choose("universe", self.rule, UNIVERSES)

    @cached_property
    def own(self) -> Judgments:
        """The judgments of the ranked queries."""
        if np.array_equal(self.judgments.query, self.candidates.query):
            return self.judgments
        mine = np.isin(self.judgments.query, self.candidates.query)
        return self.judgments if bool(mine.all()) else self.judgments.take(np.flatnonzero(mine))

    @cached_property
    def _joined(self) -> tuple[Ragged, NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return the union's rows, where candidates are in it, its grades (negative as 0) and its judged flags."""
        join = outer_join(self.candidates, self.own)
        grade = join.from_right(np.maximum(self.own.grade, 0).astype(np.float64))
        judged = join.from_right(np.ones(self.own.nnz, dtype=np.bool_))
        return join.over, join.left, grade, judged

    @property
    def union(self) -> Ragged:
        """Candidates and judged documents, whatever the rule."""
        return self._joined[0]

    @property
    def union_grade(self) -> NDArray[np.float64]:
        """float64 (union.nnz,), negative and missing grades as 0."""
        return self._joined[2]

    @cached_property
    def _kept(self) -> NDArray[np.int64] | None:
        return None if self.rule == "union" else np.flatnonzero(self._joined[3])

    @cached_property
    def over(self) -> Ragged:
        """The rows that count, documents ascending by code."""
        union, kept = self.union, self._kept
        if kept is None:
            return union
        return Ragged(union.query, np.searchsorted(kept, union.indptr), union.doc[kept])

    @cached_property
    def grade(self) -> NDArray[np.float64]:
        """float64 (over.nnz,), at least 0."""
        return self._keep(self.union_grade)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Boolean (over.nnz,)."""
        return self._keep(self._joined[3])

    @cached_property
    def candidate_grade(self) -> NDArray[np.float64]:
        """float64 (candidates.nnz,), at least 0."""
        return self.of_candidates(self.union_grade)

    @cached_property
    def candidate_judged(self) -> NDArray[np.bool_]:
        """Boolean (candidates.nnz,)."""
        return self.of_candidates(self._joined[3])

    @cached_property
    def candidate_counts(self) -> NDArray[np.bool_]:
        """Boolean (candidates.nnz,), whether a candidate is a document that counts."""
        return self.candidate_judged if self.rule == "judged" else np.ones(self.candidates.nnz, dtype=np.bool_)

    @cached_property
    def query_judged(self) -> NDArray[np.bool_]:
        """Boolean (B,), whether a query has any judgment."""
        return np.bincount(self.union.row_index[self._joined[3]], minlength=len(self.union)) > 0

    def of_candidates(self, value: NDArray[Any]) -> NDArray[Any]:
        """Pick the candidates' entries of an array over the union."""
        return value[self._joined[1]]

    def spread(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring a value of the candidates to the documents that count, 0 for those that are no candidates."""
        out = np.zeros(self.union.nnz)
        out[self._joined[1]] = value
        return self._keep(out)

    def _keep(self, value: NDArray[Any]) -> NDArray[Any]:
        return value if self._kept is None else value[self._kept]
