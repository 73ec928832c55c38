"""Serving with a ledger against FairCo's published step, and a year's impressions with durable commits."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from _settings import Settings
from _timing import Result, interleaved

from rerankers._base.streams import query_streams
from rerankers.exposure import DCG
from rerankers.ledger import Impressions, SQLite
from rerankers.methods.fair_co import FairCo
from rerankers.values import Block, Candidates, GroupAlignment, Ids

STEPS, DEMANDED = 2000, 5.0
QUERIES, DOCUMENTS, SEQUENCES, LENGTH = 635, 7, 5, 25_000  # the size of TREC Fair Ranking 2019


def results(settings: Settings) -> Iterator[Result]:
    """Hold a contest a size and number of groups, then serve all sequences of a year in one pass."""
    for n, groups in ((30, 2), (100, 2), (1000, 2), (1000, 10)):
        rng = settings.generator("ledger", n, groups)
        belief, group = rng.beta(1, 2, n), rng.integers(0, groups, n)
        block, method = _block(belief, group, groups), FairCo(impressions=STEPS, entities="group", target="relevance")

        def ours(block: Block = block, method: FairCo = method) -> object:
            return method.policy(block)

        def published(belief: np.ndarray = belief, group: np.ndarray = group, groups: int = groups) -> object:
            return _published(belief, group, groups)

        def vectorised(belief: np.ndarray = belief, group: np.ndarray = group, groups: int = groups) -> object:
            return _vectorised(belief, group, groups)

        mine, slow, quick = interleaved([ours, published, vectorised], settings.repetitions)
        what = f"FairCo, {STEPS} steps, n={n}, {groups} groups"
        same = np.mean(ours().rankings.item == np.concatenate(vectorised()))
        demanded = DEMANDED if n == 100 else None
        yield Result(what, mine, slow, "numpy, group by group as published (own writing)", demanded)
        yield Result(
            what, mine, quick, "numpy, vectorised (own writing)", notes=f"same documents at {same:.1%} of ranks"
        )
    yield _year(settings)


def _block(belief: np.ndarray, group: np.ndarray, groups: int) -> Block:
    n = len(belief)
    candidates = Candidates(np.zeros(1), np.array([0, n]), np.arange(n), {"score": belief, "estimates": belief})
    names = tuple(f"group {code}" for code in range(groups))
    aligned = GroupAlignment.of_entries("group", names, np.arange(n), group, np.ones(n), n).resolve("drop")
    return Block(candidates, query_streams(["q"]), {"group": aligned}, browsing=DCG())


def _published(belief: np.ndarray, group: np.ndarray, groups: int) -> list[np.ndarray]:
    """Take the step of Morik et al. (2020) group by group, with cumulative merit."""
    n = len(belief)
    weight, exposure, merit, orders = 1 / np.log2(np.arange(n) + 2), np.zeros(n), np.zeros(n), []
    members = [np.flatnonzero(group == code) for code in range(groups)]
    for _ in range(STEPS):
        ratio = [np.sum(exposure[docs]) / max(np.sum(merit[docs]), 1e-4) for docs in members]
        error = np.zeros(n)
        for code, docs in enumerate(members):
            error[docs] = max(ratio) - ratio[code]
        order = np.argsort(-(belief + error), kind="stable")
        exposure[order] += weight
        merit += belief
        orders.append(order)
    return orders


def _vectorised(belief: np.ndarray, group: np.ndarray, groups: int) -> list[np.ndarray]:
    """Take the same step with sums by group."""
    n = len(belief)
    weight, exposure, merit, orders = 1 / np.log2(np.arange(n) + 2), np.zeros(groups), np.zeros(groups), []
    brought = np.bincount(group, belief, groups)
    for _ in range(STEPS):
        ratio = exposure / np.maximum(merit, 1e-4)
        order = np.argsort(ratio[group] - belief, kind="stable")
        exposure += np.bincount(group[order], weight, groups)
        merit += brought
        orders.append(order)
    return orders


def _year(settings: Settings) -> Result:
    """Serve as many impressions as TREC 2019 had, committed to a file, and the same in numpy without a ledger."""
    rng = settings.generator("ledger", "year")
    qids = tuple(str(query) for query in range(QUERIES))
    indptr = np.arange(QUERIES + 1) * DOCUMENTS
    belief = rng.beta(1, 2, QUERIES * DOCUMENTS)
    columns = {"score": belief, "estimates": belief}
    docs = np.concatenate([np.sort(rng.permutation(4000)[:DOCUMENTS]) for _ in range(QUERIES)])
    block = Block(Candidates(np.arange(QUERIES), indptr, docs, columns), query_streams(qids), browsing=DCG())
    query = rng.integers(0, QUERIES, SEQUENCES * LENGTH)
    names, sequence = tuple("01234"), np.repeat(np.arange(SEQUENCES), LENGTH)
    asked = Impressions.of(names, sequence, query, qids, Ids.of(qids), block.candidates)
    method = replace(FairCo(), scope="sequence", target="relevance")

    def ours() -> object:
        with tempfile.TemporaryDirectory() as folder:
            return method.serve(block, asked, SQLite(str(Path(folder) / "ledger.sqlite")))

    def peer() -> object:
        weight = 1 / np.log2(np.arange(DOCUMENTS) + 2)
        served, merit = np.zeros((SEQUENCES, 4000)), np.zeros((SEQUENCES, 4000))
        for place, row in zip(sequence.tolist(), query.tolist(), strict=True):
            part = slice(row * DOCUMENTS, (row + 1) * DOCUMENTS)
            here, known = docs[part], belief[part]
            order = np.argsort(served[place, here] / np.maximum(merit[place, here], 1e-4) - known, kind="stable")
            served[place, here[order]] += weight
            merit[place, here] += known
        return served

    mine, theirs = interleaved([ours, peer], settings.repetitions)
    what = f"FairCo, {SEQUENCES * LENGTH:,} impressions of {SEQUENCES} sequences, n={DOCUMENTS}, durable commits"
    return Result(
        what, mine, theirs, "numpy, vectorised, nothing kept (own writing)", notes="ours writes an SQLite file"
    )
