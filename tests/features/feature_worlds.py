"""Small collections with everything that features look at, and gaps in all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rerankers._base.fingerprint import fingerprint
from rerankers.values import Authors, Candidates, Collection, Ids, Judgments, Topics

WORDS = ["apple", "apples", "boxes", "box", "fly", "flies", "glass", "net", "nets", "über", "x1", "word", "bus", "seas"]


@dataclass(frozen=True)
class Store:
    """Texts in memory: docno -> field -> text; docnos ascend."""

    rows: Mapping[str, Mapping[str, str]]
    fields: tuple[str, ...] = ("title", "abstract")

    @property
    def fingerprint(self) -> str:
        return fingerprint({docno: dict(row) for docno, row in self.rows.items()}, list(self.fields))

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        for docno in sorted(self.rows):
            yield docno, " ".join(filter(None, (self.rows[docno].get(name, "") for name in fields)))


def collection(
    texts: Mapping[str, Mapping[str, str]] | None,
    queries: Sequence[str],
    more_docs: Sequence[str] = (),
    text_fields: tuple[str, ...] = ("title", "abstract"),
    **facts: Any,
) -> Collection:
    docs = Ids.union(list(texts or ()), list(more_docs))
    qids = [f"q{number}" for number in range(len(queries))]
    return Collection(
        name="made up",
        docs=docs,
        topics=Topics.of(qids, queries),
        judgments=Judgments.empty(),
        fingerprint=fingerprint(sorted(facts), len(docs)),
        documents=None if texts is None else Store(texts, text_fields),
        **facts,
    )


def text(draw: random.Random, most: int) -> str:
    words = draw.choices(WORDS, range(len(WORDS), 0, -1), k=draw.randint(0, most))
    return "".join(
        f"{word.title() if draw.random() < 0.3 else word}{draw.choice([' ', ', ', '-', '. '])}" for word in words
    )


def made_up(seed: int = 0, documents: int = 40, queries: int = 9) -> tuple[Collection, Candidates]:
    """Return a collection and candidates: empty texts and queries, documents without anything, missing numbers."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    rows = {f"d{n:03d}": {"title": text(draw, 5), "abstract": text(draw, 20)} for n in range(documents)}
    asked = [text(draw, 4) for _ in range(queries - 2)] + ["", "nets nets box"]
    size = documents + 2
    lengths = rng.integers(0, 4, size)
    author_ids = Ids.of([f"a{n}" for n in range(12)])
    facts = Authors(
        author_ids,
        np.concatenate([[0], np.cumsum(lengths)]),
        rng.integers(-1, 12, lengths.sum()).astype(np.int32),
        {"n_papers": with_gaps(rng, 12, 0.3), "h_index": with_gaps(rng, 12, 0.3)},
    )
    numbers = {"year": 1990 + with_gaps(rng, size, 0.2), "n_citations": with_gaps(rng, size, 0.2)}
    # Two documents that only a run knows: they have no text.
    world = collection(rows, asked, ["e1", "e2"], authors=facts, fields=numbers)
    lengths = rng.integers(0, 15, queries)
    lengths[0], lengths[1] = 0, 1
    doc = np.concatenate([rng.choice(size, count, replace=False) for count in lengths])
    score = rng.random(len(doc)).round(1)
    candidates = Candidates(
        np.arange(queries, dtype=np.int32), np.concatenate([[0], np.cumsum(lengths)]), doc, {"score": score}
    )
    return world, candidates


def with_gaps(rng: np.random.Generator, size: int, share: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = rng.integers(0, 9, size).astype(float)
    values[rng.random(size) < share] = np.nan
    return values
