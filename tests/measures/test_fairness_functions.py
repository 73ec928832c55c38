"""Rates, pairs, joint exposure, attention, the worst off and the front: published code, brute force, edges."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.attention import iaa
from rerankers.measures.front_distance import front_points, pareto_distance
from rerankers.measures.joint_exposure import jme
from rerankers.measures.pairs import favoured_pairs
from rerankers.measures.prefix_divergence import ndkl
from rerankers.measures.rate_parity import group_rates, unequal
from rerankers.measures.worst_off import leximin, lexirecall

HOW = {
    "MinMaxRatio": "min_max",
    "MaxMinRatio": "max_min",
    "MaxMinDiff": "difference",
    "MaxAbsDiff": "max_deviation",
    "MeanAbsDev": "mean_deviation",
    "LTwo": "l2",
    "Variance": "variance",
}


def oracle(shared: Path, name: str) -> list[dict]:
    return json.loads((shared / "oracles" / "algorithms" / f"{name}.json").read_text())["cases"]


@pytest.mark.shared_data
def test_jme_is_that_of_the_published_code(shared: Path) -> None:
    cases = oracle(shared, "jme")
    for case in cases:
        found = jme(
            case["E_system"],
            case["E_target"],
            case["E_collect"],
            item_groups=case["item_groups"],
            user_groups=case["user_groups"],
            mask=case["mask"],
        )
        for name, parts in case["result_[metric,disparity,relevance]"].items():
            assert found[name] == pytest.approx(parts, abs=1e-9)
    assert len(cases) == 14


@pytest.mark.shared_data
def test_ratios_pairs_ndkl_and_iaa_are_those_of_fairranktune(shared: Path) -> None:
    checked = 0
    for case in oracle(shared, "fairranktune"):
        rankings = case["rankings"]
        label = {int(doc): group for doc, group in case["groups"].items()}
        docs = sorted(label)
        groups = [label[doc] for doc in docs]

        def by_doc(weight, per_position=None, rankings=rankings, docs=docs):
            total = dict.fromkeys(docs, 0.0)
            for r, ranking in enumerate(rankings):
                for place, doc in enumerate(ranking):
                    total[doc] += weight(place) if per_position is None else per_position[r][place]
            return [total[doc] for doc in docs]

        log = by_doc(lambda place: 1 / math.log2(place + 2))
        rbp = by_doc(lambda place: 0.2 * 0.8**place)
        relevance, clicks = by_doc(None, case["relevance_by_position"]), by_doc(None, case["ctr_by_position"])
        amounts = {
            "EXP": (log, "member"),
            "EXPU": (log, relevance),
            "EXPRU": (clicks, relevance),
            "ERBE_.8": (rbp, "group"),
            "ERBP_.8": (rbp, "member"),
            "ERBR_.8": (rbp, relevance),
        }
        fpr = sum(favoured_pairs([label[doc] for doc in ranking])[0] for ranking in rankings)
        for key, expected in case["metrics"].items():
            name, _, combo = key.partition("/")
            if name == "ARP":
                rate = fpr
            elif name in amounts:
                rate, _ = group_rates(amounts[name][0], groups, amounts[name][1])
            else:
                continue
            if isinstance(expected, str):
                continue
            value, per_group = expected
            assert rate == pytest.approx([per_group[str(g)] for g in sorted(set(groups))], rel=1e-10)
            assert unequal(rate, HOW[combo]) == pytest.approx(float(value), rel=1e-9, abs=1e-14)
            checked += 1
        if not isinstance(case["metrics"]["NDKL"], str):
            order = [label[doc] for doc in rankings[0]]
            assert ndkl(order, form="fairranktune") == pytest.approx(case["metrics"]["NDKL"], rel=1e-12)
            assert ndkl(order) == pytest.approx(case["metrics"]["NDKL"], abs=2e-6)
        first = 1 / np.log2(np.arange(len(rankings[0])) + 2)
        legacy = iaa(first, case["relevance_by_position"][0], form="fairranktune")
        assert legacy == pytest.approx(case["metrics"]["IAA"], rel=1e-12)
    assert checked > 100


def test_jme_brute_force_masked_and_weighted() -> None:
    rng = np.random.default_rng(5)
    system, target, collect = rng.random((3, 4, 6))
    mask = (rng.random((4, 6)) < 0.7).astype(float)
    items, users = rng.random((3, 6)), np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=float)
    found = jme(system, target, collect, item_groups=items, user_groups=users, mask=mask)
    sides = {"I": np.eye(4), "G": users, "A": np.ones((1, 4))}, {"I": np.eye(6), "G": items}
    for name, (loss, disparity, relevance) in found.items():
        rows, columns = sides[0][name[0]], sides[1][name[1]]
        cells = [0.0, 0.0, 0.0]
        for a, b in itertools.product(rows, columns):
            weight = np.outer(a, b) * mask
            if weight.sum() > 0:
                s = ((system - collect) * weight).sum() / weight.sum()
                t = ((target - collect) * weight).sum() / weight.sum()
                cells = [x + y for x, y in zip(cells, ((s - t) ** 2, s * s, 2 * s * t), strict=True)]
        number = mask.sum() if name == "II" else len(rows) * len(columns)
        assert (loss, disparity, relevance) == pytest.approx([x / number for x in cells], rel=1e-12)
    assert set(jme(system, target)) == {"II", "AI"}
    assert set(jme(system, target, item_groups=items)) == {"II", "AI", "IG", "AG"}
    uniform = jme(np.full((2, 3), 0.5), [[1.0, 0.5, 0.0]] * 2)  # a random ranking: no disparity
    assert uniform["II"].disparity == uniform["AI"].disparity == 0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"target": [[1.0]]}, "target"),
        ({"item_groups": [[1.0]]}, "item_groups"),
        ({"user_groups": [[-1.0, 0.0]]}, "user_groups"),
        ({"mask": [[0, 0], [0, 0]]}, "mask"),
        ({"collection": [1.0, 2.0]}, "collection"),
        ({"system": [[np.nan, 1], [1, 1]]}, "system"),
    ],
)
def test_jme_refuses(change: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        jme(**{"system": [[1, 0], [0, 1]], "target": [[1, 0], [0, 1]], **change})


def test_iaa_amortises() -> None:
    attention, relevance = np.array([[1.0, 0.5], [0.5, 1.0]]), np.ones((2, 2))
    assert iaa(attention, relevance) == pytest.approx(0.0)
    assert iaa(attention[0], relevance[0]) == pytest.approx(2 * (2 / 3 - 0.5))
    assert iaa([1.0, 0.0], [0.0, 3.0]) == 2.0
    assert iaa([[0.0]], [[0.0]]) == 0.0
    with pytest.raises(InputError, match="relevance"):
        iaa([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="attention"):
        iaa([-1.0], [1.0])


@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=9))
def test_favoured_pairs_are_counted(labels: list[str]) -> None:
    rate, names = favoured_pairs(labels)
    for place, name in enumerate(names):
        pairs = [i < j for i, j in itertools.permutations(range(len(labels)), 2)
                 if labels[i] == name != labels[j]]  # fmt: skip
        if pairs:
            assert rate[place] == pytest.approx(sum(pairs) / len(pairs))
        else:
            assert np.isnan(rate[place])


def test_rates_and_how_unequal_they_are() -> None:
    rate, names = group_rates([1.0, 0.5, 0.25], ["a", "b", None])
    assert names == ["a", "b"]
    assert rate.tolist() == [1.0, 0.5]
    soft, _ = group_rates([1.0, 0.5], [[0.5, 0.5], [1.0, 0.0]], [0.0, 2.0])
    assert soft[0] == pytest.approx(0.5)
    assert np.isnan(soft[1])
    assert unequal([0.0, 0.0]) == unequal([0.0, 0.0], "max_min") == 1.0
    assert unequal([0.0, 1.0], "max_min") == math.inf
    assert unequal([1.0, np.nan, 3.0], "difference") == 2.0
    for wrong in ([1.0], [1.0, np.nan], [-1.0, 1.0]):
        with pytest.raises(InputError, match="rate"):
            unequal(wrong)
    with pytest.raises(InputError, match="amounts"):
        group_rates([1.0], ["a", "b"])


def test_lexirecall_compares_from_the_last() -> None:
    assert lexirecall([1, 5], [2, 4]) == -1
    assert lexirecall([1, 5], [2, 5]) == 1
    assert lexirecall([3, 1], [1, 3]) == 0
    assert lexirecall([1, 2], [1]) == 1  # b has not retrieved the second
    assert lexirecall([1], [2], relevant=3) == 1
    assert lexirecall([], []) == 0
    for wrong in ([1, 1], [np.inf]):
        with pytest.raises(InputError):
            lexirecall(wrong, [1])
    with pytest.raises(InputError, match="relevant"):
        lexirecall([1, 2], [1], relevant=1)


@given(st.lists(st.permutations(range(1, 7)), min_size=3, max_size=3))
def test_lexirecall_is_an_order_and_that_of_leximin(three: list[list[int]]) -> None:
    a, b, c = (ranks[:3] for ranks in three)
    assert lexirecall(a, b) == -lexirecall(b, a)
    expected = (sorted(b, reverse=True) > sorted(a, reverse=True)) - (sorted(b, reverse=True) < sorted(a, reverse=True))
    assert lexirecall(a, b) == expected == leximin([1 / r for r in a], [1 / r for r in b])
    if lexirecall(a, b) >= 0 and lexirecall(b, c) >= 0:
        assert lexirecall(a, c) >= 0


def test_leximin_tolerates_rounding() -> None:
    assert leximin([0.1, 0.2], [0.2 + 1e-15, 0.1]) == 0
    assert leximin([0.1, 0.3], [0.2, 0.1]) == 1
    with pytest.raises(InputError):
        leximin([1.0], [1.0, 2.0])


def test_distance_to_the_front() -> None:
    utility, loss = [0.0, 1.0, 0.5, 0.4], [0.0, 1.0, 0.9, 2.0]
    assert front_points(utility, loss).tolist() == [[0.0, 0.0], [0.5, 0.9], [1.0, 1.0]]
    assert front_points([1, 1, 0], [2, 1, 1]).tolist() == [[1.0, 1.0]]
    line = {"front_utility": [0.0, 2.0], "front_loss": [0.0, 4.0]}
    assert pareto_distance(1.0, 2.0, **line) == pytest.approx([0.0])
    assert pareto_distance(0.0, 4.0, **line) == pytest.approx([math.sqrt(0.5)])
    assert pareto_distance([0.0, 2.0], [0.0, 4.0], **line, alpha=0.0) == pytest.approx([0.0, math.sqrt(2)])
    assert pareto_distance(0.0, 5.0, **line, alpha=None, scaled=False) == pytest.approx([5 / math.sqrt(5)])
    assert pareto_distance(3.0, 4.0, [0.0], [0.0], alpha=None) == pytest.approx([5.0])
    with pytest.raises(ConfigError, match="alpha"):
        pareto_distance(0.0, 0.0, **line, alpha=2.0)
    with pytest.raises(InputError, match="front"):
        pareto_distance(0.0, 0.0, [], [])


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_nearest_point_of_the_front_by_search(points: list[tuple], system: tuple) -> None:
    x, y = (np.array(axis, dtype=float) for axis in zip(*points, strict=True))
    front = front_points(x, y)
    kept = {(a, b) for a, b in points if not any(c >= a and d <= b and (c, d) != (a, b) for c, d in points)}
    assert {tuple(point) for point in front.tolist()} == kept
    nearest = pareto_distance(*system, x, y, alpha=None, scaled=False)[0]
    grid = np.concatenate([front[:1], *[a + (b - a) * np.linspace(0, 1, 200)[:, None]
                                        for a, b in itertools.pairwise(front)]])  # fmt: skip
    searched = np.sqrt(((grid - system) ** 2).sum(axis=1)).min()
    assert nearest <= searched + 1e-9
    assert searched - nearest < 0.05
    for alpha in (0.0, 0.3, 1.0):
        assert pareto_distance(*system, x, y, alpha=alpha, scaled=False)[0] >= nearest - 1e-9
