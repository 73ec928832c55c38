"""Features that are there already: the first stage's score, and columns that came with the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.collections.trec_fair import CandidateCollection
from rerankers.features.base import Columns
from rerankers.features.values import finite
from rerankers.values import outer_join
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext
    from rerankers.values import Candidates

NOT_FEATURES = ("score", "estimates")


@dataclass(frozen=True, slots=True)
class FirstStage:
    """``first_stage``: the first stage's score of each candidate."""

    name: ClassVar[str] = "first_stage"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if "score" in context.candidates.columns else "candidates with scores"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        score, counts = finite(self.name, context.candidates.score)
        return Columns({self.name: score}, {self.name: ("score",)}, counts=counts)


@dataclass(frozen=True, slots=True)
class Given:
    """``given.NAME``: columns that the candidates bring, or the collection's own candidates (of SVMlight files, say).

    Missing for candidates that the collection's own do not have.
    """

    name: ClassVar[str] = "given"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if _names(_holder(context)) else "candidates with columns of features"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        holder, over = _holder(context), context.candidates
        values: dict[str, NDArray[np.float64]] = {}
        counts: dict[str, int] = {}
        place = None if holder is over else _places(holder, over)
        for name in _names(holder):
            column = np.asarray(holder.columns[name], dtype=np.float64)
            if place is not None:
                column = np.append(column, np.nan)[place]  # place -1 is a pair that is not there
            values[f"given.{name}"], found = finite(f"given.{name}", column)
            counts |= found
        missing = 0 if place is None else int(np.sum(place < 0))
        sources = {name: (name.replace(".", ":", 1),) for name in values}
        return Columns(values, sources, counts=met(**counts, pairs_without_given_features=missing))


def _names(candidates: Candidates) -> list[str]:
    return [name for name in candidates.columns if name not in NOT_FEATURES]


def _holder(context: FeatureContext) -> Candidates:
    """Return the candidates that have the columns: those to be ranked, else the collection's own."""
    collection = context.collection
    if isinstance(collection, CandidateCollection) and not _names(context.candidates):
        return collection.candidates
    return context.candidates


def _places(holder: Candidates, over: Candidates) -> NDArray[np.int64]:
    """Return where each pair of ``over`` is in ``holder``, int64 (nnz,), -1 where it is not."""
    join = outer_join(over, holder)
    there = join.from_right(np.arange(holder.nnz, dtype=np.int64), fill=-1)
    place: NDArray[np.int64] = there[join.left]
    return place
