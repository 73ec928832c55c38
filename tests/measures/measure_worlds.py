"""Small made-up worlds and plain few-line twins of the formulas, for the tests of this folder."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.values import Candidates, GroupAlignment, Judgments, Rankings


@dataclass(frozen=True)
class World:
    """Candidates with scores, judgments, one alignment and the queries' digests, all coded alike."""

    qids: list[str]
    candidates: Candidates
    judgments: Judgments
    groups: dict[str, GroupAlignment]
    stream: np.ndarray


def world(seed: int = 0, queries: int = 6, n_docs: int = 40, longest: int = 9, attributes: int = 1) -> World:
    """Queries of 0 to ``longest`` candidates; some judged documents are no candidates, some queries are not judged."""
    rng = np.random.default_rng(seed)
    qids = [f"q{number}" for number in range(queries)]
    rows, judged, grades = [], [], []
    for _ in qids:
        pool = rng.permutation(n_docs)
        size = int(rng.integers(0, longest + 1))
        rows.append(np.sort(pool[:size]))
        known = np.sort(rng.choice(pool[: size + 3], size=int(rng.integers(0, size + 3)), replace=False))
        judged.append(known)
        grades.append(rng.choice([-2, 0, 0, 1, 1, 2, 3], size=len(known)))
    score = np.round(rng.normal(size=sum(map(len, rows))), 1)
    order = [np.argsort(-part, kind="stable") for part in np.split(score, np.cumsum([len(r) for r in rows])[:-1])]
    parts = np.split(score, np.cumsum([len(r) for r in rows])[:-1])
    candidates = Candidates(
        np.arange(queries, dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(r) for r in rows])]),
        np.concatenate([r[o] for r, o in zip(rows, order, strict=True)]),
        {"score": np.concatenate([s[o] for s, o in zip(parts, order, strict=True)])},
    )
    kept = [number for number in range(queries) if len(judged[number])]
    judgments = Judgments(
        np.array(kept, dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(judged[number]) for number in kept])]),
        np.concatenate([np.empty(0, np.int64), *(judged[number] for number in kept)]),
        {"grade": np.concatenate([np.empty(0), *(grades[number] for number in kept)]).astype(np.int16)},
    )
    groups = {name: alignment(rng, n_docs, name) for name in ("economy", "h_index")[:attributes]}
    return World(qids, candidates, judgments, groups, query_streams(qids))


def alignment(rng: np.random.Generator, n_docs: int, attribute: str = "economy") -> GroupAlignment:
    """Three groups, documents in none, one or two of them with any weights; the rest is counted as unknown."""
    doc = rng.integers(0, n_docs, size=n_docs)
    pairs = np.unique(np.stack([doc, rng.integers(0, 3, size=n_docs)], axis=1), axis=0)
    weight = rng.random(len(pairs))
    return GroupAlignment.of_entries(
        attribute, ("a", "b", "c"), pairs[:, 0], pairs[:, 1], weight, n_docs, "value"
    ).resolve("count")


def random_rankings(seed: int, over: Candidates, draws: int = 4, short: bool = True) -> Rankings:
    """Unequal weights, rankings of unequal length, some empty; a row without candidates has empty rankings."""
    rng = np.random.default_rng(seed)
    lists, weight = [], []
    for row in range(len(over)):
        size = int(over.lengths[row])
        lists.extend(rng.permutation(size)[: rng.integers(0, size + 1) if short else size] for _ in range(draws))
        share = rng.random(draws)
        weight.append(share / share.sum())
    return Rankings(
        over,
        np.arange(len(over) + 1) * draws,
        np.concatenate([[0], np.cumsum([len(items) for items in lists])]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *lists]).astype(np.int32),
        np.concatenate(weight),
        np.tile(np.arange(draws, dtype=np.int32), len(over)),
    )


def grades_of(judgments: Judgments, query: int) -> dict[int, int]:
    """Document -> grade as judged."""
    for row in np.flatnonzero(judgments.query == query):
        part = judgments.row(int(row))
        return dict(zip(judgments.doc[part].tolist(), judgments.grade[part].tolist(), strict=True))
    return {}


def lists_of(rankings: Rankings, row: int) -> list[tuple[float, list[int]]]:
    """(weight, document codes best first) of every ranking of a row."""
    docs = rankings.over.doc[rankings.over.row(row)]
    out = []
    for ranking in range(int(rankings.query_ptr[row]), int(rankings.query_ptr[row + 1])):
        items = rankings.item[rankings.item_ptr[ranking] : rankings.item_ptr[ranking + 1]]
        out.append((float(rankings.weight[ranking]), docs[items].tolist()))
    return out


def gerr_exposure(ranking: list[int], grade: dict[int, int], p: float = 0.5, u: float = 0.5) -> dict[int, float]:
    """Exposure of one ranking under GERR."""
    seen, out = 1.0, {}
    for doc in ranking:
        out[doc] = seen
        seen *= p * (1 - u * (grade.get(doc, 0) > 0))
    return out


def mean_exposure(lists: list[tuple[float, list[int]]], grade: dict[int, int], **model: float) -> dict[int, float]:
    """Weighted mean exposure of rankings under GERR."""
    out: dict[int, float] = {}
    for weight, ranking in lists:
        for doc, value in gerr_exposure(ranking, grade, **model).items():
            out[doc] = out.get(doc, 0.0) + weight * value
    return out


def enumerated_target(docs: list[int], grade: dict[int, int], **model: float) -> dict[int, float]:
    """Mean exposure over all rankings in which the grade never rises (grades below 0 count as 0)."""
    gain = {doc: max(grade.get(doc, 0), 0) for doc in docs}
    allowed = [
        list(order)
        for order in itertools.permutations(docs)
        if all(gain[first] >= gain[second] for first, second in itertools.pairwise(order))
    ]
    return mean_exposure([(1 / len(allowed), order) for order in allowed], gain, **model)
