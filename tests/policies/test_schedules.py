"""Schedules: rankings to publish. Each has the policy's distribution; their mean is nearer to it than that of draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers.exposure import DCG, GERR, RBP
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import GradeShuffle, Mallows, Mixture, PlackettLuce, Policy
from rerankers.policies._points import quasi_uniforms, spread
from rerankers.values import Ragged, Rankings

LENGTHS = [4, 0, 1, 7, 150]
SIZE = sum(LENGTHS)
SCORES = np.random.default_rng(1).normal(size=SIZE)
LEVELS = np.random.default_rng(2).integers(0, 3, SIZE)
Make = Callable[[Ragged, np.ndarray, slice], Policy]


def plackett_luce(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return PlackettLuce(over, SCORES[part], stream)


def grade_shuffle(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return GradeShuffle(over, LEVELS[part], stream)


def mixture(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    orders = [np.array([np.random.default_rng([n, i]).permutation(n) for i in range(3)]) for n in over.lengths]
    rankings = Rankings.of_matrix(over, [order.reshape(3, -1) for order in orders])
    return Mixture(replace(rankings, weight=np.tile([0.55, 0.3, 0.15], len(over))), stream)


def mallows(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return Mallows.by_score(over, SCORES[part], np.full(len(over), 0.4), stream)


KINDS = pytest.mark.parametrize("make", [plackett_luce, grade_shuffle, mixture, mallows])


@KINDS
def test_schedules_are_rankings_with_labels_and_depth(make: Make) -> None:
    policy = make(rows(LENGTHS), streams(5), slice(0, SIZE))
    whole = policy.schedule(9, seed=3)
    assert whole.label.tolist() == list(range(9)) * 5
    np.testing.assert_allclose(whole.weight, 1 / 9)
    for size, orders in zip(LENGTHS, matrices(whole), strict=True):
        assert all(sorted(order) == list(range(size)) for order in orders)
    for depth in (1, 3, 100, 1000):
        cut = matrices(policy.schedule(9, seed=3, depth=depth))
        assert cut == [[order[:depth] for order in orders] for orders in matrices(whole)]
    assert len(policy.schedule(0, seed=3)) == 0
    assert matrices(policy.schedule(1, seed=3))[4] != matrices(policy.schedule(1, seed=4))[4] or make is mixture


@KINDS
def test_a_schedule_depends_on_seed_query_and_number_only(make: Make) -> None:
    whole = matrices(make(rows(LENGTHS), streams(5), slice(0, SIZE)).schedule(20, seed=3))
    part = slice(5, SIZE)  # rows 3 and 4 alone
    assert matrices(make(rows(LENGTHS[3:], 3), streams(2, 3), part).schedule(20, seed=3)) == whole[3:]
    assert matrices(make(rows(LENGTHS), streams(5, 1), slice(0, SIZE)).schedule(20, seed=3))[4] != whole[4]
    assert matrices(make(rows(LENGTHS), streams(5), slice(0, SIZE)).schedule(20, seed=4))[4] != whole[4]


@KINDS
@pytest.mark.parametrize("n", [1, 3, 8])
def test_every_scheduled_ranking_has_the_distribution_of_the_policy(make: Make, n: int) -> None:
    size, repeats = 4, 6000
    policy = make(rows([size]), streams(1), slice(0, size))
    chance = np.exp(policy.log_prob(every_ranking(size)))
    number = {order: place for place, order in enumerate(permutations(range(size)))}
    for place in {0, n - 1}:
        drawn = Counter(tuple(matrices(policy.schedule(n, seed))[0][place]) for seed in range(repeats // n))
        times = np.zeros(len(chance))
        for order, count in drawn.items():
            times[number[order]] = count
        total = repeats // n
        assert np.all(times[chance == 0] == 0)
        z = (times - total * chance) / np.sqrt(np.maximum(total * chance * (1 - chance), 1e-9))
        assert np.abs(z[chance > 0]).max() < 5


@KINDS
@pytest.mark.parametrize("spec", [GERR(0.9, 0.5), RBP(0.9), DCG()])
def test_the_mean_is_nearer_than_that_of_draws(make: Make, spec: object) -> None:
    size, n, repeats = 40, 50, 12
    over = rows([size])
    policy = make(over, streams(1), slice(0, size))
    browsing = spec.bind(LEVELS[:size] > 0, over.indptr)  # type: ignore[attr-defined]
    exact = policy.exposure(browsing).value
    errors = [
        [np.square(exposure_of(rankings, browsing).value - exact).sum() for rankings in both]
        for both in ((policy.sample(n, seed), policy.schedule(n, seed)) for seed in range(repeats))
    ]
    drawn, scheduled = np.mean(errors, axis=0)
    assert scheduled < drawn / 1.5


def test_a_level_that_divides_the_number_is_exact() -> None:
    over, level = rows([12]), np.array([1, 1, 1, 1, 0, 0, 0, 2, 2, 0, 0, 0])
    policy = GradeShuffle(over, level, streams(1))
    for spec in (RBP(0.8), DCG(), DCG(5)):
        browsing = spec.bind(None, over.indptr)
        found = exposure_of(policy.schedule(24, seed=2), browsing).value
        np.testing.assert_allclose(found, policy.exposure(browsing).value, atol=1e-14)
    assert len({tuple(order) for order in matrices(policy.schedule(24, seed=2))[0]}) == 24


def test_a_mixture_gives_each_ranking_its_share() -> None:
    over = rows([3])
    orders = Rankings.of_matrix(over, [np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])])
    policy = Mixture(replace(orders, weight=np.array([0.5, 0.3, 0.2])), streams(1))
    for n in (10, 7):
        for seed in range(20):
            times = Counter(order[0] for order in matrices(policy.schedule(n, seed))[0])
            for doc, weight in enumerate((0.5, 0.3, 0.2)):
                assert np.floor(n * weight + 1e-9) <= times[doc] <= np.ceil(n * weight - 1e-9)


def test_points_are_stratified_in_every_dimension() -> None:
    key = np.array([5, 6], dtype=np.uint64)
    for n, dims in ((1, 3), (7, 5), (64, 2000)):
        points = quasi_uniforms(key, n, dims)
        assert points.shape == (n, dims)
        assert points.min() > 0
        assert points.max() < 1
        assert np.array_equal(np.sort((points * n).astype(int), axis=0), np.tile(np.arange(n)[:, None], (1, dims)))
        np.testing.assert_array_equal(points[:, :2], quasi_uniforms(key, n, 2))
    for n in (1, 2, 7, 64):
        numbers = spread(key, n)
        np.testing.assert_allclose(np.diff(np.sort(numbers)), 1 / n, atol=1e-15)
    for n in (8, 64):  # every beginning is spread evenly too
        for end in range(2, n + 1):
            assert abs(np.sum(spread(key, n)[:end] < 0.5) - end / 2) <= 1.5
