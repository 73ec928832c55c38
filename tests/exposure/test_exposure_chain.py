"""The chain over documents: subset enumeration, other methods, identities, gradients, any spread, steps, segments."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import subset_exposure
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.exposure.closed_form import sweep as _sweep
from rerankers.exposure.closed_form.chain import chain_exposure, chain_gradient
from rerankers.exposure.closed_form.marginals import rank_marginals, weighted_race
from rerankers.exposure.closed_form.quadrature import race_exposure

RNG = np.random.default_rng(31)
SCORES = st.lists(st.floats(-3, 3) | st.floats(-40, 40) | st.floats(-900, 900), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)


def exposure(score: np.ndarray, continuation: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return chain_exposure(score[None], continuation[None], weight[None])[0]


def gradient(score: np.ndarray, continuation: np.ndarray, weight: np.ndarray, pull: np.ndarray) -> np.ndarray:
    return chain_gradient(score[None], continuation[None], weight[None], pull[None])[0]


def padded(weight: np.ndarray, n: int) -> np.ndarray:
    return np.append(weight, np.zeros(n - weight.shape[-1]))


def world(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Continuations with both ends, and weights in any order, some of them 0."""
    return rng.choice([0.0, 1.0, 0.5, rng.random()], n), rng.choice([0.0, 1.0, rng.random(), rng.random()], k)


def central_differences(of_score: object, score: np.ndarray, step: float = 1e-5) -> np.ndarray:
    moves = step * np.eye(len(score))
    values = [(of_score(score + move) - of_score(score - move)) / (2 * step) for move in moves]  # type: ignore[operator]
    return np.array(values)


@settings(max_examples=60)
@given(SCORES, st.integers(1, 7), SEEDS)
def test_agrees_with_the_enumeration_of_subsets(scores: list[float], k: int, seed: int) -> None:
    score, n = np.array(scores), len(scores)
    k = min(k, n)
    continuation, weight = world(np.random.default_rng(seed), n, k)
    expected = subset_exposure(score, padded(weight, n), continuation)
    found = exposure(score, continuation, weight)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-14)
    large = expected > 1e-15
    np.testing.assert_allclose(found[large], expected[large], rtol=1e-12)


@settings(max_examples=40)
@given(st.lists(st.floats(-3, 3) | st.floats(-40, 40), min_size=1, max_size=5), st.integers(1, 5), SEEDS)
def test_gradient_is_that_of_the_enumeration(scores: list[float], k: int, seed: int) -> None:
    rng, score, n = np.random.default_rng(seed), np.array(scores), len(scores)
    continuation, weight = world(rng, n, min(k, n))
    pull = rng.normal(size=n)
    twin = central_differences(lambda s: pull @ subset_exposure(s, padded(weight, n), continuation), score)
    found = gradient(score, continuation, weight, pull)
    np.testing.assert_allclose(found, twin, rtol=0, atol=2e-9)
    assert found.sum() == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(("n", "k"), [(40, 40), (60, 7), (150, 30), (300, 1), (300, 100)])
def test_agrees_with_roots_of_unity_and_marginals(n: int, k: int) -> None:
    for scale in (0.0, 1.0, 6.0):
        score, (continuation, weight) = RNG.normal(size=n) * scale, world(RNG, n, k)
        found = exposure(score, continuation, weight)
        expected = weighted_race(score[None], continuation[None], padded(weight, n)[None])[0]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        certain = exposure(score, np.ones(n), weight)
        np.testing.assert_allclose(certain, rank_marginals(score, k) @ weight, rtol=0, atol=1e-12)
        assert certain.sum() == pytest.approx(weight.sum(), rel=4e-15)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (9, 4), (70, 70), (200, 10)])
def test_gradient_against_central_differences(n: int, k: int) -> None:
    for scale in (0.0, 2.0, 15.0):
        score, (continuation, weight) = RNG.normal(size=n) * scale, world(RNG, n, k)
        for passed in (continuation, np.ones(n)):
            pull = RNG.normal(size=n)
            found = gradient(score, passed, weight, pull)
            some = RNG.permutation(n)[:6]
            moves = np.zeros((len(some), n))
            moves[np.arange(len(some)), some] = 1e-5
            rows = np.concatenate([score + moves, score - moves])
            shape = (len(rows), 1)
            above, below = np.split(chain_exposure(rows, np.tile(passed, shape), np.tile(weight, shape)) @ pull, 2)
            np.testing.assert_allclose(found[some], (above - below) / 2e-5, rtol=0, atol=1e-8)
            assert found.sum() == pytest.approx(0, abs=1e-13)


def test_closed_forms() -> None:
    for n in (1, 2, 50, 400):
        score, p = RNG.normal(size=n) * 3, np.full(n, 0.7)
        softmax = np.exp(score) / np.exp(score).sum()
        np.testing.assert_allclose(exposure(score, p, np.array([2.0])), 2 * softmax, rtol=1e-13)
        whole = exposure(score, p, np.ones(n))
        np.testing.assert_allclose(whole, race_exposure(score[None], p[None])[0], rtol=0, atol=1e-14)
        assert whole.sum() == pytest.approx((1 - 0.7**n) / 0.3, rel=1e-14)
        geometric = exposure(score, np.ones(n), 0.7 ** np.arange(n))
        np.testing.assert_allclose(geometric, whole, rtol=0, atol=1e-14)
        np.testing.assert_allclose(exposure(score, np.ones(n), np.ones(n)), np.ones(n), rtol=1e-14)
    for n, k in ((7, 7), (500, 20), (3000, 4)):
        ties = exposure(np.full(n, 5.0), np.full(n, 0.9), np.ones(k))
        np.testing.assert_allclose(ties, (1 - 0.9**k) / (0.1 * n), rtol=1e-13)


def test_shifts_and_permutations() -> None:
    n, k = 90, 12
    score, (continuation, weight), pull = RNG.normal(size=n) * 2, world(RNG, n, k), RNG.normal(size=n)
    order = RNG.permutation(n)
    for method, extra in ((exposure, ()), (gradient, (pull,))):
        found = method(score, continuation, weight, *extra)
        np.testing.assert_allclose(method(score + 321.0, continuation, weight, *extra), found, rtol=0, atol=1e-12)
        moved = method(score[order], continuation[order], weight, *(values[order] for values in extra))
        np.testing.assert_allclose(moved, found[order], rtol=0, atol=2e-14)


@pytest.mark.parametrize("spread", [36.0, 240.0, 600.0, 2000.0])
def test_any_spread(spread: float) -> None:
    score, weight = np.linspace(0, -spread, 30), np.linspace(1, 0.1, 12)
    for p in (1.0, 0.8):
        found = exposure(score, np.full(30, p), weight)
        assert np.all(np.isfinite(found))
        assert np.all(np.diff(found) <= 1e-15)
        if spread > 1500:
            np.testing.assert_allclose(found[:12], weight * p ** np.arange(12), rtol=1e-13)
            assert found[12:].max() < 1e-25
        slope = gradient(score, np.full(30, p), weight, np.arange(30.0))
        assert slope.sum() == pytest.approx(0, abs=1e-13)
    one_above = np.append(spread, np.zeros(20))  # what has arrived for certain leaves no denormal numbers
    found = exposure(one_above, np.ones(21), np.array([0.0, 1.0]))
    np.testing.assert_allclose(found[1:], 1 / 20, rtol=1e-14)


def test_long_rows_lose_nothing() -> None:
    n = 20_000
    score = RNG.normal(size=n) * 2
    found = exposure(score, np.ones(n), np.array([1.0, 0.6, 0.5]))
    assert found.sum() == pytest.approx(2.1, rel=2e-15)


@pytest.mark.parametrize("k", [1, 3, 20, 120])
def test_the_step_keeps_its_promise(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 500
    cases = [np.zeros(n), RNG.normal(size=n), np.repeat([0.0, -9.0], [k, n - k])]
    last = np.append(np.zeros(k - 1), 1.0)  # the steepest weights: one rank alone
    fine = [exposure(score, np.ones(n), last) for score in cases]
    for exponent in (8.0, 14.0):
        monkeypatch.setattr(_sweep, "EXPONENT", exponent)
        worst = 0.0
        for score, expected in zip(cases, fine, strict=True):
            error = np.abs(exposure(score, np.ones(n), last) - expected)
            assert np.all(error <= 2 * np.exp(-exponent) * expected + 1e-15)
            worst = max(worst, (error / np.maximum(expected, 1e-9)).max())
        assert worst > 1e-4 * np.exp(-exponent)  # and it is no finer than it must be


def test_segments_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    n, k = 101, 9
    score, (continuation, weight), pull = RNG.normal(size=n) * 3, world(RNG, n, k), RNG.normal(size=n)
    found, slope = exposure(score, continuation, weight), gradient(score, continuation, weight, pull)
    assert len(_sweep.segments(n, k)[0]) == 1
    monkeypatch.setattr(_sweep, "STORED", 1)
    assert len(_sweep.segments(n, k)[0]) == 10
    np.testing.assert_array_equal(exposure(score, continuation, weight), found)
    np.testing.assert_array_equal(gradient(score, continuation, weight, pull), slope)


@pytest.mark.parametrize("n", [3, 40, 700])
def test_a_row_has_the_same_bits_in_every_block(n: int) -> None:
    rows, k = 30, 3
    score, pull = RNG.normal(size=(rows, n)) * RNG.uniform(0, 9, (rows, 1)), RNG.normal(size=(rows, n))
    continuation, weight = RNG.random((rows, n)), RNG.random((rows, k))
    weight[::3, 2] = 0.0
    weight[5] = 0.0
    found, slope = chain_exposure(score, continuation, weight), chain_gradient(score, continuation, weight, pull)
    for row in (0, 5, 17, 29):
        np.testing.assert_array_equal(exposure(score[row], continuation[row], weight[row]), found[row])
        np.testing.assert_array_equal(gradient(score[row], continuation[row], weight[row], pull[row]), slope[row])
    assert not found[5].any()
    assert not slope[5].any()
    long = np.concatenate([weight, np.zeros((rows, n - k))], axis=1)
    np.testing.assert_array_equal(chain_exposure(score, continuation, long), found)


def test_views_and_empty_blocks() -> None:
    score, pull, weight = RNG.normal(size=(4, 9)), RNG.normal(size=(9, 4)).T, np.array([1.0, 0.5])
    shared, ones = np.broadcast_to(weight, (4, 2)), np.broadcast_to(1.0, (4, 9))
    np.testing.assert_array_equal(
        chain_gradient(score, ones, shared, pull), chain_gradient(score, np.ones((4, 9)), shared.copy(), pull.copy())
    )
    assert chain_exposure(np.empty((0, 5)), np.empty((0, 5)), np.empty((0, 2))).shape == (0, 5)
    assert chain_gradient(*(np.empty((0, 5)),) * 4).shape == (0, 5)
    np.testing.assert_array_equal(chain_exposure(np.array([[7.0]]), np.zeros((1, 1)), np.array([[0.3]])), [[0.3]])
    np.testing.assert_array_equal(chain_gradient(*(np.ones((2, 1)),) * 4), np.zeros((2, 1)))


@pytest.mark.shared_data
def test_published_exposures_and_gradients(shared: Path) -> None:
    values = json.loads((shared / "oracles/algorithms/pl_exposure_gradients.json").read_text())
    for case in values["exposure"]:
        score, n = np.array(case["scores"]), case["n"]
        for model in case["models"].values():
            continuation = np.ones(n) if model["continuation"] is None else np.array(model["continuation"])
            found = exposure(score, continuation, np.array(model["posw"])[:n])
            np.testing.assert_allclose(found, model["expected_exposure"], rtol=0, atol=1e-12)
    for case in values["gradients"]:
        score, weight = np.array(case["scores"]), np.array(case["rank_weights"])[: case["n"]]
        label, ones = np.array(case["labels"]), np.ones(case["n"])
        assert exposure(score, ones, weight) @ label == pytest.approx(case["J"], abs=1e-12)
        np.testing.assert_allclose(gradient(score, ones, weight, label), case["grad_exact"], rtol=0, atol=1e-12)
