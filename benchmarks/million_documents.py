"""A collection of very many documents: ``python benchmarks/million_documents.py FOLDER [--documents N …]``.

Generates N documents of 40 words by a Zipf law, authors (two for five documents, up to three each), groups of authors,
queries, judgments; indexes them with BM25 and serves rankings that owe exposure to every author. Prints seconds,
processor time and memory, from which exponents of growth follow where several sizes are given. What is generated is
kept and used again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from _columns import joined, numbered, write
from _job import Took, run
from _timing import exponent

WORDS, VOCABULARY, CHUNK, QUERY_WORDS, JUDGED = 40, 200_000, 20_000, 3, 20
GROUPS = ("north", "south", "east", "west")


def main() -> None:
    """Generate, run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, nargs="*", default=[5_000_000])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--candidates", type=int, default=100)
    asked = parser.parse_args()
    found = []
    for documents in asked.documents:
        world = asked.folder / f"documents-{documents}"
        if not (world / "docs.jsonl").exists():
            generate(world, documents, asked.queries)
        found.append(measured(world, asked.candidates))
        print(f"{documents:,} documents, {asked.queries:,} queries: {found[-1]}", flush=True)
    if len(found) > 1:
        _print_growth(asked.documents, found)


def generate(world: Path, documents: int, queries: int) -> None:
    """Write all files of the collection, the documents last."""
    world.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    authors = max(1, 2 * documents // 5)
    names = numbered("a", np.arange(authors))
    group = pa.array(GROUPS, pa.large_string()).take(pa.array(rng.integers(0, len(GROUPS), authors)))
    head = pa.array(["author_id,group\n"], pa.large_string())
    write(world / "region_groups.csv", [head, joined(names, ",", group, "\n")])
    words = numbered("w", np.arange(VOCABULARY))
    qid = numbered("q", np.arange(queries))
    asked = _texts(words, rng.integers(50, 20_000, (queries, QUERY_WORDS)))
    write(world / "queries.tsv", [joined(qid, "\t", asked, "\n")])
    first, stride = rng.integers(0, documents, (queries, 1)), rng.integers(1, documents // JUDGED, (queries, 1))
    judged = (first + stride * np.arange(JUDGED)) % documents  # no document twice: the strides end before the first
    docno = numbered("d", judged.ravel())
    grade = pa.array(rng.integers(0, 2, judged.size)).cast(pa.large_string())
    rows = qid.take(pa.array(np.repeat(np.arange(queries), JUDGED)))
    write(world / "qrels.txt", [joined(rows, " 0 ", docno, " ", grade, "\n")])
    write(world / "docs.jsonl", _documents(words, names, documents, rng))


def _documents(words: pa.Array, authors: pa.Array, documents: int, rng: np.random.Generator) -> Iterator[pa.Array]:
    """Yield documents by the chunk: words by rank to the power of -1, cut at the vocabulary."""
    quoted = joined('"', authors, '"')
    for start in range(0, documents, CHUNK):
        size = min(CHUNK, documents - start)
        rank = np.exp(rng.random((size, WORDS)) * np.log(VOCABULARY)).astype(np.int64) - 1
        many = rng.integers(1, 4, size)
        bounds = np.concatenate([[0], np.cumsum(many)])
        who = quoted.take(pa.array(rng.integers(0, len(authors), bounds[-1])))
        lists = pc.binary_join(pa.LargeListArray.from_arrays(bounds, who), pa.scalar(",", pa.large_string()))
        docno = numbered("d", np.arange(start, start + size))
        yield joined('{"docno":"', docno, '","author_ids":[', lists, '],"text":"', _texts(words, rank), '"}\n')


def _texts(words: pa.Array, rank: np.ndarray) -> pa.Array:
    """Return the texts of rows of word numbers (n, length)."""
    bounds = np.arange(len(rank) + 1) * rank.shape[1]
    lists = pa.LargeListArray.from_arrays(bounds, words.take(pa.array(rank.ravel())))
    return pc.binary_join(lists, pa.scalar(" ", pa.large_string()))


def measured(world: Path, candidates: int) -> Took:
    """Index, search, and serve with a ledger of all authors."""
    words = [
        *("run", "collection=jsonl", f"collection.path={world}", "groups=collection", "retriever=bm25"),
        *(f"retriever.k={candidates}", "retriever.heap=4g", "method=fair_co", "method.entities=authors"),
        *("method.scope=corpus", "method.impressions=1", f"paths.cache={world.parent / 'cache'}"),
    ]
    return run(words, world.parent / f"{world.name}-results", world.parent / f"{world.name}.txt")


def _print_growth(documents: list[int], found: list[Took]) -> None:
    for name in found[0].stages:
        seconds = [took.stages.get(name, 0.0) for took in found]
        if min(seconds) > 0:
            print(f"{name}: time grows with documents to the power of {exponent(documents, seconds):.2f}")
    print(f"memory: to the power of {exponent(documents, [took.peak for took in found]):.2f}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
