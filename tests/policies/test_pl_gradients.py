"""Gradients of Plackett-Luce policies: published values, enumeration of all draws, any spread, wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pl_gradient_twins import all_orders, central_difference, plain_pl_rank_3, plain_reinforce

from rerankers.exposure import Positions, pl_exposure
from rerankers.policies import sample_plackett_luce
from rerankers.policies._estimators import baselines, pl_rank_3, reinforce
from rerankers.policies.gradients import pl_gradient

RNG = np.random.default_rng(23)
DISCOUNT = 1 / np.log2(np.arange(100) + 2)
ORACLE = "oracles/algorithms/pl_exposure_gradients.json"


@pytest.mark.shared_data
def test_published_gradients(shared: Path) -> None:
    values = json.loads((shared / ORACLE).read_text())
    for case in values["gradients"]:
        score, label, position = (np.array(case[name]) for name in ("scores", "labels", "rank_weights"))
        exact, k = np.array(case["grad_exact"]), min(len(position), len(score))
        np.testing.assert_allclose(pl_gradient(score, label, position), exact, rtol=0, atol=1e-12)
        one = case["single_ranking"]["PL_rank_3"]
        found = pl_rank_3(score, np.array([one["ranking"][:k]]), position[:k], label, np.zeros(1))
        np.testing.assert_allclose(found, one["estimate"], rtol=0, atol=1e-12)
        orders, chance = all_orders(score, k)
        mean = chance @ np.array([pl_rank_3(score, order[None], position[:k], label, np.zeros(1)) for order in orders])
        np.testing.assert_allclose(mean, exact, rtol=0, atol=1e-12)
        np.testing.assert_allclose(mean, case["estimators_expectation"]["PL_rank_3"], rtol=0, atol=1e-12)
    for name, case in values["pitfalls"].items():
        if "scores" in case:
            k = int(name[-1])
            found = pl_gradient(case["scores"], case["labels"], DISCOUNT[:k])
            np.testing.assert_allclose(found, case["exact"], rtol=0, atol=1e-12)


SCORES = st.lists(st.floats(-3, 3) | st.floats(-1500, 1500), min_size=1, max_size=6)


@settings(max_examples=60)
@given(SCORES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_pl_rank_3_is_its_definition_at_any_spread(scores: list[float], k: int, seed: int) -> None:
    rng, score = np.random.default_rng(seed), np.array(scores)
    k = min(k, len(score))
    orders = np.array([rng.permutation(len(score))[:k] for _ in range(5)])
    position, reward = np.sort(rng.random(k))[::-1], rng.normal(size=len(score))
    baseline = baselines(orders, position, reward)
    expected = [
        plain_pl_rank_3(score, order, position, reward - less)
        for order, less in zip(orders.tolist(), baseline, strict=True)
    ]
    found = pl_rank_3(score, orders, position, reward, baseline)
    np.testing.assert_allclose(found, np.mean(expected, axis=0), rtol=1e-12, atol=1e-13)


@settings(max_examples=60)
@given(SCORES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_reinforce_is_its_definition_at_any_spread(scores: list[float], k: int, seed: int) -> None:
    rng, score = np.random.default_rng(seed), np.array(scores)
    k = min(k, len(score))
    orders = np.array([rng.permutation(len(score))[:k] for _ in range(5)])
    position, reward = np.sort(rng.random(k))[::-1], rng.normal(size=len(score))
    found = reinforce(score, orders, position, reward, baselines(orders, position, reward))
    np.testing.assert_allclose(found, plain_reinforce(score, orders, position, reward), rtol=1e-12, atol=1e-13)
    assert found.sum() == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("shift", [0.0, 1299.25, -1299.25, 2.0**40])
def test_large_logits_lose_no_digits(shift: float) -> None:
    """Only differences of logits count, and these are exact here."""
    rng, logit = np.random.default_rng(15980), np.array([0.0, -1299.25, -1299.25, -7.25, -1292.0]) + shift
    orders = np.array([rng.permutation(5)[:3] for _ in range(40)])
    position, reward = np.sort(rng.random(3))[::-1], rng.normal(size=5)
    baseline = baselines(orders, position, reward)
    for estimate in (reinforce, pl_rank_3):
        expected = estimate(logit - shift, orders, position, reward, baseline)
        np.testing.assert_allclose(
            estimate(logit, orders, position, reward, baseline), expected, rtol=1e-14, atol=1e-15
        )


def test_long_rows_are_finite_and_cut_into_tiles() -> None:
    for n, k, spread in ((300, 20, 3.0), (300, 300, 3.0), (120, 30, 3000.0)):
        score, reward, position = RNG.uniform(0, spread, n), RNG.random(n), np.linspace(1, 0.5, k)
        orders = np.array([np.argsort(RNG.exponential(size=n)) for _ in range(600)])[:, :k]
        baseline = baselines(orders, position, reward)
        for estimator in (pl_rank_3, reinforce):
            whole = estimator(score, orders, position, reward, baseline)
            assert np.all(np.isfinite(whole))
            parts = [
                estimator(score, orders[part], position, reward, baseline[part])
                for part in (slice(0, 300), slice(300, 600))
            ]
            np.testing.assert_allclose(np.mean(parts, axis=0), whole, rtol=1e-9, atol=1e-12 * np.abs(whole).max())


@pytest.mark.parametrize("estimator", [pl_rank_3, reinforce])
def test_all_pairs_of_draws_give_the_exact_gradient(estimator: Callable[..., np.ndarray]) -> None:
    score, reward = np.array([0.3, -1.0, 1.2, 0.0]), np.array([1.0, -0.5, 0.2, 2.0])
    for k in (1, 2, 4):
        orders, chance = all_orders(score, k)
        mean = np.zeros(4)
        for (a, p), (b, q) in product(zip(orders, chance, strict=True), repeat=2):
            both = np.array([a, b])
            mean += p * q * estimator(score, both, DISCOUNT[:k], reward, baselines(both, DISCOUNT[:k], reward))
        np.testing.assert_allclose(mean, pl_gradient(score, reward, DISCOUNT[:k]), atol=1e-13)


@pytest.mark.parametrize(("method", "draws"), [("pl_rank_3", 2), ("reinforce", 3)])
def test_halves_are_unbiased_for_a_quadratic(monkeypatch: pytest.MonkeyPatch, method: str, draws: int) -> None:
    score, position = np.array([0.5, -0.7, 0.1]), np.array([1.0, 0.6])
    target, mix = np.array([0.4, 0.3, 0.9]), RNG.normal(size=(3, 3))
    orders, chance = all_orders(score, 2)

    def slope(exposure: np.ndarray) -> np.ndarray:  # of |mix (exposure - target)|^2
        return 2 * mix.T @ (mix @ (exposure - target))

    mean = np.zeros(3)
    for numbers in product(range(len(orders)), repeat=draws):
        monkeypatch.setattr("rerankers.policies.gradients.sample_plackett_luce", lambda *_, n=numbers: orders[list(n)])
        mean += np.prod(chance[list(numbers)]) * pl_gradient(score, slope, position, method, draws)
    np.testing.assert_allclose(mean, pl_gradient(score, slope, position), atol=1e-13)


def test_exact_against_differences() -> None:
    for n, position in ((7, DISCOUNT[:3]), (30, DISCOUNT[:30]), (30, [1.0, 1.0, 0.0]), (4, DISCOUNT)):
        score, reward = RNG.normal(size=n) * 2, RNG.normal(size=n)
        spec, target = Positions(tuple(np.asarray(position).tolist())), RNG.random(n)

        def entropy(exposure: np.ndarray) -> np.ndarray:
            return np.log(exposure / target) + 1  # noqa: B023

        linear = central_difference(lambda s: reward @ pl_exposure(s, spec), score)  # noqa: B023
        np.testing.assert_allclose(pl_gradient(score, reward, position), linear, atol=1e-8)
        if n != 30 or len(position) == 30:
            curved = central_difference(lambda s: np.sum((e := pl_exposure(s, spec)) * np.log(e / target)), score)  # noqa: B023
            np.testing.assert_allclose(pl_gradient(score, entropy, position), curved, atol=1e-7)


@pytest.mark.parametrize("method", ["pl_rank_3", "reinforce"])
def test_estimates_lie_around_the_exact_gradient(method: str) -> None:
    score, reward, repeats = RNG.normal(size=12), RNG.random(12), 60
    found = np.array([pl_gradient(score, reward, DISCOUNT[:5], method, 100, seed) for seed in range(repeats)])
    z = (found.mean(axis=0) - pl_gradient(score, reward, DISCOUNT[:5])) / (found.std(axis=0) / np.sqrt(repeats))
    assert np.abs(z).max() < 5


def test_how_much_the_estimators_vary() -> None:
    score, reward, position = RNG.normal(size=40), RNG.random(40), DISCOUNT[:10]
    exact = pl_gradient(score, reward, position)
    error = dict.fromkeys(("pl_rank_3", "reinforce", "without baseline"), 0.0)
    for seed in range(20):
        for method in ("pl_rank_3", "reinforce"):
            error[method] += np.square(pl_gradient(score, reward, position, method, 50, seed) - exact).sum()
        plain = pl_rank_3(score, sample_plackett_luce(score, 10, 50, seed), position, reward, np.zeros(50))
        error["without baseline"] += np.square(plain - exact).sum()
    assert 2 * error["pl_rank_3"] < error["reinforce"]
    assert 10 * error["pl_rank_3"] < error["without baseline"]


def test_minus_infinity_and_limits() -> None:
    score, reward = np.array([0.2, -np.inf, 1.0, -np.inf]), np.array([1.0, 2.0, 0.5, -1.0])
    far = np.array([0.2, -100.0, 1.0, -100.0])
    for k in (1, 3, 4):
        exact = pl_gradient(score, reward, DISCOUNT[:k])
        np.testing.assert_allclose(exact[::2], pl_gradient(far, reward, DISCOUNT[:k])[::2], atol=1e-13)
        np.testing.assert_array_equal(exact[1::2], 0)
        for method in ("pl_rank_3", "reinforce"):
            found = pl_gradient(score, reward, DISCOUNT[:k], method, 4000)
            np.testing.assert_allclose(found, exact, atol=0.1)
            np.testing.assert_array_equal(found[1::2], 0)
    for method in ("exact", "pl_rank_3", "reinforce"):
        assert pl_gradient([], [], [1.0], method).shape == (0,)
        np.testing.assert_allclose(pl_gradient([3.0], [2.0], [1.0], method), [0], atol=1e-15)
        np.testing.assert_array_equal(pl_gradient([3.0, 1.0], [2.0, 1.0], [0.0, 0.0], method), [0, 0])
        np.testing.assert_allclose(pl_gradient([3.0, 1.0], [2.0, 2.0], [1.0, 0.5, 0.1], method), [0, 0], atol=1e-13)
        np.testing.assert_array_equal(pl_gradient([3.0, 1.0], lambda _: [5.0, 1.0], [0.0], method), [0, 0])
    wide = np.linspace(0, 2000, 50)
    for method in ("exact", "pl_rank_3", "reinforce"):
        found = pl_gradient(wide, np.arange(50.0), DISCOUNT[:50], method)
        np.testing.assert_allclose(found, pl_gradient(wide, np.arange(50.0), DISCOUNT[:50]), atol=1e-9)


def test_seeds_and_draws() -> None:
    score, reward = RNG.normal(size=9), RNG.random(9)
    for method in ("pl_rank_3", "reinforce"):
        one = pl_gradient(score, reward, DISCOUNT[:4], method, 40, seed=7)
        np.testing.assert_array_equal(one, pl_gradient(score, reward, DISCOUNT[:4], method, 40, seed=7))
        assert np.any(one != pl_gradient(score, reward, DISCOUNT[:4], method, 40, seed=8))
        usual = pl_gradient(score, reward, DISCOUNT[:4], method, seed=7)
        np.testing.assert_array_equal(usual, pl_gradient(score, reward, DISCOUNT[:4], method, 1000, seed=7))


def test_wrong_arguments() -> None:
    for method, least in (("pl_rank_3", 1), ("reinforce", 2)):
        for wrong in (least - 1, -5, True, 2.5):
            with pytest.raises(ValueError, match=f"draws: found {wrong}; expected a whole number, {least} or more"):
                pl_gradient([0, 1], [1, 0], [1], method, wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"draws: found {least}; expected a whole number, {least + 1} or more"):
            pl_gradient([0, 1], lambda exposure: exposure, [1], method, least)
    with pytest.raises(ValueError, match="draws: found 5; expected None"):
        pl_gradient([0, 1], [1, 0], [1], draws=5)
    with pytest.raises(ValueError, match="method: found 'pl_rank'; expected one of exact, pl_rank_3, reinforce"):
        pl_gradient([0, 1], [1, 0], [1], "pl_rank")
    with pytest.raises(ValueError, match="scores: found nan"):
        pl_gradient([0, np.nan], [1, 0], [1])
    for method in ("exact", "pl_rank_3", "reinforce"):
        with pytest.raises(ValueError, match=r"weights: found an array of shape \(3,\); expected \(2,\)"):
            pl_gradient([0, 1], [1, 0, 0], [1], method)
        with pytest.raises(ValueError, match="weights: found inf at 1; expected finite"):
            pl_gradient([0, 1], [1, np.inf], [1], method)
        with pytest.raises(ValueError, match=r"weights\(exposure\): found an array of shape \(1,\)"):
            pl_gradient([0, 1], lambda _: [1.0], [1], method)
        with pytest.raises(ValueError, match=r"position_weights: found 0\.5 before 1"):
            pl_gradient([0, 1], [1, 0], [0.5, 1], method)
        with pytest.raises(ValueError, match="position_weights: found -1"):
            pl_gradient([0, 1], [1, 0], [-1], method)
