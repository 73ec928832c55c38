"""Candidates from a run of any length: read piece by piece, kept in files without a name where they are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.spool import Spool
from rerankers.retrieval.listed import listed, read_listed, trusted_scores
from rerankers.values import Candidates, Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.runs import Run
    from rerankers.values import Collection, Topics

_STEP = 1 << 22  # candidates looked at at once


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a run gives to the topics of a collection.

    Attributes
    ----------
    docs
        the collection's documents, and those that only the run has.
    candidates
        one row a topic, empty where the run has none; coded by ``docs``, column ``score``.
    asked
        bool (topics,), whether the run has a ranking of the topic.
    queries, repeated, replaced
        queries of the run; those whose ranking it repeats; those whose scores are not the file's.
    counts
        of the reader.
    """

    docs: Ids
    candidates: Candidates
    asked: NDArray[np.bool_]
    queries: int
    repeated: int
    replaced: int
    counts: dict[str, int]


def read_candidates(path: Path, name: str, collection: Collection, k: int, score: str, cache: Path) -> Found:
    """Read a run with one ranking a query as candidates for the topics of a collection.

    Parameters
    ----------
    path, name
        of the file, and what messages call it.
    k
        candidates kept a query.
    score
        what becomes of the file's scores, see `rerankers.retrieval.RunFile`.
    cache
        folder for files without a name.

    Raises
    ------
    MissingError
        when the file is not there.
    InputError
        when it is wrong, or has rankings of a query that differ.
    """
    from rerankers.runs.pieces import QueriesApartError, run_pieces

    gathered = _Gathered(collection.docs, k, score, cache)
    try:
        for piece in run_pieces(path):
            run = replace(piece, name=name)
            gathered.add(run, *listed(run))
    except QueriesApartError:  # only the whole file tells the rankings
        gathered = _Gathered(collection.docs, k, score, cache)
        gathered.add(*read_listed(name))
    return gathered.found(collection.topics)


class _Gathered:
    """Pieces of a run, one after the other."""

    def __init__(self, known: Ids, k: int, score: str, cache: Path) -> None:
        self._known, self._k, self._how, self._cache = known, k, score, cache
        self._doc, self._score = self._spools()
        self._lengths: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        self._qids: list[pa.LargeStringArray] = []
        self._strangers: list[pa.LargeStringArray] = []
        self._strange = self._repeated = self._replaced = 0
        self._counts: Counter[str] = Counter()

    def _spools(self) -> tuple[Spool, Spool]:
        return Spool(np.int32, folder=self._cache), Spool(np.float64, folder=self._cache)

    def add(self, run: Run, rows: Candidates, repeated: int) -> None:
        """Take the candidates of a piece, best first a query."""
        from rerankers.runs.pieces import add_counts

        score, replaced = trusted_scores(rows, self._how)
        keep = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], rows.lengths) < self._k
        code = self._codes(run.docs)
        self._doc.append(code[rows.doc[keep]])
        self._score.append(score[keep])
        self._lengths.append(np.minimum(rows.lengths, self._k))
        self._qids.append(pa.array(run.qids, pa.large_string()))
        self._repeated += repeated
        self._replaced += replaced
        add_counts(self._counts, run.counts)

    def _codes(self, docs: Ids) -> NDArray[np.int32]:
        """Return the code of each document; those that the collection lacks count down from -1."""
        code = docs.recoder(self._known)
        strange = np.flatnonzero(code < 0)
        if len(strange):
            code = code.copy()
            code[strange] = -1 - self._strange - np.arange(len(strange))
            self._strangers.append(docs.names.take(pa.array(strange)))
            self._strange += len(strange)
        return code

    def found(self, topics: Topics) -> Found:
        """Return the candidates of the topics."""
        docs = Ids.union(self._known, *self._strangers) if self._strangers else self._known
        doc, score = self._doc.array(), self._score.array()
        if self._strangers:
            self._recode(doc, docs)
        qids = Ids.of(pa.concat_arrays(self._qids), "query id")
        source = topics.ids.recoder(qids)
        indptr = np.cumsum(np.concatenate(self._lengths))
        found = source >= 0
        lengths = np.zeros(len(source), dtype=np.int64)
        lengths[found] = np.diff(indptr)[source[found]]
        if not np.array_equal(source[found], np.arange(len(qids))):  # other topics, or in another order
            doc, score = self._in_order(indptr, source[found], doc, score)
        candidates = Candidates(
            np.arange(len(source), dtype=np.int32), np.concatenate([[0], np.cumsum(lengths)]), doc, {"score": score}
        )
        return Found(docs, candidates, found, len(qids), self._repeated, self._replaced, dict(self._counts))

    def _recode(self, doc: NDArray[np.int32], docs: Ids) -> None:
        """Give documents their codes in ``docs``, in place."""
        own = self._known.recoder(docs)
        strange = np.concatenate([docs.codes(names) for names in self._strangers])
        for start in range(0, len(doc), _STEP):
            some = doc[start : start + _STEP]
            lacking = some < 0
            some[lacking], some[~lacking] = strange[-1 - some[lacking]], own[some[~lacking]]

    def _in_order(
        self, indptr: NDArray[np.int64], rows: NDArray[np.int32], doc: NDArray[np.int32], score: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the entries of rows, in that order."""
        docs, scores = self._spools()
        for some in _cut(rows, np.diff(indptr)[rows]):
            lengths = np.diff(indptr)[some]
            place = np.repeat(indptr[some] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
            docs.append(doc[place])
            scores.append(score[place])
        return docs.array(), scores.array()


def _cut(rows: NDArray[np.int32], lengths: NDArray[np.int64]) -> Iterable[NDArray[np.int32]]:
    """Yield rows in ranges of about `_STEP` entries."""
    ends = np.cumsum(lengths)
    places = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) if len(ends) else 0, _STEP)))
    for start, stop in pairwise([*places.tolist(), len(rows)]):
        yield rows[start:stop]
