"""Draws, seeds and arrays of policies that are something else than they should be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from policy_worlds import rows, streams

from rerankers._base.errors import InputError
from rerankers.exposure import DCG, RBP
from rerankers.policies import (
    GradeShuffle,
    Mallows,
    PlackettLuce,
    Policy,
    Transpositions,
    pl_gradient,
    sample_plackett_luce,
    static,
)
from rerankers.policies._insertion import mallows_rank_marginals

OVER, STREAMS = rows([3, 2]), streams(2)
POLICIES = [
    PlackettLuce(OVER, [0.0, 1, 2, 3, 4], STREAMS),
    GradeShuffle(OVER, [1, 2, 3, 1, 1], STREAMS),
    Mallows(OVER, [0, 2, 1, 1, 0], [0.5, 1], STREAMS),
    Transpositions(OVER, [0, 1, 2, 0, 1], [0, 1, 1], [[0, 1]], [0.5], STREAMS),
    static(OVER, [0, 1, 2, 3, 4], STREAMS),
]
EACH = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)


@EACH
def test_arguments_of_draws(policy: Policy) -> None:
    wrong = [("n", 2.5), ("n", None), ("n", True), ("n", -1), ("depth", 1.5), ("depth", 0), ("depth", "1")]
    wrong += [("seed", None), ("seed", 1.5), ("seed", "7"), ("seed", True), ("seed", np.float64(2))]
    for name, value in wrong:
        for draw in (policy.sample, policy.schedule):
            with pytest.raises(InputError, match=f"^{name}: found .*; expected a whole number"):
                draw(**{"n": 2, "seed": 1, name: value})
    for value in (-1, 0.0, None):
        with pytest.raises(InputError, match=r"^first: found .*; expected a whole number, 0 or more"):
            policy.sample(2, 1, first=value)


@EACH
def test_labels_that_do_not_fit(policy: Policy) -> None:
    assert policy.sample(2, 1, first=2**31 - 3).label.tolist() == [2**31 - 3, 2**31 - 2] * 2
    for first in (2**31 - 2, 2**31 - 1, 2**40):
        with pytest.raises(InputError, match=r"first: found .*; expected at most 2147483647 together"):
            policy.sample(2, 1, first=first)


@EACH
def test_whole_numbers_of_numpy(policy: Policy) -> None:
    plain = policy.sample(200, 3, first=7, depth=2)
    other = policy.sample(np.uint8(200), np.int16(3), first=np.uint64(7), depth=np.int32(2))
    np.testing.assert_array_equal(plain.item, other.item)
    np.testing.assert_array_equal(plain.label, other.label)
    even = policy.schedule(np.uint8(200), np.int64(3))
    np.testing.assert_array_equal(policy.schedule(200, 3).item, even.item)


@EACH
def test_browsing_bound_to_other_rows(policy: Policy) -> None:
    with pytest.raises(InputError, match=r"found .*3 .*; expected .*5"):
        policy.exposure(RBP().bind(None, np.array([0, 3])))


def test_lists_make_the_same_policies() -> None:
    levels, order, theta = np.array([1, 2, 3, 1, 1]), np.array([0, 2, 1, 1, 0]), np.array([0.5, 1.0])
    pairs = [(POLICIES[1], GradeShuffle(OVER, levels, STREAMS)), (POLICIES[2], Mallows(OVER, order, theta, STREAMS))]
    pairs.append((POLICIES[2], Mallows(OVER, order.astype(np.uint64), theta, STREAMS)))
    for one, other in pairs:
        np.testing.assert_array_equal(one.sample(9, 1).item, other.sample(9, 1).item)
    assert POLICIES[1].level.dtype == levels.dtype
    assert POLICIES[2].order.dtype == np.int32
    by_list = Mallows.by_score(OVER, [0, 1, 2, 3, 4], 0.5, STREAMS)
    np.testing.assert_array_equal(by_list.order, Mallows.by_score(OVER, np.arange(5.0), [0.5, 0.5], STREAMS).order)


@pytest.mark.parametrize("values", [["a"] * 5, [None] * 5, [1j] * 5, np.ma.masked_array(np.ones(5), [1, 0, 0, 0, 0])])
def test_arrays_without_numbers(values: object) -> None:
    with pytest.raises(InputError, match=r"^logit: found"):
        PlackettLuce(OVER, values, STREAMS)
    with pytest.raises(InputError, match=r"^level: found"):
        GradeShuffle(OVER, values, STREAMS)
    with pytest.raises(InputError, match=r"^order: found"):
        Mallows(OVER, values, [1, 1], STREAMS)
    with pytest.raises(InputError, match=r"^dispersion: found"):
        Mallows(OVER, [0, 1, 2, 0, 1], values, STREAMS)
    for make in (lambda: static(OVER, values), lambda: Mallows.by_score(OVER, values, 1.0, STREAMS)):
        with pytest.raises(InputError, match=r"^score: found"):
            make()
    with pytest.raises(InputError, match=r"^order: found"):
        Transpositions(OVER, values, [0, 0, 0], np.empty((0, 2), int), [], STREAMS)
    with pytest.raises(InputError, match=r"^order: found 4294967296; expected whole numbers from"):
        Mallows(OVER, [2**32, 1, 2, 0, 1], [1, 1], STREAMS)
    with pytest.raises(InputError, match=r"^weights: found"):
        pl_gradient(np.ones(5), values, [1.0])


def test_single_queries() -> None:
    scores = [1.0, 2.0]
    for k in (1.0, True, None, "1", 0):
        with pytest.raises(InputError, match=r"^k: found .*; expected a whole number, 1 or more"):
            sample_plackett_luce(scores, k, 1, 1)
        with pytest.raises(InputError, match=r"^k: found .*; expected a whole number, 1 or more"):
            mallows_rank_marginals(2, 1.0, k)
    for draws in (2.5, None, -1, 2**31):
        with pytest.raises(InputError, match=r"^draws: found .*; expected a whole number from 0 to"):
            sample_plackett_luce(scores, 1, draws, 1)
    for seed in (None, 1.5, "7"):
        with pytest.raises(InputError, match=r"^seed: found .*; expected a whole number$"):
            sample_plackett_luce(scores, 1, 2, seed)
        with pytest.raises(InputError, match=r"^seed: found"):
            pl_gradient(scores, scores, [1.0], "reinforce", 5, seed)
    plain = sample_plackett_luce(scores, 2, 200, 3)
    np.testing.assert_array_equal(plain, sample_plackett_luce(scores, np.int64(2), np.uint8(200), np.int32(3)))
    with pytest.raises(InputError, match="method: found None; expected one of exact"):
        pl_gradient(scores, scores, [1.0], None)
    with pytest.raises(InputError, match=r"weights\(exposure\): found 1e\+308 at 0; expected finite numbers below"):
        pl_gradient(scores, lambda seen: [1e308, 0.0], [1.0])


def test_the_largest_spreads_without_a_warning() -> None:
    scores = np.array([1.7e308, -1.7e308, 0.0, 1.0, -np.inf])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        drawn = sample_plackett_luce(scores, 5, 20, 1)
        assert np.all(drawn[:, [0, 3, 4]] == [0, 1, 4])
        assert np.all(sample_plackett_luce([-1.7e308, -1.2e308, 1.7e308], 3, 20, 1) == [2, 1, 0])
        for method in ("exact", "pl_rank_3", "reinforce"):
            found = pl_gradient(scores, np.ones(5), [1.0, 0.5], method, None if method == "exact" else 20)
            np.testing.assert_allclose(found, 0.0, atol=1e-12)
    policy = PlackettLuce(rows([5]), scores, streams(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = policy.sample(20, 1)
        swapped = drawn.item.reshape(20, 5)[:, 1] == 2
        chance = 1.0 / (1.0 + np.exp(np.where(swapped, 1.0, -1.0)))
        np.testing.assert_allclose(policy.log_prob(drawn), np.log(chance), rtol=1e-12)
        np.testing.assert_array_equal(
            policy.exposure(DCG().bind(None, np.array([0, 5]))).value[[0, 1]], 1 / np.log2([2, 5])
        )


def test_one_score_far_above_leaves_the_others_as_they_are() -> None:
    scores = [1e20, 0.0, 1.0, -np.inf]
    drawn = sample_plackett_luce(scores, 4, 4000, 1)
    assert np.all(drawn[:, [0, 3]] == [0, 3])
    assert abs(np.mean(drawn[:, 1] == 2) - 1 / (1 + np.exp(-1.0))) < 0.03
    found = pl_gradient(scores, [0.0, 1.0, 0.0, 0.0], [1.0, 0.5], "pl_rank_3", 4000)
    np.testing.assert_allclose(found, pl_gradient(scores, [0.0, 1.0, 0.0, 0.0], [1.0, 0.5]), atol=0.01)
