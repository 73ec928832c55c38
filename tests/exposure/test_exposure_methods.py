"""The methods behind exposure and gradients: each against enumeration, all against each other, each row with one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, pointers, subset_exposure
from gradient_twins import enumerated_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerankers.exposure import DCG, Positions, pl_exposure
from rerankers.exposure.closed_form.chain import chain_exposure, chain_gradient
from rerankers.exposure.closed_form.geometric import geometric_exposure, geometric_gradient, geometric_mixture
from rerankers.exposure.closed_form.levels import by_gap
from rerankers.exposure.closed_form.marginals import _falls_sharply, rank_marginals, weighted_gradient, weighted_race
from rerankers.exposure.closed_form.nodes import COARSE, refined
from rerankers.exposure.closed_form.quadrature import race_exposure, race_gradient
from rerankers.exposure.closed_form.route import routed
from rerankers.exposure.gradients import pl_exposure_gradient

RNG = np.random.default_rng(31)
CHANCES = st.sampled_from([0.0, 1.0, 0.3, 1e-12, 1 - 1e-12]) | st.floats(0, 1)
Numbers = np.ndarray


def rows_of(most: int, spread: float) -> st.SearchStrategy[tuple[Numbers, ...]]:
    """Scores, continuations, weights of ranks in any order and pulls of some documents."""

    def of(n: int) -> st.SearchStrategy[tuple[Numbers, ...]]:
        parts = (st.floats(-spread, spread), CHANCES, st.sampled_from([0.0, 1.0, 0.4]) | st.floats(0, 1))
        strategies = [arrays(np.float64, n, elements=part) for part in (*parts, st.sampled_from([0.0, -2.0, 0.3, 1.0]))]
        return st.tuples(*strategies)

    return st.integers(2, most).flatmap(of)


@settings(max_examples=60, deadline=None)
@given(rows_of(8, 100.0))
def test_exposure_by_roots_of_unity(row: tuple[Numbers, ...]) -> None:
    score, continuation, weight, _ = row
    found = weighted_race(score[None], continuation[None], weight[None])[0]
    np.testing.assert_allclose(found, subset_exposure(score, weight, continuation), rtol=0, atol=2e-14)


@settings(max_examples=40, deadline=None)
@given(rows_of(5, 30.0))
def test_gradients_of_all_methods(row: tuple[Numbers, ...]) -> None:
    score, continuation, weight, pull = row
    expected = enumerated_gradient(score, weight, continuation, pull)
    s, c, w, g = score[None], continuation[None], weight[None], pull[None]
    np.testing.assert_allclose(weighted_gradient(s, c, w, g)[0], expected, rtol=0, atol=5e-14)
    np.testing.assert_allclose(chain_gradient(s, c, w, g)[0], expected, rtol=0, atol=5e-14)
    flat = enumerated_gradient(score, None, continuation, pull)
    np.testing.assert_allclose(race_gradient(s, c, g)[0], flat, rtol=0, atol=5e-14)
    share, ratio = np.array([0.2, 0.8]), np.array([0.9, 0.25])
    mixed = enumerated_gradient(score, ratio ** np.arange(len(score))[:, None] @ share, continuation, pull)
    np.testing.assert_allclose(geometric_gradient(s, c, share[None], ratio, g)[0], mixed, rtol=0, atol=5e-14)


@pytest.mark.parametrize("spread", [0.0, 4.0, 80.0])
@pytest.mark.parametrize("n", [33, 90, 260])
def test_the_methods_agree(n: int, spread: float) -> None:
    s, g = RNG.uniform(-spread, 0, (3, n)), RNG.normal(size=(3, n))
    c = np.stack([np.ones(n), RNG.choice([0.97, 1.0], n), RNG.choice([0.0, 0.999, 1.0], n, p=[0.02, 0.49, 0.49])])
    any_weight = np.sort(RNG.random(n))[::-1]
    for weight in (any_weight, any_weight * (np.arange(n) < n // 3), 1 / np.log2(np.arange(n) + 2)):
        w = np.tile(weight, (3, 1))
        exposure, gradient = weighted_race(s, c, w), weighted_gradient(s, c, w, g)
        np.testing.assert_allclose(chain_exposure(s, c, w), exposure, rtol=0, atol=1e-13)
        np.testing.assert_allclose(chain_gradient(s, c, w, g), gradient, rtol=0, atol=1e-12)
    mixture = geometric_mixture(weight)
    assert mixture is not None
    share, ratio = np.tile(mixture[0], (3, 1)), mixture[1]
    np.testing.assert_allclose(geometric_exposure(s, c, share, ratio), exposure, rtol=0, atol=2e-13)
    np.testing.assert_allclose(geometric_gradient(s, c, share, ratio, g), gradient, rtol=0, atol=1e-12)
    ones = np.ones((3, n))
    np.testing.assert_allclose(weighted_race(s, c, ones), race_exposure(s, c), rtol=0, atol=1e-13)
    np.testing.assert_allclose(weighted_gradient(s, c, ones, g), race_gradient(s, c, g), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [3, 40, 150])
def test_marginals_are_exposures_where_one_rank_has_weight(n: int) -> None:
    score, k = RNG.normal(size=n) * 2, min(n, 7)
    found = rank_marginals(score, k)
    for rank in range(k):
        one = weighted_race(score[None], np.ones((1, n)), np.eye(1, n, rank))[0]
        np.testing.assert_allclose(found[:, rank], one, rtol=0, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 200), max_size=6), SPECS, st.integers(0, 2**32 - 1))
def test_every_document_gets_one_method(lengths: list[int], spec: object, seed: int) -> None:
    rng, rows = np.random.default_rng(seed), pointers(lengths)
    score = rng.normal(size=rows[-1]) * rng.choice([1, 100])
    browsing = bound(spec, rng.integers(0, 3, rows[-1]), rows)
    levels = by_gap(rows, score)
    places = [place.ravel() for place, _ in routed(levels, browsing.continuation[levels.order], browsing.position)]
    np.testing.assert_array_equal(np.sort(np.concatenate([[], *places])), np.arange(rows[-1]))


@pytest.mark.parametrize("weights", [(0.0,), (1.0, 0.0), (1e-200, 1e-201), (1e6, 3.0, 1.0)])
@pytest.mark.parametrize("n", [2, 45])
def test_weights_of_any_size(weights: tuple[float, ...], n: int) -> None:
    score, pull, spec = RNG.normal(size=n), RNG.normal(size=n), Positions(weights)
    unit = Positions(tuple(w / max(weights[0], 1e-300) for w in weights))
    for function in (pl_exposure, lambda s, b: pl_exposure_gradient(s, b, pull)):
        found, scaled = function(score, spec), function(score, unit)  # type: ignore[operator]
        np.testing.assert_allclose(found, scaled * weights[0], rtol=1e-9, atol=1e-14 * weights[0])


def test_levels_that_begin_late_use_the_same_weights() -> None:
    score = np.concatenate([np.full(3, 200.0), RNG.normal(size=60)])
    found, weight = pl_exposure(score, DCG()), 1 / np.log2(np.arange(63) + 2)
    np.testing.assert_allclose(
        found[3:], weighted_race(score[None, 3:], np.ones((1, 60)), weight[None, 3:])[0], atol=1e-13
    )
    np.testing.assert_allclose(found[:3], np.full(3, weight[:3].mean()), atol=1e-14)
    assert bound(DCG(), np.zeros(63), one_row(63)).position is not None


def test_weights_that_fall_at_one_rank_are_told_from_smooth_ones() -> None:
    rank = np.arange(5000)
    for smooth in (1 / np.log2(rank + 2), np.linspace(1, 0, 5000), 0.999**rank, 1 / (rank + 1), np.ones(5000)):
        assert not _falls_sharply(smooth)
        assert _falls_sharply(smooth + 1e-3 * (rank < 1700))
    assert not _falls_sharply((rank < 30).astype(float))
    assert not _falls_sharply(np.ones(0))


def test_an_integral_that_never_settles_is_refused() -> None:
    calls = []

    def sweep(first: float, apart: float, total: Numbers) -> None:
        calls.append(apart)
        total += len(calls) / apart

    with pytest.raises(FloatingPointError, match="did not settle"):
        refined(sweep, np.zeros(2), 1e-12)
    assert calls[0] == COARSE
    assert calls[-1] == COARSE / 2 ** (len(calls) - 2)


def steady(first: float, apart: float, total: Numbers) -> None:
    total += 1.0 / apart


def test_an_integral_that_has_settled_is_returned() -> None:
    function: Callable[[float, float, Numbers], None] = steady
    np.testing.assert_allclose(refined(function, np.zeros(3), 1e-12), np.ones(3), rtol=1e-15)
