"""Draws and schedules of Mallows policies: their distribution, their seeds, how near they are to the exposure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from mallows_worlds import LENGTHS, chances, mallows
from policy_worlds import every_ranking, matrices

from rerankers.exposure import DCG, GERR, RBP
from rerankers.exposure.rankings import exposure_of
from rerankers.policies.mallows import Mallows
from rerankers.values import Rankings

RNG = np.random.default_rng(18)
Draw = Callable[[Mallows, int, int], Rankings]


@pytest.mark.parametrize("draw", [Mallows.sample, Mallows.schedule])
@pytest.mark.parametrize("dispersion", [0.0, 0.4, 2.0])
def test_draws_have_the_distribution(draw: Draw, dispersion: float) -> None:
    policy, draws = mallows([4], dispersion), 20_000
    expected = chances(policy)
    if draw is Mallows.sample:
        orders = matrices(draw(policy, draws, 5))[0]
    else:  # of a schedule, one ranking each
        orders = [matrices(policy.schedule(3, seed))[0][seed % 3] for seed in range(4000)]
    whole = {tuple(order): number for number, order in enumerate(matrices(every_ranking(4))[0])}
    found = np.bincount([whole[tuple(order)] for order in orders], minlength=24) / len(orders)
    error = np.sqrt(expected * (1 - expected) / len(orders))
    assert np.all(np.abs(found - expected) < 5 * error + 5 / len(orders))


def test_mean_distance_of_long_draws() -> None:
    n, theta, draws = 300, 0.05, 400
    policy = mallows([n], theta)
    j, q = np.arange(1, n + 1), np.exp(-theta)
    mean = n * q / (1 - q) - np.sum(j * q**j / (1 - q**j))
    spread = np.sqrt(n * q / (1 - q) ** 2 - np.sum(j**2 * q**j / (1 - q**j) ** 2))
    for drawn in (policy.sample(draws, seed=1), policy.schedule(draws, seed=1)):
        place = np.argsort(policy.order)[np.array(matrices(drawn)[0])]
        distance = [np.sum(np.triu(row[:, None] > row)) for row in place]
        assert np.mean(distance) == pytest.approx(mean, abs=5 * spread / np.sqrt(draws))
    assert np.std(distance) == pytest.approx(spread, rel=0.2)


def test_draws_are_rankings_by_seed_query_and_number_only() -> None:
    policy = mallows(LENGTHS, [0.1, 1, 1, 0, 0.2])
    drawn = policy.sample(5000, seed=3)
    whole = matrices(drawn)
    assert drawn.label.tolist() == list(range(5000)) * 5
    for size, orders in zip(LENGTHS, whole, strict=True):
        assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(size), (5000, 1)))
    assert matrices(policy.sample(5, seed=3, first=4321)) == [orders[4321:4326] for orders in whole]
    assert matrices(policy.sample(5, seed=4, first=4321))[4] != whole[4][4321:4326]
    for depth in (1, 3, 16, 17, 39, 1000):
        cut = matrices(policy.sample(4500, seed=3, depth=depth))
        assert cut == [[order[:depth] for order in orders[:4500]] for orders in whole]
    alone = mallows(LENGTHS[3:], [0, 0.2], 3)
    assert matrices(alone.sample(5000, seed=3)) == whole[3:]
    np.testing.assert_array_equal(alone.log_prob(alone.sample(9, 3)), policy.log_prob(policy.sample(9, 3))[27:])
    browsing = GERR(0.9, 0.5).bind(RNG.integers(0, 2, sum(LENGTHS)), policy.over.indptr)
    part = replace(browsing, continuation=browsing.continuation[5:])
    np.testing.assert_array_equal(alone.exposure(part).value, policy.exposure(browsing).value[5:])
    assert len(policy.sample(0, seed=1)) == 0
    assert matrices(mallows([], 0.5).sample(2, seed=1)) == []


def test_schedules_are_rankings_and_nearer_to_the_exposure() -> None:
    policy = mallows(LENGTHS, 0.1)
    whole = matrices(policy.schedule(30, seed=2))
    for size, orders in zip(LENGTHS, whole, strict=True):
        assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(size), (30, 1)))
    for depth in (1, 7, 1000):
        cut = matrices(policy.schedule(30, seed=2, depth=depth))
        assert cut == [[order[:depth] for order in orders] for orders in whole]
    assert matrices(mallows(LENGTHS[3:], 0.1, 3).schedule(30, seed=2)) == whole[3:]
    assert matrices(policy.schedule(30, seed=3))[4] != whole[4]
    for spec, gain in ((RBP(0.9), 5.0), (RBP(0.5), 2.0), (DCG(), 3.0)):
        one = mallows([40], 0.1)
        browsing = spec.bind(None, one.over.indptr)  # type: ignore[attr-defined]
        exact = one.exposure(browsing).value

        def error(draw: Draw, one: Mallows = one, browsing: object = browsing, exact: np.ndarray = exact) -> float:
            seen = [exposure_of(draw(one, 100, seed), browsing).value for seed in range(20)]  # type: ignore[arg-type]
            return float(np.square(np.array(seen) - exact).sum())

        assert error(Mallows.sample) > gain * error(Mallows.schedule)
