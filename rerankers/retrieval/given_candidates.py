"""A first stage for collections that say which documents are to be ranked: scores from a file, or by BM25."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, Problems, choose
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id
from rerankers.collections.trec_fair import CandidateCollection
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.bm25 import BM25
from rerankers.values import Candidates
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Collection, Counts, Ids

QUERY_COLUMNS, DOCUMENT_COLUMNS = ("qid", "query_id", "q_id"), ("docno", "doc_id", "id")
SCORES = ("file", "bm25", "none")


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
    missing
        score of candidates that the file does not have; they are counted.
    k1, b, fields, threads, heap
        of `BM25`.

    Notes
    -----
    Order is by score, equal ones by docno. Scores that all lie in [0, 1] are kept as the column ``estimates`` too,
    for methods that take probabilities of relevance.
    """

    by: str = "bm25"
    path: str | None = None
    column: str | None = None
    missing: float = 0.0
    k1: float = 0.9
    b: float = 0.4
    fields: list[str] | None = None
    threads: int | None = None
    heap: str = "4g"

    def __post_init__(self) -> None:
        choose("retriever.by", self.by, SCORES)
        if (self.by == "file") != (self.path is not None):
            found = f"by={self.by} and path={'null' if self.path is None else self.path}"
            raise ConfigError(f"retriever: found {found}; expected a path with by=file, and only there")
        if not math.isfinite(self.missing):
            raise ConfigError(f"retriever.missing: found {self.missing}; expected a finite number")
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
            with every problem of the file and its line.
        MissingError
            when the file is not there; and as `BM25`.
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
            columns["score"], counts = _read_scores(Path(self.path), self.column, self.missing, given, collection)
            if np.all((columns["score"] >= 0) & (columns["score"] <= 1)):
                columns["estimates"] = columns["score"]
        else:
            columns["score"] = np.zeros(given.nnz)
        order = np.lexsort((given.doc, -columns["score"], given.row_index))
        columns = {name: column[order] for name, column in columns.items()}
        candidates = Candidates(given.query, given.indptr, given.doc[order], columns)
        empty = met(queries_without_candidates=int(np.sum(given.lengths == 0)))
        return Retrieved(collection.docs, candidates, {**counts, **empty})

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


def _read_scores(
    path: Path, column: str | None, missing: float, given: Candidates, collection: CandidateCollection
) -> tuple[NDArray[np.float64], Counts]:
    """Return the score of each candidate, float64 (nnz,), and what was counted."""
    problems = Problems(str(path))
    table = Table(path, problems)
    problems.raise_if_any()
    query, document, score = _columns(table, column, problems)
    qids: list[str] = []
    docnos: list[str] = []
    values: list[float] = []
    first: dict[tuple[str, str], int] = {}
    for number, row in table:
        qid, docno = (fit_id(row[at], table.header[at], number, problems) for at in (query, document))
        value = _finite(row[score])
        if value is None:
            problems.add(number, f"{table.header[score]} {row[score]!r}", "a finite number")
        elif qid is not None and docno is not None:
            before = first.setdefault((qid, docno), number)
            if before != number:
                problems.add(number, f"query {qid!r}, document {docno!r} again, as in line {before}", "each pair once")
            qids.append(qid)
            docnos.append(docno)
            values.append(value)
    problems.raise_if_any()
    return _placed(given, collection.topics.ids.codes(qids), collection.docs, docnos, np.array(values), missing)


def _placed(
    given: Candidates,
    query: NDArray[np.int32],
    docs: Ids,
    docnos: list[str],
    value: NDArray[np.float64],
    missing: float,
) -> tuple[NDArray[np.float64], Counts]:
    doc, width = docs.codes(docnos).astype(np.int64), len(docs)
    own = given.query[given.row_index].astype(np.int64) * width + given.doc
    order = np.argsort(own)
    key = np.where((query >= 0) & (doc >= 0), query.astype(np.int64) * width + doc, -1)
    place = np.minimum(np.searchsorted(own[order], key), max(len(own) - 1, 0))
    known = own[order][place] == key if len(own) else np.zeros(len(key), dtype=bool)
    score = np.full(given.nnz, float(missing))
    found = np.zeros(given.nnz, dtype=bool)
    score[order[place[known]]] = value[known]
    found[order[place[known]]] = True
    return score, met(
        candidates_without_score=int(np.sum(~found)),
        scores_of_documents_that_are_no_candidates=int(np.sum(~known)),
    )


def _columns(table: Table, column: str | None, problems: Problems) -> tuple[int, int, int]:
    query, document = table.column(*QUERY_COLUMNS), table.column(*DOCUMENT_COLUMNS)
    if query is None or document is None:
        problems.add(1, f"the header {', '.join(table.header)}", "qid,doc_id and a column of numbers")
        problems.raise_if_any()
    others = [name for at, name in enumerate(table.header) if at not in (query, document)]
    if column is None:
        column = others[0] if len(others) == 1 else "est_relevance"
    chosen = choose(f"retriever.column ({table.header})", column, others)
    return query or 0, document or 0, table.header.index(chosen)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
