"""Everything of a job, coded over the documents that occur in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Ragged, Relevance, Topics

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Candidates, judgments and groups over the documents that are candidates or judged.

    A collection may have millions of documents; what travels to workers has only those of the pool. ``estimates`` are a
    model's beliefs about the candidates, if there is a model.
    """

    docs: Ids
    topics: Topics
    candidates: Candidates
    judgments: Judgments
    groups: Mapping[str, GroupAlignment]
    estimates: Relevance | None = None

    def with_estimates(self, estimates: Relevance) -> Pool:
        """Return the pool with beliefs about its candidates."""
        return replace(self, estimates=estimates)

    def part(self, start: int, stop: int) -> Part:
        """Return rows start:stop of the candidates with what belongs to their queries."""
        candidates = self.candidates.rows(start, stop)
        judged = np.nonzero(np.isin(self.judgments.query, candidates.query))[0]
        low, high = int(self.candidates.indptr[start]), int(self.candidates.indptr[stop])
        return Part(
            candidates,
            self.judgments.take(judged),
            self.topics.stream[candidates.query],
            None if self.estimates is None else self.estimates.rows(low, high),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A block of queries with their judgments, for measuring. Methods see only a `Block`, made without judgments."""

    candidates: Candidates
    judgments: Judgments
    stream: NDArray[np.uint64]
    estimates: Relevance | None = None


def make_pool(
    docs: Ids, topics: Topics, candidates: Candidates, judgments: Judgments, groups: Mapping[str, GroupAlignment]
) -> Pool:
    """Keep the documents that occur; all arguments are coded by ``docs``."""
    used = _occurring(len(docs), candidates, judgments)
    if len(used) == len(docs):
        return Pool(docs, topics, candidates, judgments, groups)
    # A subset of sorted ids is sorted, so the order of codes, and with it every tie, stays.
    kept = Ids.of(docs.names.take(used), "document")
    recoder = np.full(len(docs), -1, dtype=np.int32)
    recoder[used] = np.arange(len(used), dtype=np.int32)
    return Pool(
        kept,
        topics,
        candidates.recode(recoder),
        judgments.recode(recoder),
        {name: alignment.recode(docs, kept) for name, alignment in groups.items()},
    )


def _occurring(n_docs: int, *rows: Ragged) -> NDArray[np.int64]:
    seen = np.zeros(n_docs, dtype=bool)
    for value in rows:
        seen[value.doc] = True
    return np.nonzero(seen)[0]
