"""Small blocks and sequences for the tests of ledgers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.ledger import Impressions
from rerankers.values import Block, Candidates, GroupAlignment, Ids

QUERIES = ("qa", "qb", "qc", "qd")
LENGTHS = (4, 1, 0, 6)


def world(seed: int = 0, browsing: Any = None, lengths: tuple[int, ...] = LENGTHS) -> Block:
    """Return a block of queries that share documents and authors."""
    rng = np.random.default_rng(seed)
    n_docs = max(lengths) + 2
    doc = np.concatenate([np.sort(rng.permutation(n_docs)[:n]) for n in lengths]) if lengths else np.empty(0)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    belief = np.round(rng.beta(1, 2, len(doc)), 2)
    candidates = Candidates(np.arange(len(lengths)), indptr, doc, {"score": belief, "estimates": belief})
    groups = {"authors": _alignment("authors", n_docs, rng, 5), "side": _alignment("side", n_docs, rng, 2)}
    return Block(candidates, query_streams(QUERIES[: len(lengths)]), groups, browsing=browsing)


def _alignment(name: str, n_docs: int, rng: np.random.Generator, groups: int) -> GroupAlignment:
    pairs = np.unique(rng.integers(0, [[n_docs - 1], [groups]], (2, 2 * n_docs)), axis=1)  # the last has none
    names = tuple(f"{name} {code}" for code in range(groups))
    return GroupAlignment.of_entries(name, names, pairs[0], pairs[1], np.ones(pairs.shape[1]), n_docs).resolve("drop")


def asked(block: Block, sequences: int, length: int, seed: int = 0) -> Impressions:
    """Return sequences of queries drawn at random."""
    rng = np.random.default_rng(seed)
    qids = QUERIES[: len(block.candidates)]
    names = tuple(f"s{number}" for number in range(sequences))
    sequence = np.repeat(np.arange(sequences), length)
    query = rng.integers(0, len(qids), len(sequence))
    return Impressions.of(names, sequence, query, qids, Ids.of(qids), block.candidates)


def docnos(block: Block) -> Ids:
    """Return names of the documents."""
    return Ids.of([f"d{code:02}" for code in range(block.groups["side"].n_docs)])
