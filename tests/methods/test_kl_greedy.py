"""Calibrated reranking: the oracle's greedy rankings, a plain twin, and the odd ends of the input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers.methods.kl_greedy import KlGreedy
from rerankers.methods.targets import Population, Uniform
from rerankers.values import Block


def order(method: KlGreedy, part: Block) -> list[int]:
    items: list[int] = method.policy(part).rankings.item.tolist()
    return items


def objective(chosen: list[int], score: np.ndarray, member: np.ndarray, p: np.ndarray, w: float, a: float) -> float:
    """Return (1 - w) sum of scores - w KL(p || (1 - a) q + a p), q over the documents that have a group."""
    counts = member[chosen].sum(axis=0)
    q = counts / counts.sum() if counts.sum() > 0 else counts
    mixed = (1 - a) * q + a * p
    kl = sum(x * np.log(x / y) for x, y in zip(p, mixed, strict=True) if x > 0)
    return float((1 - w) * score[chosen].sum() - w * kl)


@pytest.mark.shared_data
def test_oracle(shared: Path) -> None:
    file = shared / "oracles" / "algorithms" / "exact_pl_permutahedron_kl.json"
    for case in json.loads(file.read_text())["steck"]:
        p, score = np.array(case["p"]), np.array(case["scores"])
        groups = [str(group) for group in case["group"]]
        names = [str(group) for group in range(len(p))]
        target = Population({name: float(share) for name, share in zip(names, p, strict=True)})
        part = block([score.tolist()], {"g": alignment("g", groups, "drop", names)}, target=target)
        method = KlGreedy(case["lam"], case["alpha"], case["k"], scores="raw")
        chosen = order(method, part)[: case["k"]]
        assert chosen == case["greedy"]
        member = np.eye(len(p))[case["group"]]
        reached = objective(chosen, score, member, p, case["lam"], case["alpha"])
        assert reached == pytest.approx(case["greedy_obj"], abs=1e-12)


@given(data=st.data(), n=st.integers(1, 8), weight=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_twin(data: st.DataObject, n: int, weight: float) -> None:
    soft = st.dictionaries(st.sampled_from("ABC"), st.sampled_from([0.25, 0.5, 1.0]), max_size=3)
    labels = data.draw(st.lists(soft | st.sampled_from(["A", "B", None]), min_size=n, max_size=n))
    score = np.array(data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n, unique=True)), dtype=float) / 7
    groups = {"g": alignment("g", labels, "drop", "ABC")}
    target = Population({"A": 0.5, "B": 0.3, "C": 0.2})
    part = block([score.tolist()], groups, target=target)
    chosen = order(KlGreedy(weight, scores="raw"), part)
    assert sorted(chosen) == list(range(n))
    member = np.array(
        [[({one: 1.0} if isinstance(one, str) else one or {}).get(g, 0.0) for g in "ABC"] for one in labels]
    )
    total = member.sum(axis=1, keepdims=True)
    member = member / np.where(total > 0, total, 1)
    p = np.array([0.5, 0.3, 0.2]) * (member.sum(axis=0) > 0)
    p = p / p.sum() if p.sum() > 0 else p
    for rank in range(n):
        gains = {d: objective([*chosen[:rank], d], score, member, p, weight, 0.01) for d in chosen[rank:]}
        assert gains[chosen[rank]] >= max(gains.values()) - 1e-12
        same = [d for d, gain in gains.items() if gain == gains[chosen[rank]]]
        twins = [d for d in same if np.array_equal(member[d], member[chosen[rank]])]
        assert chosen[rank] == max(twins, key=lambda d: score[d])


def test_ends_of_the_weight() -> None:
    part = block([[5.0, 4, 3, 2, 1, 0]], {"g": alignment("g", list("AAAABB"))}, target=Uniform())
    assert order(KlGreedy(0.0), part) == [0, 1, 2, 3, 4, 5]
    assert order(KlGreedy(1.0), part)[:4] == [0, 4, 1, 5]
    assert order(KlGreedy(1.0, cutoff=2), part) == [0, 4, 1, 2, 3, 5]
    assert order(KlGreedy(0.0), replace(part, target=None)) == [0, 1, 2, 3, 4, 5]


def test_unknown_ties_and_empty_rows() -> None:
    labels = ["A", None, "A", "B", "A", None, "B"]
    rows = [[1.0, 1.0, 1.0, 1.0], [], [2.0], [0.5, 0.7]]
    for unknown in ("count", "drop", "spread"):
        part = block(rows, {"g": alignment("g", labels, unknown)}, target=Uniform())
        policy, counts = KlGreedy().reranked(part)
        assert policy.rankings.counts.tolist() == [1, 1, 1, 1]
        assert policy.sample(2, 0).counts.tolist() == [2, 2, 2, 2]
        assert counts.get("rows_without_target", 0) == 0
    part = block(rows, {"g": alignment("g", labels)}, target=Uniform())
    # nothing known yet: A by its place; then B; the unknown document changes no share, and its score counts the same
    assert order(KlGreedy(0.5), part)[:4] == [0, 3, 1, 2]


def test_scales_of_scores() -> None:
    part = block(
        [[1e6, 0.0, -1e6]], {"g": alignment("g", list("ABB"))}, [[0.9, 0.8, 0.1]], target=Population({"B": 1.0})
    )
    for scores in ("minmax", "zscore", "probability", "raw"):
        assert order(KlGreedy(0.9, scores=scores), part)[0] == 1
    assert order(KlGreedy(0.01, scores="probability"), part) == [0, 1, 2]
    assert order(KlGreedy(0.5, scores="minmax"), block([[2.0, 2.0]], part.groups)) == [0, 1]


def test_two_attributes() -> None:
    groups = {"one": alignment("one", list("AABB")), "two": alignment("two", list("xyxy"))}
    part = block([[4.0, 3, 2, 1]], groups, target=Uniform())
    assert order(KlGreedy(1.0), part)[:2] == [0, 3]
    assert order(KlGreedy(1.0, attributes=["two"]), part)[:2] == [0, 1]


def test_messages() -> None:
    with pytest.raises(ConfigError, match=r"method.fairness_weight: found 1\.5; expected a number between 0 and 1"):
        KlGreedy(1.5)
    with pytest.raises(ConfigError, match=r"method.smoothing: found 0\.0"):
        KlGreedy(smoothing=0.0)
    with pytest.raises(ConfigError, match=r"method.cutoff: found 0"):
        KlGreedy(cutoff=0)
    with pytest.raises(ConfigError, match=r"method.scores: found 'score'"):
        KlGreedy(scores="score")
    with pytest.raises(ConfigError, match=r"method=kl_greedy: found no groups"):
        KlGreedy().policy(block([[1.0]], {}))
