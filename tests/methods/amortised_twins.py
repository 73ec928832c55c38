"""Controllers in plain Python, a few lines each, for comparison with the compiled ones."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from rerankers._base.streams import query_streams, stream_key, uniforms
from rerankers.exposure import GERR
from rerankers.ledger import Entities, believed_browsing, make_rows
from rerankers.values import Block, Candidates, GroupAlignment

GOLDEN = 0.6180339887498949
ONE = 2.0**40


def block_of(lengths: tuple[int, ...], seed: int, browsing: Any = None, ties: bool = False) -> Block:
    """Return a block whose queries share no documents, with beliefs, authors and groups (some unknown)."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    belief = rng.choice([0.0, 0.2, 0.5, 1.0], n) if ties else rng.beta(1, 2, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    candidates = Candidates(np.arange(len(lengths)), indptr, np.arange(n), {"score": belief, "estimates": belief})
    groups = {}
    for name, size in (("authors", 4), ("side", 2)):
        pairs = np.unique(rng.integers(0, [[max(n, 1)], [size]], (2, n)), axis=1)
        labels = tuple(f"{name} {code}" for code in range(size))
        made = GroupAlignment.of_entries(name, labels, pairs[0], pairs[1], np.ones(pairs.shape[1]), max(n, 1))
        groups[name] = made.resolve("drop")
    names = [f"q{row}" for row in range(len(lengths))]
    return Block(candidates, query_streams(names), groups, browsing=browsing)


class Twin:
    """Serve one query again and again with a ledger of its own, by ``score(ledger, entities of a document)``."""

    def __init__(self, block: Block, row: int, method: Any) -> None:
        over, model = block.candidates, block.browsing or GERR()
        part = over.row(row)
        self.belief = block.relevance.value[part]
        self.n = len(self.belief)
        entities = Entities("documents") if method.entities == "documents" else None
        entities = entities or Entities(method.entities, block.groups[method.entities], method.missing)
        rows = make_rows(over, block.relevance.value, model, entities, method.target, method.unit)
        browsing = believed_browsing(model, block.relevance.value, over.indptr)
        self.continuation = browsing.continuation[part].tolist()
        self.position = [1.0] * self.n if browsing.position is None else browsing.position.tolist()
        self.scale, self.decay = float(rows.scale[row]), method.decay
        ptr = rows.entry_ptr[part.start : part.stop + 1].tolist()
        self.entries = [
            [(int(rows.entity[e]), float(rows.weight[e]), int(rows.due[e])) for e in range(low, high)]
            for low, high in itertools.pairwise(ptr)
        ]
        self.tie = uniforms(stream_key(block.seed, block.stream[row], "ledger ties"), 0, 1, self.n)[0].tolist()
        self.served: dict[int, float] = defaultdict(float)
        self.due: dict[int, float] = defaultdict(float)
        self.length = 0.0
        self.times = 0

    def order(self, score: Callable[[int], float]) -> list[int]:
        """Return the documents by score, ties by their shifted random numbers."""
        shift = self.times * GOLDEN % 1.0
        return sorted(range(self.n), key=lambda d: (-score(d), (self.tie[d] + shift) % 1.0, d))

    def exposure(self, order: list[int]) -> list[float]:
        """Return the exposure of each document."""
        chance, seen = 1.0, [0.0] * self.n
        for rank, doc in enumerate(order):
            seen[doc] = self.position[rank] * chance
            chance *= self.continuation[doc]
        return seen

    def book(self, seen: list[float]) -> None:
        """Book an impression; balances are kept in floating point, so that they differ in the last digits."""
        for balance in (self.served, self.due):
            for entity in balance:
                balance[entity] *= self.decay
        for doc, entries in enumerate(self.entries):
            for entity, weight, due in entries:
                self.served[entity] += seen[doc] * self.scale * weight
                self.due[entity] += due / ONE
        self.times += 1
        self.length = self.decay * self.length + 1.0

    def net(self, entity: int) -> float:
        """Return what an entity has had beyond its due."""
        return self.served[entity] - self.due[entity]


def nle(twin: Twin, theta: float) -> list[int]:
    """Rank by theta rho - (1 - theta) mean of sign(e) e^2 (Kletti & Renders 2020)."""

    def score(doc: int) -> float:
        weights = [(w, np.sign(twin.net(e)) * twin.net(e) ** 2) for e, w, _ in twin.entries[doc]]
        total = sum(w for w, _ in weights)
        return theta * twin.belief[doc] - (1 - theta) * (sum(w * a for w, a in weights) / total if total else 0.0)

    return twin.order(score)


def fair_co(twin: Twin, strength: float, published: bool, least: float) -> list[int]:
    """Rank by rho + lambda (max D - D) (Morik et al. 2020)."""

    def said(entity: int) -> float:
        ratio = twin.served[entity] / max(twin.due[entity], least)
        return ratio * twin.length if published else ratio

    most = max((said(e) for entries in twin.entries for e, _, _ in entries), default=0.0)

    def score(doc: int) -> float:
        entries = twin.entries[doc]
        total = sum(w for _, w, _ in entries)
        error = most - sum(w * said(e) for e, w, _ in entries) / total if total else 0.0
        return twin.belief[doc] + strength * error

    return twin.order(score)


def frank_wolfe(twin: Twin, fairness: float) -> list[int]:
    """Rank by the gradient at the running average, divided by 1 - c under a cascade (Usunier et al. 2022)."""
    cascade = all(weight == 1.0 for weight in twin.position)

    def score(doc: int) -> float:
        slope = sum(w * 2 * twin.net(e) for e, w, _ in twin.entries[doc]) / max(twin.length, 1.0)
        value = (1 - fairness) * twin.belief[doc] - fairness * slope
        return value / (1 - twin.continuation[doc]) if cascade else value

    return twin.order(score)
