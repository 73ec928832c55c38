"""Everything of a job, coded over the documents that occur in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.spool import Spool
from rerankers.values import Block, Candidates, GroupAlignment, Ids, Judgments, Ragged, Rankings, Relevance, Topics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Options
    from rerankers.methods.targets import Target

PAIRS = 1 << 22
"""Candidates looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Candidates, judgments and groups over the documents that are candidates or judged.

    A collection may have millions of documents; what travels to workers has only those of the pool.

    Attributes
    ----------
    docs, topics, candidates, judgments
        the documents that occur, and what is coded by them.
    groups
        attribute -> resolved alignment of the groups whose exposure is measured.
    estimates
        a model's beliefs about the candidates; None where there is no model.
    authors
        who wrote what, for methods that keep accounts of authors; None for others.
    served
        the rankings that were served, at least one a row of the candidates; None where methods make policies.
    predicted
        attribute -> alignment that methods see in place of ``groups``; None where they see those.
    companions
        what documents carry besides groups, for measures (`rerankers.values.companions`).
    """

    docs: Ids
    topics: Topics
    candidates: Candidates
    judgments: Judgments
    groups: Mapping[str, GroupAlignment]
    estimates: Relevance | None = None
    authors: GroupAlignment | None = None
    served: Rankings | None = None
    predicted: Mapping[str, GroupAlignment] | None = None
    companions: Mapping[str, GroupAlignment] = field(default_factory=dict)

    @property
    def shown(self) -> Mapping[str, GroupAlignment]:
        """The groups that methods of the tiers of groups may see."""
        return self.groups if self.predicted is None else self.predicted

    @property
    def stream(self) -> NDArray[np.uint64]:
        """uint64 (B, 2), digests of the queries of the rows."""
        return self.topics.stream[self.candidates.query]

    def with_estimates(self, estimates: Relevance) -> Pool:
        """Return the pool with beliefs about its candidates."""
        return replace(self, estimates=estimates)

    def with_served(self, rankings: Rankings) -> Pool:
        """Return the pool of the queries that were asked, with the rankings that they were served."""
        rows = np.flatnonzero(rankings.counts > 0)
        return replace(self.rows(rows), served=rankings.take(rows))

    def rows(self, rows: NDArray[np.int64]) -> Pool:
        """Return the pool with some rows of its candidates."""
        place = np.arange(self.candidates.nnz)
        kept = Candidates(self.candidates.query, self.candidates.indptr, self.candidates.doc, {"place": place})
        estimates = None if self.estimates is None else self.estimates.at(kept.take(rows).columns["place"])
        return replace(self, candidates=self.candidates.take(rows), estimates=estimates)

    def named(self, part: Part) -> str:
        """Return which queries a part is of, in words."""
        first, *others = self.topics.ids.take(part.candidates.query)
        return f"queries {first} to {others[-1]} ({1 + len(others):,})" if others else f"query {first}"

    def part(self, start: int, stop: int) -> Part:
        """Return rows start:stop of the candidates with what belongs to their queries."""
        candidates = self.candidates.rows(start, stop)
        low, high = int(self.candidates.indptr[start]), int(self.candidates.indptr[stop])
        return Part(
            candidates,
            self._judged(candidates),
            self.topics.stream[candidates.query],
            None if self.estimates is None else self.estimates.rows(low, high),
            None if self.served is None else self.served.take(np.arange(start, stop)),
        )

    def _judged(self, candidates: Candidates) -> Judgments:
        """Return the judgments of the queries of some candidates."""
        query, mine = self.judgments.query, candidates.query
        if not len(mine):
            return self.judgments.rows(0, 0)
        low, high = mine.min(), mine.max()
        near = np.flatnonzero((query >= low) & (query <= high))  # a few of very many queries
        return self.judgments.take(near[np.isin(query[near], mine)])

    def parts(self, pairs: int = PAIRS) -> Iterator[Part]:
        """Yield the pool in parts of whole queries, of about so many candidates each."""
        ends = self.candidates.indptr[1:]
        starts = np.searchsorted(ends, np.arange(0, max(self.candidates.nnz, 1), pairs), side="right")
        for start, stop in pairwise([0, *np.unique(starts[starts > 0]).tolist(), len(self.candidates)]):
            if start < stop:
                yield self.part(start, stop)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A block of queries with their judgments, for measuring. Methods see only a `Block`, made without judgments."""

    candidates: Candidates
    judgments: Judgments
    stream: NDArray[np.uint64]
    estimates: Relevance | None = None
    served: Rankings | None = None

    def block(self, seen: Mapping[str, GroupAlignment], options: Options, target: Target | None) -> Block:
        """Return what a method is shown: everything but the judgments."""
        return Block(
            self.candidates,
            self.stream,
            seen,
            estimates=self.estimates,
            browsing=options.model,
            target=target,
            seed=options.seed,
        )


def make_pool(
    docs: Ids,
    topics: Topics,
    candidates: Candidates,
    judgments: Judgments,
    groups: Mapping[str, GroupAlignment],
    authors: GroupAlignment | None = None,
    predicted: Mapping[str, GroupAlignment] | None = None,
    companions: Mapping[str, GroupAlignment] | None = None,
    folder: Path | None = None,
) -> Pool:
    """Keep the documents that occur; all arguments are coded by ``docs``.

    ``folder`` is for a file without a name, where the candidates are very many; None keeps them in memory.
    """
    used = _occurring(len(docs), candidates, judgments)
    if len(used) == len(docs):
        return Pool(
            docs,
            topics,
            candidates,
            judgments,
            groups,
            authors=authors,
            predicted=predicted,
            companions=companions or {},
        )
    # A subset of sorted ids is sorted, so the order of codes, and with it every tie, stays.
    kept = Ids.of(docs.names.take(used), "document")
    recoder = np.full(len(docs), -1, dtype=np.int32)
    recoder[used] = np.arange(len(used), dtype=np.int32)
    return Pool(
        kept,
        topics,
        _recoded_candidates(candidates, recoder, folder),
        judgments.recode(recoder),
        _recoded(groups, docs, kept),
        authors=None if authors is None else authors.recode(docs, kept),
        predicted=None if predicted is None else _recoded(predicted, docs, kept),
        companions=_recoded(companions or {}, docs, kept),
    )


def _recoded_candidates(candidates: Candidates, recoder: NDArray[np.int32], folder: Path | None) -> Candidates:
    doc = Spool(np.int32, folder=folder)
    for start in range(0, candidates.nnz, PAIRS):
        doc.append(recoder[candidates.doc[start : start + PAIRS]])
    return Candidates(candidates.query, candidates.indptr, doc.array(), candidates.columns)


def _recoded(groups: Mapping[str, GroupAlignment], docs: Ids, kept: Ids) -> dict[str, GroupAlignment]:
    return {name: alignment.recode(docs, kept) for name, alignment in groups.items()}


def _occurring(n_docs: int, *rows: Ragged) -> NDArray[np.int64]:
    seen = np.zeros(n_docs, dtype=bool)
    for value in rows:
        for start in range(0, value.nnz, PAIRS):
            seen[value.doc[start : start + PAIRS]] = True
    return np.nonzero(seen)[0]
