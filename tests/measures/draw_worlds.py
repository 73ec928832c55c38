"""One small query with documents of soft groups, and policies over it that can be enumerated or have no forms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from rerankers._base.streams import query_streams
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.names import parse
from rerankers.measures.scores import REASONS
from rerankers.policies import GradeShuffle, LabelShuffle, Mallows, PlackettLuce, Policy
from rerankers.values import GroupAlignment, Judgments, Ragged, Rankings

SEEDS = st.integers(0, 2**31)


def one_query(grades: list[int | None], groups: list[dict[str, float]], policy_of: object) -> Evaluation:
    """One query over documents 0 … n - 1; a grade None is not judged; the policy is made of the rows."""
    judged = [number for number, grade in enumerate(grades) if grade is not None]
    judgments = Judgments(
        np.zeros(1, np.int32),
        np.array([0, len(judged)]),
        np.array(judged, np.int32),
        {"grade": np.array([grades[number] for number in judged], np.int16)},
    )
    names = tuple(sorted({name for part in groups for name in part}))
    entries = [(doc, names.index(name), w) for doc, part in enumerate(groups) for name, w in part.items()]
    doc, group, weight = (np.array(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    align = GroupAlignment.of_entries(
        "g", names, np.asarray(doc, int), np.asarray(group, int), np.asarray(weight, float), len(grades), "value"
    )
    over = Ragged(np.zeros(1, np.int32), np.array([0, len(groups)]), np.arange(len(groups), dtype=np.int32))
    return Evaluation(policy_of(over), judgments, {"g": align.resolve("count")})  # type: ignore[operator]


def enumerated(policy: Policy, n: int) -> list[tuple[float, list[int]]]:
    """All complete rankings with their probabilities."""
    orders = list(permutations(range(n)))
    rankings = Rankings.of_matrix(policy.over, [np.array(orders, dtype=np.int64).reshape(len(orders), n)])
    return [(float(p), list(order)) for p, order in zip(np.exp(policy.log_prob(rankings)), orders, strict=True)]


def value(evaluation: Evaluation, text: str) -> float:
    (number,) = parse(text).per_unit(evaluation).value
    return float(number)


def reason(evaluation: Evaluation, text: str) -> str:
    (code,) = parse(text).per_unit(evaluation).reason
    return REASONS[code]


N = 4
GRADES: list[int | None] = [1, 0, 2, None, 1]  # document 4 is judged, but no candidate
GROUPS = [{"a": 1.0}, {"b": 1.0}, {"a": 0.5, "b": 0.5}, {}]
LOGIT = np.array([1.5, 0.2, -0.4, 0.9])
STREAM = query_streams(["q"])
POLICIES = {
    "plackett-luce": lambda over: PlackettLuce(over, LOGIT, STREAM),
    "shuffle": lambda over: GradeShuffle(over, np.array([1, 0, 1, 1]), STREAM),
    "labels": lambda over: LabelShuffle(over, np.array([0.3, 0.9, 0.2, 0.6]), STREAM),
    "mallows": lambda over: Mallows(over, np.array([0, 3, 1, 2]), np.array([0.7]), STREAM),
}


class Opaque:
    """A policy without any closed form."""

    def __init__(self, inner: Policy) -> None:
        self.inner, self.over, self.stream = inner, inner.over, inner.stream
        self.sample, self.schedule, self.log_prob = inner.sample, inner.schedule, inner.log_prob

    def exposure(self, browsing: object) -> None:
        return None


def first_four(over: Ragged) -> Ragged:
    """Only the first four of five documents are candidates."""
    return Ragged(over.query, np.array([0, 4]), over.doc[:4])
