"""The best that a list allows, against every order, every mixture of two, and a linear program."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rerankers._base.streams import query_streams
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.names import parse
from rerankers.stages.presence_front import (
    Row,
    best_for_balance,
    best_for_neutrality,
    mixture,
    position_weights,
)
from rerankers.values import Candidates, GroupAlignment, Judgments


def row(labels: str, gain: list[float], cutoff: int = 3) -> Row:
    n = len(labels)
    neutral = np.array([one == "N" for one in labels], float)
    gap = np.array([{"M": 1.0, "F": -1.0}.get(one, 0.0) for one in labels])
    return Row(np.array(gain), neutral / 2.0, neutral, gap, position_weights(n, cutoff))


def exposure(one: Row, found: list[tuple[np.ndarray, float]]) -> np.ndarray:  # type: ignore[type-arg]
    out = np.zeros(len(one.gain))
    for order, part in found:
        out[order] += part * one.weight
    return out


def balance(one: Row, value: np.ndarray, mix: float, alpha: float) -> float:  # type: ignore[type-arg]
    """(1 - mix) nDCG + mix CWEx of expected exposure, written down again."""
    cwex = (alpha * value @ one.neutral - (1 - alpha) * abs(value @ one.gap)) / one.weight.sum()
    return float((1 - mix) * value @ one.gain + mix * cwex)


def by_program(one: Row, mix: float, alpha: float) -> float:
    """The same, maximised over all distributions over orders by a linear program."""
    n = len(one.gain)
    orders = list(permutations(range(n)))
    shown = np.array([exposure(one, [(np.array(order), 1.0)]) for order in orders])
    total = one.weight.sum()
    value = (1 - mix) * shown @ one.gain + mix * alpha * shown @ one.neutral / total
    gap = shown @ one.gap / total
    # one more variable t >= |gap|, whose weight is -mix (1 - alpha)
    cost = np.append(-value, mix * (1 - alpha))
    found = linprog(
        cost,
        A_ub=np.array([np.append(gap, -1.0), np.append(-gap, -1.0)]),
        b_ub=[0, 0],
        A_eq=[np.append(np.ones(len(orders)), 0.0)],
        b_eq=[1],
        bounds=(0, None),
    )
    return float(-found.fun)


@settings(max_examples=60)
@given(
    st.text("NMF", min_size=1, max_size=5),
    st.lists(st.sampled_from([0.0, 0.3, 0.6]), min_size=5, max_size=5),
    st.sampled_from([0.1, 0.35, 0.5, 0.9]),
    st.sampled_from([0.2, 0.5, 0.8]),
    st.integers(1, 5),
)
def test_the_best_for_balance_is_the_best(labels: str, gain: list[float], mix: float, alpha: float, cut: int) -> None:
    one = row(labels, gain[: len(labels)], cut)
    found = best_for_balance(one, mix, alpha)
    assert sum(part for _, part in found) == pytest.approx(1.0)
    assert all(sorted(order.tolist()) == list(range(len(labels))) for order, _ in found)
    assert balance(one, exposure(one, found), mix, alpha) == pytest.approx(by_program(one, mix, alpha), abs=1e-8)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5),
    st.floats(0.01, 0.99),
    st.integers(1, 5),
)
def test_the_best_for_neutrality_is_the_best(pairs: list[tuple[float, float]], mix: float, cut: int) -> None:
    gain, neutral = (np.array(column) for column in zip(*pairs, strict=True))
    one = Row(gain, neutral, neutral, np.zeros(len(gain)), position_weights(len(gain), cut))
    value = (1 - mix) * gain + mix * neutral
    best = max(float(one.weight @ value[list(order)]) for order in permutations(range(len(gain))))
    assert exposure(one, best_for_neutrality(one, mix)) @ value == pytest.approx(best, abs=1e-9)


def test_ends_are_the_best_of_the_best() -> None:
    one = row("MNF", [0.5, 0.5, 0.5])
    (order, part), *rest = best_for_neutrality(one, 0.0)
    assert (order[0], part, rest) == (1, 1.0, [])  # equal gains: the neutral one first
    one = row("MNN", [0.1, 0.2, 0.3])
    assert best_for_neutrality(one, 1.0)[0][0].tolist() == [2, 1, 0]


def test_balance_needs_two_rankings() -> None:
    one = row("MF", [0.0, 0.0], 2)
    found = best_for_balance(one, 0.5, 0.5)
    assert sorted(order.tolist() for order, _ in found) == [[0, 1], [1, 0]]
    assert [part for _, part in found] == pytest.approx([0.5, 0.5])


def test_as_a_policy_it_measures_as_it_should() -> None:
    candidates = Candidates(
        np.array([0, 1], np.int32),
        np.array([0, 2, 5]),
        np.array([0, 1, 0, 1, 2], np.int32),
        {"score": np.array([2.0, 1, 3, 2, 1])},
    )
    rows = [row("MF", [0.0, 0.0], 10), row("MFN", [0.0, 0.0, 0.0], 10)]
    policy = mixture(candidates, query_streams(["a", "b"]), lambda place: best_for_balance(rows[place], 0.5, 0.5))
    assert policy.rankings.counts.tolist() == [2, 2]
    judgments = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    names = ("neutral", "male", "female")
    group = np.array([1, 2, 0])
    aligned = GroupAlignment.of_entries("gender", names, np.arange(3), group, np.ones(3), 3).resolve("count")
    one = Evaluation(policy, judgments, {"gender": aligned})
    assert parse("CWEx(of='gap')@10").per_unit(one).value.tolist() == pytest.approx([0.0, 0.0], abs=1e-12)
    best = 0.5 / (1.0 + 1.0 / np.log2(3.0) + 0.5)  # the neutral document first, the others by turns
    assert parse("CWEx@10").per_unit(one).value.tolist() == pytest.approx([0.0, best])


def test_by_beliefs_no_ranking_is_better() -> None:
    """The families by beliefs take probabilities as gains: of all orders none is better."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        belief, labels = rng.random(5), rng.choice(list("NMF"), 5)
        one = row("".join(labels), (belief / np.sort(belief)[::-1].dot(position_weights(5, 3))).tolist())
        for mix in (0.1, 0.4, 0.8):
            (order, _), *_ = best_for_neutrality(one, mix)
            utility, neutral = (one.weight @ value[order] for value in (one.gain, one.neutrality))
            for other in permutations(range(5)):
                better = one.weight @ one.gain[list(other)], one.weight @ one.neutrality[list(other)]
                assert not (better[0] > utility + 1e-9 and better[1] >= neutral - 1e-9)
