"""Run a batch of queries inside Java, and take all hits across in three arrays.

Everything here is composed of Lucene's and Anserini's public methods, see `handles`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from rerankers.retrieval import handles as h
from rerankers.retrieval.index_files import CONTENTS, LUCENE
from rerankers.retrieval.jvm import java_class

_QUERY = f"L{LUCENE}search/Query;"
_SEARCHER = f"L{LUCENE}search/IndexSearcher;"
_TOP_DOCS = f"L{LUCENE}search/TopDocs;"
_SCORE_DOCS = f"[L{LUCENE}search/ScoreDoc;"

Flat = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Number of hits per query (B,), internal document numbers (nnz,), scores (nnz,)."""


_SIMILARITIES = "org.apache.lucene.search.similarities."


def searcher(reader: Any, k1: float, b: float, mu: float | None = None) -> Any:
    """Return an ``IndexSearcher`` with BM25, or query likelihood where ``mu`` is given.

    It has no threads of its own, so a query runs in one.
    """
    made = h.call(h.constructor(LUCENE + "search/IndexSearcher", f"(L{LUCENE}index/IndexReader;)V"), reader)
    if mu is None:
        made.setSimilarity(java_class(_SIMILARITIES + "BM25Similarity")(float(k1), float(b)))
    else:
        made.setSimilarity(java_class(_SIMILARITIES + "LMDirichletSimilarity")(float(mu)))
    return made


def parse(pool: Any, analyzer: Any, texts: list[str]) -> tuple[Any, npt.NDArray[np.int64]]:
    """Turn texts into bags of words: a Java list of queries, and how many terms each has (B,).

    Nothing in a text is an operator. A term that occurs twice counts twice.
    """
    java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(2**31 - 1)
    build = h.bind(
        h.method(
            "io/anserini/search/query/BagOfWordsQueryGenerator",
            "buildQuery",
            f"({h.STRING}Lorg/apache/lucene/analysis/Analyzer;{h.STRING}){_QUERY}",
        ),
        0,
        java_class("io.anserini.search.query.BagOfWordsQueryGenerator")(),
        CONTENTS,
        analyzer,
    )
    queries = _in_pool(pool, h.then(h.bind(_parallel(), 0, h.strings(texts)), _map(build), _to_list()))
    return queries, np.asarray(h.call(_clauses(), queries), dtype=np.int64)


def search(pool: Any, searcher: Any, queries: Any, k: int) -> Flat:
    """Return the best ``k`` hits of each query, by score and then internal number."""
    find = h.method(LUCENE + "search/IndexSearcher", "search", f"({_QUERY}I){_TOP_DOCS}")
    find = h.bind(h.bind(find, 2, k), 0, searcher)
    return _flat(_in_pool(pool, h.then(h.bind(_parallel(), 0, queries), _map(find), _to_list())))


def rescore(
    pool: Any, searcher: Any, queries: Any, indptr: npt.NDArray[np.int64], documents: npt.NDArray[np.int32]
) -> Flat:
    """Score the given documents of each query and no others; 0 for a document without a query term.

    Hits come back in the order of scores, not in that of ``documents``.
    """
    first_pass = _first_pass(indptr, documents)
    query = h.bind(h.method("java/util/List", "get", f"(I){h.OBJECT}"), 0, queries)
    score = h.static(LUCENE + "search/QueryRescorer", "rescore", f"({_SEARCHER}{_TOP_DOCS}{_QUERY}DI){_TOP_DOCS}")
    score = h.bind(h.bind(score, 3, 1.0, 2**31 - 1), 0, searcher)
    one = h.share(h.feed(score, 0, first_pass, query), f"(I){_TOP_DOCS}", 0, 0)
    numbers = h.bind(_range(), 0, 0, len(indptr) - 1)
    parallel = h.method("java/util/stream/IntStream", "parallel", f"(){h.INT_STREAM}")
    return _flat(_in_pool(pool, h.then(numbers, parallel, _map_numbers(one), _to_list())))


def _first_pass(indptr: npt.NDArray[np.int64], documents: npt.NDArray[np.int32]) -> h.Handle:
    """Return the handle (query number) -> ``TopDocs`` of its documents, each with score 0."""
    at = h.method("java/nio/IntBuffer", "get", "(I)I")
    bounds = _int_buffer(indptr)
    start = h.bind(at, 0, bounds)
    stop = h.bind(at, 0, bounds.position(1).slice())
    span = h.share(h.feed(_range(), 0, start, stop), f"(I){h.INT_STREAM}", 0, 0)
    hit = h.bind(h.constructor(LUCENE + "search/ScoreDoc", "(IF)V"), 1, _java_float(0.0))
    hit = h.feed(hit, 0, h.bind(at, 0, _int_buffer(documents)))
    to_array = h.method("java/util/stream/Stream", "toArray", f"(L{h.FUNCTION}IntFunction;)[{h.OBJECT}")
    make_array = java_class("java.lang.invoke.MethodHandles").arrayConstructor(h.class_of(_SCORE_DOCS))
    relation = java_class("org.apache.lucene.search.TotalHits$Relation").EQUAL_TO
    total = h.call(
        h.constructor(LUCENE + "search/TotalHits", f"(JL{LUCENE}search/TotalHits$Relation;)V"), _java_long(0), relation
    )
    top_docs = h.constructor(LUCENE + "search/TopDocs", f"(L{LUCENE}search/TotalHits;{_SCORE_DOCS})V")
    return h.then(
        span,
        _map_numbers(hit),
        h.with_function(to_array, 1, h.FUNCTION + "IntFunction", make_array),
        h.bind(top_docs, 0, total),
    )


def _flat(results: Any) -> Flat:
    """Take a Java list of ``TopDocs`` apart, in the order of its rows."""
    counts, documents, scores = _readers()
    return (
        np.asarray(h.call(counts, results), dtype=np.int64),
        np.asarray(h.call(documents, results), dtype=np.int32),
        np.asarray(h.call(scores, results), dtype=np.float64),
    )


@functools.cache
def _readers() -> tuple[h.Handle, h.Handle, h.Handle]:
    """Return the handles from a list of ``TopDocs`` to counts, document numbers and scores."""
    hits = h.field(LUCENE + "search/TopDocs", "scoreDocs", _SCORE_DOCS)
    length = h.then(hits, java_class("java.lang.invoke.MethodHandles").arrayLength(h.class_of(_SCORE_DOCS)))
    of_array = h.then(hits, h.static("java/util/Arrays", "stream", f"([{h.OBJECT}){h.STREAM}"))
    flat_map = h.method("java/util/stream/Stream", "flatMap", f"(L{h.FUNCTION}Function;){h.STREAM}")
    every = h.then(_stream(), h.with_function(flat_map, 1, h.FUNCTION + "Function", of_array))
    to_double = h.method(
        "java/util/stream/Stream", "mapToDouble", f"(L{h.FUNCTION}ToDoubleFunction;)Ljava/util/stream/DoubleStream;"
    )
    score = h.field(LUCENE + "search/ScoreDoc", "score", "F")
    scores = h.then(
        every,
        h.with_function(to_double, 1, h.FUNCTION + "ToDoubleFunction", score),
        h.method("java/util/stream/DoubleStream", "toArray", "()[D"),
    )
    documents = h.then(every, _to_ints(h.field(LUCENE + "search/ScoreDoc", "doc", "I")))
    return h.then(_stream(), _to_ints(length)), documents, scores


@functools.cache
def _clauses() -> h.Handle:
    """Return the handle from a list of queries to the number of terms of each."""
    clauses = h.method(LUCENE + "search/BooleanQuery", "clauses", f"(){h.LIST}")
    return h.then(_stream(), _to_ints(h.then(clauses, h.method("java/util/List", "size", "()I"))))


def _in_pool(pool: Any, handle: h.Handle) -> Any:
    return h.submit(pool, handle).get()


def _parallel() -> h.Handle:
    return h.method("java/util/Collection", "parallelStream", f"(){h.STREAM}")


def _stream() -> h.Handle:
    return h.method("java/util/Collection", "stream", f"(){h.STREAM}")


def _range() -> h.Handle:
    return h.static("java/util/stream/IntStream", "range", f"(II){h.INT_STREAM}")


def _map(function: h.Handle) -> h.Handle:
    mapper = h.method("java/util/stream/Stream", "map", f"(L{h.FUNCTION}Function;){h.STREAM}")
    return h.with_function(mapper, 1, h.FUNCTION + "Function", function)


def _map_numbers(function: h.Handle) -> h.Handle:
    mapper = h.method("java/util/stream/IntStream", "mapToObj", f"(L{h.FUNCTION}IntFunction;){h.STREAM}")
    return h.with_function(mapper, 1, h.FUNCTION + "IntFunction", function)


def _to_list() -> h.Handle:
    return h.method("java/util/stream/Stream", "toList", f"(){h.LIST}")


def _to_ints(function: h.Handle) -> h.Handle:
    mapper = h.method("java/util/stream/Stream", "mapToInt", f"(L{h.FUNCTION}ToIntFunction;){h.INT_STREAM}")
    to_array = h.method("java/util/stream/IntStream", "toArray", "()[I")
    return h.then(h.with_function(mapper, 1, h.FUNCTION + "ToIntFunction", function), to_array)


def _int_buffer(values: npt.NDArray[Any]) -> Any:
    # Java's buffers are big-endian unless told otherwise; bytes cross in one copy, a list does not.
    return java_class("java.nio.ByteBuffer").wrap(values.astype(">i4").tobytes()).asIntBuffer()


def _java_float(value: float) -> Any:
    return java_class("java.lang.Float")(value)


def _java_long(value: int) -> Any:
    return java_class("java.lang.Long")(value)
