"""A made-up world whose documents have labels, neutralities and counted words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from measure_worlds import World, random_rankings, world

from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.scores import REASONS, Scores
from rerankers.values import GroupAlignment
from rerankers.values.companions import NEUTRALITY, SHARES, WORDS, companion

LABELS = ("neutral", "male", "female")


def labelled_world(
    seed: int = 0, unknown: float = 0.15, queries: int = 6, longest: int = 9, n_docs: int = 40
) -> tuple[World, list[str | None], dict[str, GroupAlignment], dict[str, np.ndarray], GroupAlignment]:
    """Return the world, the label of each document, companions, their values by document, and the labels aligned."""
    made, rng = world(seed, queries=queries, longest=longest, n_docs=n_docs), np.random.default_rng(seed + 100)
    code = np.where(rng.random(n_docs) < unknown, 3, rng.integers(0, 3, size=n_docs))
    known = np.flatnonzero(code < 3)
    aligned = GroupAlignment.of_entries("gender", LABELS, known, code[known], np.ones(len(known)), n_docs)
    values = {
        "neutrality": np.round(rng.random(n_docs), 2),
        "words": rng.integers(0, 4, size=(n_docs, 2)).astype(float),
    }
    values["shares"] = values["words"] / rng.integers(6, 20, size=(n_docs, 1))
    companions = {
        companion("gender", NEUTRALITY): valued(("neutrality",), values["neutrality"][:, None]),
        companion("gender", WORDS): valued(("male", "female"), values["words"]),
        companion("gender", SHARES): valued(("male", "female"), values["shares"]),
    }
    return made, [None if one == 3 else LABELS[one] for one in code], companions, values, aligned


def valued(names: tuple[str, ...], table: np.ndarray) -> GroupAlignment:
    """Return values of documents as an alignment; NaN is unknown."""
    doc, group = np.nonzero(np.nan_to_num(table))
    made = GroupAlignment.of_entries("gender", names, doc, group, table[doc, group], len(table), "value")
    return replace(made, unknown=np.isnan(table).any(axis=1).astype(float))


def reason(scores: Scores, row: int) -> str:
    """Why a query has no value; nothing where it has one."""
    code = int(scores.reason[row])
    return REASONS[code] if code >= 0 else ""


def evaluations(seed: int, unknown: str = "count", **options: object) -> tuple[Evaluation, list[str | None], dict]:
    """Given rankings of a made-up world, the label of each document and its values."""
    made, labels, companions, values, aligned = labelled_world(seed)
    rankings = random_rankings(seed, made.candidates)
    groups = {"gender": aligned.resolve(unknown)}
    return Evaluation(rankings, made.judgments, groups, Options(**options), companions), labels, values


def mean(pairs: list[tuple[float, float | None]]) -> float | None:
    """Weighted mean of the values that are there."""
    known = [(weight, value) for weight, value in pairs if value is not None]
    total = sum(weight for weight, _ in known)
    return sum(weight * value for weight, value in known) / total if total else None
