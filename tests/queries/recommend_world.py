"""A tiny collection with a first stage in Python, for tests of what is made of its words."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.fingerprint import fingerprint
from rerankers.queries.generators.base import Context, Query
from rerankers.queries.searching import Searcher
from rerankers.retrieval import Retrieved
from rerankers.values import Candidates, Collection, Ids, Judgments, Topics

TEXTS = {
    "d1": "The pump moves water. Water flows.",
    "d2": "A pump and a valve move water",
    "d3": "solar panel heats the house",
    "d4": "Solar roof panel, cheap",
    "d5": "valve of the heart",
    "d6": "",
}


class Store:
    """Texts of a few documents."""

    fields = ("text",)
    fingerprint = fingerprint("test", TEXTS)

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from sorted(TEXTS.items())


class Overlap:
    """A first stage: documents by the number of words that they share with the query."""

    asked: list[str]

    def __init__(self) -> None:
        self.asked = []

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        rows, scores = [], []
        for text in collection.topics.text:
            self.asked.append(text)
            words = set(text.lower().split())
            found = [(sum(w.strip(".,") in words for w in TEXTS[d].lower().split()), d) for d in sorted(TEXTS)]
            best = sorted([one for one in found if one[0]], key=lambda one: (-one[0], one[1]))
            rows.append([d for _, d in best])
            scores.append([float(s) for s, _ in best])
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        flat = [d for row in rows for d in row]
        query = np.arange(len(rows), dtype=np.int32)
        score = np.array([s for row in scores for s in row], dtype=float)
        return Retrieved(collection.docs, Candidates(query, indptr, collection.docs.codes(flat), {"score": score}), {})


def tiny_context(folder: Path) -> Context:
    """Return what generators look at, over the tiny collection."""
    docs = Ids.of(sorted(TEXTS))
    topics = Topics.of(["1", "2"], ["pump water", "solar"])
    collection = Collection("tiny", docs, topics, Judgments.empty(), "f", documents=Store())
    made = Context(collection, Searcher(Overlap(), collection, folder, 10), folder)
    made.topics = (Query("1", "pump water"), Query("2", "solar"))
    return made


def texts_of(
    generator: Any, context: Context, query: Query | None = None, budget: int = 10, seed: int = 0
) -> list[str]:
    query = query or context.topics[0]
    generator.prepare([query], context, budget, seed)
    return [one.text for one in generator.generate(query, context, budget, seed)]


VECTORS = {"pump": [1, 0], "valve": [0.9, 0.1], "engine": [0.8, 0.6], "solar": [0, 1], "zero": [0, 0]}


def vector_file(path: Path, header: bool = False) -> str:
    lines = [f"{w} {' '.join(map(str, v))}" for w, v in VECTORS.items()]
    text = "\n".join([f"{len(VECTORS)} 2", *lines] if header else lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return str(path)
