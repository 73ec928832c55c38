"""A first stage for collections that say which documents are to be ranked: scores from a file, or by BM25."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.collections.trec_fair import CandidateCollection
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.bm25 import BM25
from rerankers.retrieval.further_runs import check_runs, with_runs
from rerankers.retrieval.score_files import read_scores
from rerankers.values import Candidates
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from rerankers.values import Collection, Counts

SCORES = ("file", "bm25", "none")
SCORE, PROBABILITY = KINDS = ("score", "probability")


@dataclass(frozen=True, slots=True)
class GivenCandidates:
    """Rank the collection's own candidates, all of them.

    Attributes
    ----------
    by
        ``file``: scores of a CSV or TSV file; ``bm25``: Lucene's BM25 of each candidate, 0 without a common term;
        ``none``: all scores are 0.
    path
        the file, with a header ``qid``, ``doc_id`` and a column of numbers.
    column
        that column; None takes the only other one, or ``est_relevance``.
    kind
        how the file's numbers are to be read: ``probability`` (of relevance; numbers outside [0, 1] are errors) or
        ``score``, of which only the order and the distances within a query count. None: probabilities where all lie
        in [0, 1].
    missing
        number of candidates that the file does not have; they are counted.
    k1, b, fields, threads, heap
        of `BM25`.
    runs
        further runs as columns of the candidates; see `rerankers.retrieval.further_runs`.

    Notes
    -----
    Order is by score, equal ones by docno. Probabilities are kept as the column ``estimates`` too, which is what
    methods believe: Plackett-Luce takes their logarithm, of 1e-12 where they are less.
    """

    by: str = "bm25"
    path: str | None = None
    column: str | None = None
    kind: str | None = None
    missing: float = 0.0
    k1: float = 0.9
    b: float = 0.4
    fields: list[str] | None = None
    threads: int | None = None
    heap: str = "4g"
    runs: list[str] | None = None

    def __post_init__(self) -> None:
        choose("retriever.by", self.by, SCORES)
        check_runs(self.runs)
        if (self.by == "file") != (self.path is not None):
            found = f"by={self.by} and path={'null' if self.path is None else self.path}"
            raise ConfigError(f"retriever: found {found}; expected a path with by=file, and only there")
        if not math.isfinite(self.missing):
            raise ConfigError(f"retriever.missing: found {self.missing}; expected a finite number")
        if self.kind is not None:
            choose("retriever.kind", self.kind, KINDS)
        if self.kind is not None and self.by != "file":
            raise ConfigError(f"retriever.kind: found {self.kind} with by={self.by}; expected null, or by=file")
        if self.kind == PROBABILITY and not 0.0 <= self.missing <= 1.0:
            raise ConfigError(f"retriever.missing: found {self.missing}; expected a probability, from 0 to 1")
        self._bm25()

    def _bm25(self) -> BM25:
        return BM25(k1=self.k1, b=self.b, fields=self.fields, threads=self.threads, heap=self.heap)

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        """Return the candidates with their scores.

        Raises
        ------
        ConfigError
            for a collection without candidates of its own, or a column that the file does not have.
        InputError
            with every problem of a file and its line.
        MissingError
            when a file is not there; and as `BM25`.
        """
        if not isinstance(collection, CandidateCollection):
            raise ConfigError(
                f"retriever=candidates: the collection {collection.name!r} names no candidates; expected "
                "collection=trec_fair_2020, trec_fair_2019 or letor, or another retriever"
            )
        given, counts = collection.candidates, met()
        columns: dict[str, NDArray[np.float64]] = {}
        if self.by == "bm25":
            columns["score"], counts = self._bm25_scores(collection, cache)
        elif self.path is not None:
            columns["score"], counts = self._file_scores(collection, self.path)
            unit = bool(np.all((columns["score"] >= 0) & (columns["score"] <= 1)))
            if self.kind == PROBABILITY or (self.kind is None and unit):
                columns["estimates"] = columns["score"]
        else:
            columns["score"] = np.zeros(given.nnz)
        order = np.lexsort((given.doc, -columns["score"], given.row_index))
        columns = {name: column[order] for name, column in columns.items()}
        candidates = Candidates(given.query, given.indptr, given.doc[order], columns)
        empty = met(queries_without_candidates=int(np.sum(given.lengths == 0)))
        found = Retrieved(collection.docs, candidates, {**counts, **empty})
        return with_runs(found, collection, self.runs)

    def _file_scores(self, collection: CandidateCollection, path: str) -> tuple[NDArray[np.float64], Counts]:
        scores = read_scores(path, self.column, probability=self.kind == PROBABILITY)
        placed = scores.placed(collection.candidates, collection.topics, collection.docs)
        unknown = np.isnan(placed.score)
        return np.where(unknown, float(self.missing), placed.score), met(
            candidates_without_score=int(np.sum(unknown)),
            scores_of_documents_that_are_no_candidates=placed.elsewhere,
        )

    def _bm25_scores(self, collection: CandidateCollection, cache: Path) -> tuple[NDArray[np.float64], Counts]:
        """Return the score of each candidate; one without metadata is not in the index, and scores 0."""
        given, documents = collection.candidates, collection.documents
        indexed = np.zeros(len(collection.docs), dtype=bool)
        if documents is not None:
            names = [docno for docno, _ in documents.texts(documents.fields[:1])]
            indexed[collection.docs.codes(names)] = True
        known = indexed[given.doc]
        indptr = np.concatenate([[0], np.cumsum(known)])[given.indptr]
        score = np.zeros(given.nnz)
        score[known] = self._bm25().scores(collection, Candidates(given.query, indptr, given.doc[known]), cache)
        return score, met(candidates_without_text=int(np.sum(~known)))
