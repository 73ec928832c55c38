"""Generators compared: published counter-example, plain twins, equal numbers, statistics."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.contest import contest
from rerankers.queries.contest_pairs import ContestOptions
from rerankers.queries.contest_shares import all_of, equal_choices, shares
from rerankers.queries.hypervolume import hypervolume
from rerankers.stats import mean_intervals
from rerankers.stats.permutation import holm, sign_flip_tests

QUICK = ContestOptions(resamples=200, draws=50)


def beats(a, b) -> bool:
    return bool(np.all(a >= b) and np.any(a > b))


def plain(a, b) -> dict[str, float]:
    """The definitions, of one set over another."""
    both = [*a, *b]
    front = [not any(beats(other, one) for other in both) for one in both]
    mine = sum(front[: len(a)])
    return {
        "coverage": sum(any(beats(x, y) for x in a) for y in b) / len(b),
        "raw_count": sum(beats(x, y) for x in a for y in b),
        "pair_rate": sum(beats(x, y) for x in a for y in b) / len(a) / len(b),
        "front_share": mine / len(a),
        "front_origin": mine / sum(front),
        "hypervolume": hypervolume(a),
    }


def worlds(seed, sizes, d=3, grid=None):
    draw = np.random.default_rng(seed)
    one = [draw.random((size, d)) if grid is None else draw.integers(0, grid, (size, d)) / grid for size in sizes]
    return [np.asarray(points, float) for points in one]


@pytest.mark.shared_data
def test_published_counter_example(shared: Path) -> None:
    cases = json.loads((shared / "oracles/text-bias-and-queries/pareto.json").read_text())["cases"]
    case = next(one for one in cases if one.get("kind") == "method_comparison")
    pair = contest({"t": {"A": case["A"], "B": case["B"]}}, QUICK)["pairs"][0]
    found = {name: (one["a"]["mean"], one["b"]["mean"]) for name, one in pair["all"].items()}
    assert found["raw_count"] == (case["raw_count_A_over_B"], case["raw_count_B_over_A"]) == (9, 8)
    assert found["coverage"] == (case["coverage_C(A,B)=share of B dominated by >=1 of A"], case["coverage_C(B,A)"])
    assert found["pair_rate"] == pytest.approx((case["pairs_rate_A_over_B"], case["pairs_rate_B_over_A"]), abs=1e-12)
    assert found["front_share"] == pytest.approx((case["front_share_of_A"], case["front_share_of_B"]), abs=1e-12)
    assert found["front_origin"] == pytest.approx((3 / 13, 10 / 13))
    assert found["hypervolume"] == pytest.approx((case["hv_A"], case["hv_B"]), abs=1e-9)
    # the smaller set wins on the raw count and loses on everything that is normalised, at equal numbers too
    raw = pair["raw_count"]
    assert (raw["form"], raw["a_over_b"], raw["b_over_a"]) == ("paper", 9, 8)
    assert raw["contradicted_by"] == ["coverage", "front_share", "hypervolume"]


def test_raw_count_that_is_contradicted() -> None:
    a = [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]  # all of them dominate the one weak query of b
    b = [[0.05, 0.05], [0.95, 0.15], [0.55, 0.55]]
    raw = contest({"t": {"a": a, "b": b}}, QUICK)["pairs"][0]["raw_count"]
    assert (raw["a_over_b"], raw["b_over_a"]) == (3, 2)
    assert raw["contradicted_by"] == ["coverage", "front_share", "hypervolume"]
    fair = contest({"t": {"a": a, "b": b[:1]}}, QUICK)["pairs"][0]["raw_count"]
    assert fair["contradicted_by"] == []


@pytest.mark.parametrize("grid", [None, 3])
@pytest.mark.parametrize("seed", range(4))
def test_shares_are_the_definitions_for_each_choice(seed, grid) -> None:
    a, b = worlds(seed, (4, 6), grid=grid)
    choices, complete = equal_choices([4, 6], 0, ["t"])
    assert complete
    assert len(choices[1]) == 15
    found = shares([a, b], choices)
    for row, chosen in enumerate(choices[1]):
        one, other = plain(a, b[chosen]), plain(b[chosen], a)
        for name, table in found.of_pairs.items():
            assert (table[row, 0, 1], table[row, 1, 0]) == pytest.approx((one[name], other[name]))
        for name, table in found.of_sets.items():
            assert tuple(table[row]) == pytest.approx((one[name], other[name]))


def test_equal_numbers_are_means_over_all_choices() -> None:
    a, b = worlds(5, (3, 6))
    pair = contest({"t": {"a": a, "b": b}}, QUICK)["pairs"][0]
    assert pair["topics_enumerated"] == 1
    for name, one in pair["equal"].items():
        values = [plain(a, b[list(chosen)])[name] for chosen in combinations(range(6), 3)]
        assert one["a"]["mean"] == pytest.approx(np.mean(values))
        assert one["spread_a"] == pytest.approx(np.std(values), abs=1e-12)
    # coverage of what is cut down is the mean of a linear function: the cut changes nothing on average
    assert pair["equal"]["coverage"]["a"]["mean"] == pytest.approx(pair["all"]["coverage"]["a"]["mean"])


def test_drawn_choices_come_near_the_means_of_all() -> None:
    a, b = worlds(6, (4, 11))
    every = contest({"t": {"a": a, "b": b}}, ContestOptions(resamples=50))["pairs"][0]
    drawn = contest({"t": {"a": a, "b": b}}, ContestOptions(resamples=50, enumerate_up_to=10, draws=2000))["pairs"][0]
    assert (every["topics_enumerated"], drawn["topics_enumerated"]) == (1, 0)
    for name, one in every["equal"].items():
        other = drawn["equal"][name]
        assert other["b"]["mean"] == pytest.approx(one["b"]["mean"], abs=5 * one["spread_b"] / 2000**0.5 + 1e-12)


@pytest.mark.parametrize(("sizes", "rows"), [((3, 3), 1), ((2, 4), 6), ((1, 3, 2), 6), ((30, 40), 50)])
def test_choices_take_as_many_of_each(sizes, rows) -> None:
    choices, complete = equal_choices(sizes, 1, ["x"], most=100, draws=50)
    assert complete == (rows != 50)
    for size, chosen in zip(sizes, choices, strict=True):
        assert chosen.shape == (rows, size)
        assert (chosen.sum(axis=1) == min(sizes)).all()


def test_a_drawn_choice_depends_on_its_key_only() -> None:
    one, other = (equal_choices([20, 30], 3, ["t", name])[0][1] for name in ("a", "b"))
    assert np.array_equal(one, equal_choices([20, 30], 3, ["t", "a"])[0][1])
    assert not np.array_equal(one, other)


def test_bigger_is_not_better_at_equal_numbers() -> None:
    """Two generators that draw from the same distribution differ in size only: hypervolume says so only if equal."""
    draw = np.random.default_rng(0)
    topics = {str(q): {"few": draw.random((5, 3)), "many": draw.random((15, 3))} for q in range(40)}
    pair = contest(topics, QUICK)["pairs"][0]
    assert pair["all"]["hypervolume"]["difference"]["high"] < -0.1
    equal = pair["equal"]["hypervolume"]
    assert equal["difference"]["low"] < 0 < equal["difference"]["high"]
    assert equal["p_holm"] > 0.05


def test_statistics_are_those_of_the_package_on_shared_resamples() -> None:
    draw = np.random.default_rng(4)
    topics = {
        str(q): {"a": draw.random((4, 2)) * 0.9, "b": draw.random((4, 2)), "c": draw.random((4, 2))} for q in range(12)
    }
    options = ContestOptions(resamples=300, interval="percentile", seed=8)
    found = contest(topics, options)
    order = sorted(topics)
    gaps = np.array(
        [
            plain(topics[q]["a"], topics[q]["b"])["front_share"] - plain(topics[q]["b"], topics[q]["a"])["front_share"]
            for q in order
        ]
    )
    one = found["pairs"][0]["equal"]["front_share"]
    expected = mean_intervals(gaps[:, None], seed=8, resamples=300, method="percentile")[0]
    assert (one["difference"]["mean"], one["difference"]["low"], one["difference"]["high"]) == pytest.approx(
        (expected.mean, expected.low, expected.high)
    )
    assert one["p"] == pytest.approx(sign_flip_tests(gaps[:, None], seed=8).p[0])
    tested = [pair["equal"][name] for pair in found["pairs"] for name in ("coverage", "front_share", "hypervolume")]
    assert [one["p_holm"] for one in tested] == pytest.approx(holm([one["p"] for one in tested]).tolist())
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pair["equal"]["raw_count"]["p"] is None for pair in found["pairs"])


def test_joint_front_of_three() -> None:
    a, b, c = worlds(9, (3, 3, 3))
    joint = contest({"t": {"a": a, "b": b, "c": c}}, QUICK)["joint"]
    every = [*a, *b, *c]
    front = [not any(beats(other, one) for other in every) for one in every]
    for place, name in enumerate("abc"):
        mine = sum(front[3 * place : 3 * place + 3])
        assert joint["generators"][name]["front_share"]["mean"] == pytest.approx(mine / 3)
        assert joint["generators"][name]["front_origin"]["mean"] == pytest.approx(mine / sum(front))
    assert sum(one["front_origin"]["mean"] for one in joint["generators"].values()) == pytest.approx(1)


def test_topics_without_candidates_are_counted_and_left_out() -> None:
    a, b = worlds(2, (4, 4))
    topics = {
        "1": {"a": a, "b": b},
        "2": {"a": a},
        "3": {"a": a, "b": np.empty((0, 3))},
        "4": {},
        "5": {"b": b, "a": a},
    }
    found = contest(topics, QUICK)
    assert found["generators"] == {
        "a": {"candidates": 16, "topics_without": 1},
        "b": {"candidates": 8, "topics_without": 3},
    }
    pair = found["pairs"][0]
    assert (found["topics"], pair["topics"], pair["topics_left_out"]) == (5, 2, 3)
    assert (found["joint"]["topics"], found["joint"]["topics_left_out"]) == (2, 3)
    assert pair["equal"]["front_share"]["a"]["mean"] == pytest.approx(plain(a, b)["front_share"])


def test_never_together() -> None:
    found = contest({"1": {"a": [[1.0]]}, "2": {"b": [[1.0]]}}, QUICK)
    one = found["pairs"][0]["equal"]["coverage"]
    assert one["a"] == {"mean": None, "low": None, "high": None, "reason": "no_value"}
    assert one["p"] is one["p_holm"] is one["spread_a"] is None
    assert found["pairs"][0]["raw_count"] == {"form": "paper", "a_over_b": 0, "b_over_a": 0, "contradicted_by": []}
    json.dumps(found, allow_nan=False)


def test_one_generator_and_none() -> None:
    assert contest({"1": {"a": [[1.0]]}}, QUICK)["pairs"] == []
    found = contest({"1": {}}, QUICK)
    assert (found["generators"], found["pairs"], found["joint"]["generators"]) == ({}, [], {})


def test_same_queries_share_the_front() -> None:
    a = worlds(1, (5,))[0]
    one = contest({"t": {"a": a, "b": a.copy()}}, QUICK)["pairs"][0]["equal"]
    assert one["front_origin"]["a"]["mean"] == one["front_origin"]["b"]["mean"] == 0.5
    assert one["coverage"]["difference"]["mean"] == 0.0


def test_order_of_topics_and_generators_changes_nothing() -> None:
    draw = np.random.default_rng(1)
    topics = {
        str(q): {"a": draw.random((4, 2)), "b": draw.random((20, 2)), "c": draw.random((18, 2))} for q in range(6)
    }
    turned = {q: dict(reversed(topics[q].items())) for q in reversed(topics)}
    first, second = (json.dumps(contest(one, QUICK), allow_nan=False) for one in (topics, turned))
    assert first == second


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ({}, "at least one topic"),
        ({"1": {"a": [[1.0, 2.0]], "b": [[1.0]]}}, r"\[1, 2\] objectives"),
        ({"q": {"a": [[np.nan, 1.0]]}}, "topic q, a: found not-a-number"),
        ({"q": {"a": [[np.inf, 1.0]]}}, "topic q, a: .*not finite"),
        ({"q": {"a": [1.0, 2.0]}}, r"shape \(2,\)"),
    ],
)
def test_bad_topics(topics, words) -> None:
    with pytest.raises(InputError, match=words):
        contest(topics, QUICK)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 0}, "contest.draws"),
        ({"level": 1.0}, "contest.level"),
        ({"interval": "bcaa"}, "bca"),
        ({"resamples": 0}, "resamples"),
    ],
)
def test_bad_options(options, words) -> None:
    with pytest.raises(ConfigError, match=words):
        ContestOptions(**options)


def test_shares_of_everything() -> None:
    a, b = worlds(3, (5, 2))
    assert [one.shape for one in all_of([a, b])] == [(1, 5), (1, 2)]
