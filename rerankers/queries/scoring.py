"""The objectives of candidate queries: relevance to the original, and balance on each axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.measures.divergences import jsd
from rerankers.queries.alternatives import expected_judged
from rerankers.queries.distributions import WEIGHTS, Distribution, rank_weights
from rerankers.queries.looks import ListLook
from rerankers.queries.relevance_of_lists import KINDS, cosine_f1, id_f1
from rerankers.queries.scored import RELEVANCE, Candidate, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.axes import Axis
    from rerankers.queries.generators.base import Query
    from rerankers.queries.searching import Searcher

FORMS: Final = ("corrected", "paper")
LOW_COVERAGE: Final = "coverage_below_least"
ORIGINAL_FINDS_NOTHING: Final = "original_finds_nothing"
ORIGINAL_UNKNOWN: Final = "original_has_no_distribution"


def difference_name(axis: str) -> str:
    """Return the name of the published score of an axis, which is no balance."""
    return f"difference_from_original({axis})"


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How candidates are scored.

    Attributes
    ----------
    depth
        n, how many documents of a query count, at least 1.
    relevance
        ``cosine`` (of tf-idf vectors) or ``id``: see `rerankers.queries.relevance_of_lists`.
    weights, patience
        of ranks, see `rank_weights`.
    least_coverage
        least share of the weight that must be on documents with a label, 0 to 1; a candidate below it has no value
        on that axis and is in no front.
    form
        ``corrected``: an axis is closeness to its target; ``paper``: the Jensen-Shannon divergence (bits) from the
        distribution of the original query, under the name ``difference_from_original(axis)``.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    depth: int = 20
    relevance: str = "cosine"
    weights: str = "log2"
    patience: float = 0.5
    least_coverage: float = 0.5
    form: str = "corrected"

    def __post_init__(self) -> None:
        choose("relevance", self.relevance, KINDS)
        choose("weights", self.weights, WEIGHTS)
        choose("form", self.form, FORMS)
        if self.depth < 1:
            raise ConfigError(f"depth: found {self.depth}; expected at least 1")
        if not 0 <= self.least_coverage <= 1:
            raise ConfigError(f"least_coverage: found {self.least_coverage}; expected a share from 0 to 1")
        if not 0 < self.patience < 1:
            raise ConfigError(f"patience: found {self.patience}; expected above 0 and below 1")


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A candidate with everything that results tell of it.

    Attributes
    ----------
    scored
        documents and objectives.
    relevance
        ``id`` and ``cosine`` -> value, whichever is the objective; None where it has none.
    closeness
        axis -> closeness to the target, also where the coverage is too low for an objective.
    difference
        axis -> divergence from the distribution of the original, in bits; None where one of them has none.
    """

    scored: Scored
    relevance: Mapping[str, float | None]
    closeness: Mapping[str, float | None]
    difference: Mapping[str, float | None]


class Scorer:
    """Scores the candidates of queries.

    Parameters
    ----------
    searcher
        that finds their documents.
    axes
        none for relevance alone.
    options
        how.
    vectors
        sparse (D, V) of documents by code, rows of length 1; None where texts are not looked at, then ``cosine`` has
        no value.
    judged
        topic -> (int (j,), int (j,)), its judged documents and their grades.
    """

    def __init__(
        self,
        searcher: Searcher,
        axes: Sequence[Axis],
        options: ScoringOptions,
        vectors: Any = None,
        judged: Mapping[str, tuple[NDArray[np.integer], NDArray[np.integer]]] | None = None,
    ) -> None:
        if vectors is None and options.relevance == "cosine":
            raise ConfigError("relevance: found cosine, but the documents have no texts; expected relevance=id")
        self.axes, self.options = tuple(axes), options
        self.vectors = vectors
        self._searcher, self._judged = searcher, judged or {}

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the objectives in their order."""
        named = [axis.name if self.options.form == "corrected" else difference_name(axis.name) for axis in self.axes]
        return (RELEVANCE, *named)

    def documents(self, text: str) -> NDArray[np.int32]:
        """Return the first documents of a query, int32 (at most depth,)."""
        return self._searcher.hits(text).docs[: self.options.depth]

    def score(self, query: Query, candidates: Sequence[Candidate]) -> list[Evaluated]:
        """Return the candidates of a query with their objectives, in their order; all texts were searched before."""
        own = self.documents(query.text)
        lists = [self.documents(candidate.text) for candidate in candidates]
        cosine = [None] * len(lists) if self.vectors is None else cosine_f1(own, lists, self.vectors).tolist()
        judged = [self._measures(query.id, docs) for docs in lists]
        base = {axis.name: self._spread(axis, own) for axis in self.axes}
        return [
            self._one(query, candidate, docs, {"id": id_f1(own, docs), "cosine": near}, base, values, bool(len(own)))
            for candidate, docs, near, values in zip(candidates, lists, cosine, judged, strict=True)
        ]

    def relevance(self, query: Query, texts: Sequence[str]) -> list[float]:
        """Return the relevance of texts, which were searched, to a query: float, 0 to 1, one a text."""
        own, lists = self.documents(query.text), [self.documents(text) for text in texts]
        if self.options.relevance == "id":
            return [id_f1(own, docs) for docs in lists]
        near: list[float] = cosine_f1(own, lists, self.vectors).tolist()
        return near

    def _measures(self, topic: str, docs: NDArray[np.int32]) -> dict[str, float | None]:
        known = self._judged.get(topic)
        return {} if known is None else expected_judged(ListLook(docs), *known, self.options.depth)

    def _spread(self, axis: Axis, docs: NDArray[np.int32]) -> Distribution:
        return axis.distribution(docs, rank_weights(self.options.weights, len(docs), self.options.patience))

    def _one(
        self,
        query: Query,
        candidate: Candidate,
        docs: NDArray[np.int32],
        relevance: Mapping[str, float | None],
        base: Mapping[str, Distribution],
        judged: Mapping[str, float | None],
        found: bool,
    ) -> Evaluated:
        objectives: dict[str, float | None] = {RELEVANCE: relevance[self.options.relevance] if found else None}
        reasons = {} if found else {RELEVANCE: ORIGINAL_FINDS_NOTHING}
        spreads, near, gaps = dict[str, Distribution](), dict[str, float | None](), dict[str, float | None]()
        for axis, name in zip(self.axes, self.objectives[1:], strict=True):
            spread = spreads[axis.name] = self._spread(axis, docs)
            near[axis.name], reason = axis.closeness(spread, query.id)
            gaps[axis.name] = _difference(spread, base[axis.name])
            value = near[axis.name]
            if self.options.form == "paper":
                value = gaps[axis.name]
                reason = "" if value is not None else spread.reason or ORIGINAL_UNKNOWN
            known = 1.0 - (1.0 if spread.unknown_share is None else spread.unknown_share)
            if value is not None and known < self.options.least_coverage and not _equal(known, self.options):
                value, reason = None, LOW_COVERAGE
            objectives[name] = value
            if value is None:
                reasons[name] = reason
        scored = Scored(
            candidate,
            docs,
            objectives,
            reasons,
            {name: spread.named() for name, spread in spreads.items()},
            {name: spread.unknown_share for name, spread in spreads.items() if spread.unknown_share is not None},
            judged,
        )
        if not len(docs):
            relevance = dict.fromkeys(relevance, 0.0)
        return Evaluated(scored, relevance, near, gaps)


def _equal(known: float, options: ScoringOptions) -> bool:
    """Whether a coverage is the least one but for rounding."""
    return math.isclose(known, options.least_coverage, rel_tol=1e-12, abs_tol=1e-12)


def _difference(one: Distribution, other: Distribution) -> float | None:
    if one.shares is None or other.shares is None:
        return None
    return float(jsd(one.shares, other.shares))
