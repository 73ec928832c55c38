"""Policies over a few queries, and the files of a track that fit them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.policies import GradeShuffle, Mixture, PlackettLuce, Policy
from rerankers.policies.mallows import Mallows
from rerankers.policies.transpositions import Transpositions
from rerankers.tracks.candidates import QueryFile, read_queries
from rerankers.tracks.sequences import Sequence, read_sequence
from rerankers.values import Ids, Ragged, Rankings

QUERIES = {"12": ["b", "a", "é", "d"], "7": ["a", "x"], "30": ["d", "c", "b", "a", "e", "f"]}
DOCS = Ids.union([docno for docnos in QUERIES.values() for docno in docnos])


def rows_of(queries: dict[str, list[str]], docs: Ids) -> Ragged:
    indptr = np.concatenate([[0], np.cumsum([len(docnos) for docnos in queries.values()])])
    code = docs.codes([docno for docnos in queries.values() for docno in docnos])
    return Ragged(np.arange(len(queries)), indptr, code)


OVER = rows_of(QUERIES, DOCS)
STREAM = query_streams(QUERIES)
QIDS = tuple(QUERIES)
SCORE = np.random.default_rng(5).normal(size=OVER.nnz)


def mixture() -> Mixture:
    orders = [np.argsort(np.random.default_rng(row).random((4, size)), axis=1) for row, size in enumerate(OVER.lengths)]
    return Mixture(Rankings.of_matrix(OVER, orders), STREAM)


POLICIES: dict[str, Policy] = {
    "plackett_luce": PlackettLuce(OVER, SCORE, STREAM),
    "grade_shuffle": GradeShuffle(OVER, np.round(SCORE), STREAM),
    "mallows": Mallows.by_score(OVER, SCORE, 0.3, STREAM),
    "transpositions": Transpositions.of_exposure(OVER, np.repeat(1 / OVER.lengths, OVER.lengths), [1.0], STREAM),
    "mixture": mixture(),
}


def query_file(folder: Path, queries: dict[str, list[str]] = QUERIES) -> QueryFile:
    path = folder / "queries.json"
    with path.open("w", encoding="utf-8") as stream:
        for qid, docnos in queries.items():
            documents = [{"doc_id": docno, "relevance": int(docno in "ae")} for docno in docnos]
            line = {"qid": int(qid), "query": "x", "frequency": 1.0, "documents": documents}
            stream.write(json.dumps(line) + "\n")
    return read_queries(path)


def sequence_file(folder: Path, text: str = "") -> Sequence:
    path = folder / "sequence.csv"
    entries = [f"{s}.{n},{qid}\n" for s, qid in enumerate(QUERIES) for n in range(12)]
    path.write_text(text or "".join(entries))
    return read_sequence(path)


def lines_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def published(policy: Policy, row: int, n: int, seed: int, depth: int | None = None) -> list[list[str]]:
    """Return what the policy's schedule says for a row, by names."""
    rankings = policy.schedule(n, seed, depth)
    names = DOCS.take(policy.over.doc[policy.over.row(row)])
    out = []
    for which in range(int(rankings.query_ptr[row]), int(rankings.query_ptr[row + 1])):
        items = rankings.item[rankings.item_ptr[which] : rankings.item_ptr[which + 1]]
        out.append([names[item] for item in items.tolist()])
    return out
