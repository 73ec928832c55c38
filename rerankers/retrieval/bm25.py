"""BM25 by Lucene (pyserini's jar): the index is found again by content, the hits by index and queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.cache import StageCache, remove_leftovers
from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import unwritable
from rerankers._base.fingerprint import fingerprint
from rerankers._base.progress import busy, steps
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.further_runs import check_runs, with_runs
from rerankers.retrieval.jvm import check_heap, find_jar
from rerankers.values import Candidates
from rerankers.values.storage import read_ragged, write_ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.retrieval.lucene import LuceneIndex
    from rerankers.values import Collection, DocumentStore

INDEX_VERSION = "index-2"
CANDIDATES_VERSION = "candidates-1"


@dataclass(frozen=True, slots=True)
class BM25:
    """Okapi BM25 as Lucene computes it, over one field of joined texts.

    Attributes
    ----------
    k
        candidates a query.
    k1, b
        BM25's parameters; the defaults are Anserini's.
    fields
        the document fields to index, joined by a blank; None takes the collection's text fields.
    threads
        Java threads for indexing and search; None takes all cores. Results do not depend on it.
    heap
        Java's memory, fixed when its virtual machine starts.
    runs, pool
        further runs, and whether their documents are ranked too; see `rerankers.retrieval.further_runs`.
    """

    k: int = 1000
    k1: float = 0.9
    b: float = 0.4
    fields: list[str] | None = None
    threads: int | None = None
    heap: str = "4g"
    runs: list[str] | None = None
    pool: str = "first"

    def __post_init__(self) -> None:
        check_runs(self.runs, self.pool)
        if self.k < 1:
            raise ConfigError(f"retriever.k: found {self.k}; expected at least 1")
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"retriever.threads: found {self.threads}; expected at least 1, or null for all cores")
        if not (math.isfinite(self.k1) and self.k1 >= 0 and 0 <= self.b <= 1):
            raise ConfigError(f"retriever.k1, b: found {self.k1}, {self.b}; expected k1 >= 0 and 0 <= b <= 1")
        if self.fields is not None and not self.fields:
            raise ConfigError("retriever.fields: found an empty list; expected field names, or null for the usual ones")
        check_heap(self.heap)

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        """Return the best ``k`` documents of every topic.

        Raises
        ------
        ConfigError
            when the collection has no texts or no such field.
        MissingError
            when Java or pyserini is missing; and, with InputError, as `rerankers.retrieval.further_runs.with_runs`.
        """
        documents = _texts_of(collection)
        store = StageCache(cache)
        seconds: dict[str, float] = {}
        folder = self._index_folder(documents, cache)
        inputs = {
            "index": folder.name,
            "topics": fingerprint(collection.topics.ids.fingerprint, list(collection.topics.text)),
            "docs": collection.docs.fingerprint,
            "k": self.k,
            "k1": float(self.k1),
            "b": float(self.b),
        }

        def search(target: Path) -> None:
            with self._open(documents, folder, seconds) as index:
                start = perf_counter()
                candidates = self._search(index, collection)
                seconds["search"] = perf_counter() - start
            write_ragged(target / "candidates.parquet", candidates, collection.docs)

        entry, _ = store.get_or_make(CANDIDATES_VERSION, inputs, search)
        candidates = read_ragged(entry / "candidates.parquet", Candidates, collection.docs)
        empty = int(np.sum(candidates.lengths == 0))
        found = Retrieved(collection.docs, candidates, {"queries_without_candidates": empty}, seconds)
        return with_runs(found, collection, self.runs, self.pool)

    def scores(self, collection: Collection, candidates: Candidates, cache: Path) -> NDArray[np.float64]:
        """Return the BM25 score of exactly the given candidates, float64 (nnz,), whatever their rank.

        A document without a term of its query scores 0.
        """
        return self._score(collection, candidates, cache, None)

    def likelihoods(
        self, collection: Collection, candidates: Candidates, cache: Path, mu: float = 1000.0
    ) -> NDArray[np.float64]:
        """Return the log likelihood of the query under each candidate's Dirichlet-smoothed language model.

        It is over the same index as `scores`, in the form of Lucene (see `LuceneIndex.score`): float64 (nnz,), at
        least 0, and 0 without a term of the query.

        Parameters
        ----------
        mu
            the weight of the collection's language model in tokens, above 0; the default is Anserini's.
        """
        return self._score(collection, candidates, cache, mu)

    def _score(
        self, collection: Collection, candidates: Candidates, cache: Path, mu: float | None
    ) -> NDArray[np.float64]:
        documents = _texts_of(collection)
        with self._open(documents, self._index_folder(documents, cache), {}) as index:
            texts = [collection.topics.text[code] for code in candidates.query]
            names = collection.docs.names.take(candidates.doc)
            return index.score(texts, candidates.indptr, names, k1=self.k1, b=self.b, threads=self.threads, mu=mu)

    def _fields(self, documents: DocumentStore) -> list[str]:
        if self.fields is None:
            return list(documents.fields)
        return [choose("retriever.fields", name, documents.fields) for name in self.fields]

    def _index_folder(self, documents: DocumentStore, cache: Path) -> Path:
        # Lucene's files can be read by the version that wrote them: the jar is part of the index's name.
        return cache / INDEX_VERSION / fingerprint(documents.fingerprint, self._fields(documents), find_jar().name)

    def _open(self, documents: DocumentStore, folder: Path, seconds: dict[str, float]) -> LuceneIndex:
        from rerankers.retrieval.lucene import LuceneIndex, build_index

        if not folder.is_dir():
            start = perf_counter()
            remove_leftovers(folder.parent)
            try:
                texts = steps(documents.texts(self._fields(documents)), "index", "document")
                build_index(texts, folder, threads=self.threads, heap=self.heap)
            except OSError as error:
                raise unwritable(folder, error) from error
            seconds["index"] = perf_counter() - start
        return LuceneIndex(folder, heap=self.heap)

    def _search(self, index: LuceneIndex, collection: Collection) -> Candidates:
        with busy(f"search of {len(collection.topics):,} queries"):
            hits = index.search(collection.topics.text, self.k, k1=self.k1, b=self.b, threads=self.threads)
        code = collection.docs.codes(index.docnos)
        return Candidates(
            np.arange(len(collection.topics), dtype=np.int32),
            hits.indptr,
            code[hits.document],
            {"score": hits.score},
        )


def _texts_of(collection: Collection) -> DocumentStore:
    if collection.documents is None or not collection.documents.fields:
        raise ConfigError(
            "retriever: bm25 needs document texts, which this collection lacks: name their keys in "
            "collection.text_fields, or use retriever=run_file"
        )
    return collection.documents
