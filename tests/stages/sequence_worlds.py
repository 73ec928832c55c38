"""A small pool of queries that share documents, and impressions of them."""

from __future__ import annotations

import numpy as np

from rerankers._base.streams import generator
from rerankers.stages.pool import Pool
from rerankers.stages.sequence import Asked
from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Relevance, Topics

QIDS = ("7", "q b", "12", "40")
LENGTHS = (4, 1, 0, 6)
TOPICS = Topics.of(QIDS, [""] * len(QIDS))


def pool(seed: int = 0, estimates: bool = False) -> Pool:
    """Return four queries that share documents, with authors and one attribute."""
    draw = generator(seed, "sequence tests")
    docs = Ids.of([f"d{code}" for code in range(8)])
    doc = np.concatenate([np.sort(draw.permutation(8)[:n]) for n in LENGTHS]).astype(np.int32)
    over = Candidates(np.arange(4), np.concatenate([[0], np.cumsum(LENGTHS)]), doc, {"score": draw.random(len(doc))})
    none = Judgments(np.empty(0), np.zeros(1), np.empty(0), {"grade": np.empty(0, np.int16)})
    ones = np.ones(8)
    side = GroupAlignment.of_entries("side", ("a", "b"), np.arange(8), np.arange(8) % 2, ones, 8).resolve("count")
    authors = GroupAlignment.of_entries("authors", ("x", "y", "z"), np.arange(8), np.arange(8) % 3, ones, 8)
    beliefs = Relevance(draw.random(len(doc)), "probability", "model:1") if estimates else None
    return Pool(docs, TOPICS, over, none, {"side": side}, beliefs, authors.resolve("drop"))


def asked_by(rows: list[tuple[int, int]]) -> Asked:
    sequence, query = np.array(rows, dtype=np.int32).reshape(-1, 2).T
    return Asked(("s0", "s1", "s2"), sequence, QIDS, query, "test")
