"""BM25 search over a Lucene index through pyserini's jar: best k, or exactly the given documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rerankers._base.errors import ConfigError, FairRerankersError, InputError
from rerankers.retrieval import lucene_queries
from rerankers.retrieval.documents import encodable
from rerankers.retrieval.handles import available_threads
from rerankers.retrieval.hits import Hits, rows_of
from rerankers.retrieval.index_files import (
    LUCENE_FOLDER,
    IndexStats,
    open_directory,
    read_docnos,
    read_stats,
)
from rerankers.retrieval.jvm import java_class, java_exception, java_reason, start_jvm
from rerankers.retrieval.lucene_build import build_index

__all__ = ["Hits", "IndexStats", "LuceneIndex", "build_index", "read_stats"]

_CHUNK_HITS: Final = 2_000_000  # about 100 MB in Java and 150 MB in Python while they cross
_CHUNK_QUERIES: Final = 10_000


class LuceneIndex:
    """An index made by `build_index`, open for searching; close it, or use it in a ``with``.

    Order and ties. Hits are ordered by score, then by docno in the order of code points, exactly,
    also where k cuts through equal scores, and for any number of threads. Lucene itself breaks ties
    by internal document number and keeps the lowest at the cut. `build_index` sorts the index by
    docno and merges it into one segment, so that this number *is* the rank of the docno; each query
    runs in one thread over that segment. Threads only share out the queries.

    Scores are those of Lucene's BM25 with its lossy document lengths (exact up to 40 terms). A score
    is the float32 of a float64 sum of the terms' float32 scores, so it does not depend on k.

    One index may be used from several Python threads.

    Parameters
    ----------
    folder : Path
        the folder given to `build_index`.
    heap : str, optional
        Java's memory if this starts the JVM, see `start_jvm`.
    """

    def __init__(self, folder: Path, *, heap: str | None = None) -> None:
        self.folder = Path(folder)
        self.stats: IndexStats = read_stats(self.folder)
        self.docnos: pa.LargeStringArray = read_docnos(self.folder, self.stats)
        start_jvm(heap)
        place = self.folder / LUCENE_FOLDER
        try:
            self._reader = java_class("org.apache.lucene.index.DirectoryReader").open(open_directory(place))
        except java_exception() as error:
            raise InputError.one(
                str(place),
                f"{java_reason(error)} (built with Anserini {self.stats.anserini}, Lucene {self.stats.lucene})",
                "an index that the installed pyserini can read",
                mend="Delete the folder and build it again",
            ) from error
        self._analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()

    def search(
        self,
        queries: Sequence[str],
        k: int = 1000,
        *,
        k1: float = 0.9,
        b: float = 0.4,
        threads: int | None = None,
    ) -> Hits:
        """Return up to ``k`` hits of each query, by score descending, then docno ascending.

        Parameters
        ----------
        queries : sequence of str
            B plain texts; no character is an operator.
        k : int
            most hits of a query; beyond the size of the index it means all documents with a term.
        k1, b : float
            BM25's parameters, k1 >= 0 and 0 <= b <= 1.
        threads : int, optional
            Java threads (default: the cores of this process).

        Returns
        -------
        Hits
            only documents with at least one term of the query.
        """
        if k < 1:
            raise ConfigError(f"k: found {k}; expected 1 or more")
        wanted = max(1, min(k, self.stats.documents))
        size = min(_CHUNK_QUERIES, max(1, _CHUNK_HITS // wanted))
        parts = []
        lengths = [np.empty(0, dtype=np.int64)]
        with self._running(k1, b, threads) as (pool, searcher):
            for start in range(0, len(queries), size):
                parsed, terms = self._parse(pool, queries[start : start + size])
                parts.append(lucene_queries.search(pool, searcher, parsed, wanted))
                lengths.append(terms)
        return Hits(
            indptr=np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *(part[0] for part in parts)])),
            document=np.concatenate([np.empty(0, dtype=np.int32), *(part[1] for part in parts)]),
            score=np.concatenate([np.empty(0), *(part[2] for part in parts)]),
            names=self.docnos,
            without_terms=np.flatnonzero(np.concatenate(lengths) == 0).astype(np.int64),
        )

    def score(
        self,
        queries: Sequence[str],
        indptr: npt.ArrayLike,
        docnos: Sequence[str] | pa.Array,
        *,
        k1: float = 0.9,
        b: float = 0.4,
        threads: int | None = None,
        mu: float | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return the BM25 score of exactly the given documents, as `search` would score them; or their likelihood.

        Parameters
        ----------
        queries : sequence of str
            B plain texts.
        indptr : int array (B + 1,)
            documents of query i are ``docnos[indptr[i]:indptr[i + 1]]``.
        docnos : sequence of str, or Arrow array (nnz,)
            the documents, in any order; one may stand there twice.
        mu : float, optional
            above 0: query likelihood with Dirichlet smoothing instead of BM25 (Zhai and Lafferty 2001), as Lucene
            computes it: the sum over the query's terms that the document has of
            max(0, log(1 + tf / (mu p)) + log(mu / (length + mu))), p the term's share of the collection's tokens
            (with 1 added to both counts).

        Returns
        -------
        float64 (nnz,)
            0 for a document without a term of its query, and for every document of a query from
            which analysis leaves no term.

        Raises
        ------
        InputError
            for docnos that are not in the index, and an ``indptr`` that does not fit.
        """
        bounds = _checked_indptr(indptr, len(queries), len(docnos))
        documents = rows_of(self.docnos, docnos, str(self.folder))
        scores = np.zeros(len(documents))
        with self._running(k1, b, threads, mu) as (pool, searcher):
            for first, last in _chunks(bounds):
                start, stop = bounds[first], bounds[last]
                part = documents[start:stop]
                parsed, _ = self._parse(pool, queries[first:last])
                counts, found, values = lucene_queries.rescore(
                    pool, searcher, parsed, bounds[first : last + 1] - start, part
                )
                rows = np.arange(last - first, dtype=np.int64)
                keys = np.repeat(rows, counts) * self.stats.documents + found
                order = np.argsort(keys, kind="stable")
                wanted = np.repeat(rows, np.diff(bounds[first : last + 1])) * self.stats.documents + part
                scores[start:stop] = values[order][np.searchsorted(keys[order], wanted)]
        return scores

    def close(self) -> None:
        """Close the index; it cannot be searched any more."""
        self._reader.close()

    def __enter__(self) -> LuceneIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _parse(self, pool: Any, queries: Sequence[str]) -> tuple[Any, npt.NDArray[np.int64]]:
        return lucene_queries.parse(pool, self._analyzer, [encodable(query) for query in queries])

    @contextmanager
    def _running(self, k1: float, b: float, threads: int | None, mu: float | None = None) -> Iterator[tuple[Any, Any]]:
        """Give a pool of Java threads and a searcher; what Java throws becomes an error of ours."""
        if not (math.isfinite(k1) and k1 >= 0 and 0 <= b <= 1):
            raise ConfigError(f"k1, b: found {k1}, {b}; expected k1 >= 0 and 0 <= b <= 1")
        if mu is not None and not (math.isfinite(mu) and mu > 0):
            raise ConfigError(f"mu: found {mu}; expected a number above 0")
        if threads is not None and threads < 1:
            raise ConfigError(f"threads: found {threads}; expected 1 or more")
        pool = java_class("java.util.concurrent.ForkJoinPool")(threads or available_threads())
        try:
            yield pool, lucene_queries.searcher(self._reader, k1, b, mu)
        except java_exception() as error:
            raise FairRerankersError(f"{self.folder}: the search failed in Java: {java_reason(error)}") from error
        finally:
            pool.shutdownNow()


def _checked_indptr(indptr: npt.ArrayLike, queries: int, documents: int) -> npt.NDArray[np.int64]:
    bounds = np.asarray(indptr, dtype=np.int64)
    fits = bounds.shape == (queries + 1,) and bounds[0] == 0 and bounds[-1] == documents
    if not fits or bool(np.any(np.diff(bounds) < 0)):
        raise InputError.one(
            "indptr",
            f"shape {bounds.shape}, {bounds[:3].tolist()} … {bounds[-3:].tolist()}",
            f"{queries + 1} numbers that rise from 0 to {documents}",
        )
    return bounds


def _chunks(bounds: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries with at most `_CHUNK_HITS` documents each, or of a single query."""
    first = 0
    while first < len(bounds) - 1:
        last = int(np.searchsorted(bounds, bounds[first] + _CHUNK_HITS, side="right")) - 1
        last = min(max(last, first + 1), first + _CHUNK_QUERIES)
        yield first, last
        first = last
