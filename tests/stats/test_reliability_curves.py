"""Reliability: bins, intervals, decompositions and errors against plain twins and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import generator
from rerankers.stats.reliability import reliability
from rerankers.stats.reliability_curve import reliability_curve, wilson_interval
from rerankers.stats.scoring import decompositions, losses

RNG = np.random.default_rng(23)


def minmax(value: np.ndarray, total: np.ndarray) -> np.ndarray:
    n = len(value)
    mean = lambda j, k: np.sum((value * total)[j : k + 1]) / np.sum(total[j : k + 1])  # noqa: E731
    return np.array([max(min(mean(j, k) for k in range(i, n)) for j in range(i + 1)) for i in range(n)])


def score_of(name: str, p: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        each = (p - y) ** 2 if name == "brier" else -np.where(y, np.log(p), np.log(1 - p))
    return float(np.average(each, weights=w))


pairs = st.lists(
    st.tuples(st.integers(1, 9), st.booleans(), st.sampled_from([0.25, 1.0, 2.0])), min_size=1, max_size=20
)


@settings(max_examples=150)
@given(pairs)
def test_decomposition_by_the_formula(data: list[tuple[int, bool, float]]) -> None:
    p, y, w = (np.array(column) for column in zip(*data, strict=True))
    p = p / 10
    points = np.unique(p)
    total = np.array([w[p == point].sum() for point in points])
    share = np.array([(w * y)[p == point].sum() for point in points]) / total
    best = dict(zip(points, minmax(share, total), strict=True))
    recalibrated, base = np.array([best[value] for value in p]), np.full(len(p), np.average(y, weights=w))
    found = decompositions(p, y, w)
    for name, parts in found.items():
        given_, best_, constant = (score_of(name, q, y, w) for q in (p, recalibrated, base))
        expected = (given_, given_ - best_, constant - best_, constant)
        np.testing.assert_allclose(
            (parts.value, parts.miscalibration, parts.discrimination, parts.uncertainty), expected, atol=1e-9
        )
        assert parts.value == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty, abs=1e-12)
        assert parts.miscalibration >= 0
        assert parts.discrimination >= 0


@settings(max_examples=100)
@given(pairs, st.integers(1, 12), st.randoms(use_true_random=False))
def test_bins_share_the_mass_whatever_the_order(data, bins, shuffle) -> None:  # type: ignore[no-untyped-def]
    p, y, w = (np.array(column) for column in zip(*data, strict=True))
    p = p / 10
    cluster = np.arange(len(p))
    curve, member = reliability_curve(p, y, w, cluster, bins, 0.9)
    for number in range(len(curve)):
        mine = member == number
        assert curve.least[number] == p[mine].min()
        assert curve.most[number] == p[mine].max()
        assert curve.predicted[number] == pytest.approx(np.average(p[mine], weights=w[mine]))
        assert curve.rate[number] == pytest.approx(np.average(y[mine], weights=w[mine]))
        assert curve.pairs[number] == mine.sum()
        largest = max(w[p == value].sum() for value in np.unique(p[mine]))
        assert curve.weight[number] == pytest.approx(w[mine].sum())
        assert curve.weight[number] <= w.sum() / bins + largest + 1e-12
        assert 0 <= curve.low[number] <= curve.rate[number] + 1e-12
        assert curve.rate[number] - 1e-12 <= curve.high[number] <= 1
    assert np.all(curve.most[:-1] < curve.least[1:])
    order = list(range(len(p)))
    shuffle.shuffle(order)
    again, moved = reliability_curve(p[order], y[order], w[order], cluster, bins, 0.9)
    np.testing.assert_array_equal(moved, member[order])
    np.testing.assert_allclose(again.rate, curve.rate)


def test_bins_without_ties_are_equal() -> None:
    p = RNG.permutation(np.linspace(0.01, 0.99, 40))
    curve, _ = reliability_curve(p, p > 0.5, np.ones(40), np.arange(40), 10, 0.95)
    np.testing.assert_array_equal(curve.pairs, np.full(10, 4))


def test_wilson_is_scipys() -> None:
    for k, n in ((0, 5), (3, 10), (10, 10), (41, 97)):
        expected = stats.binomtest(k, n).proportion_ci(0.9, method="wilson")
        low, high = wilson_interval(np.array([k / n]), np.array([float(n)]), 0.9)
        np.testing.assert_allclose((low[0], high[0]), (expected.low, expected.high), rtol=1e-9, atol=1e-15)


def test_copies_within_a_query_are_no_evidence() -> None:
    n = 200
    y = RNG.random(n) < 0.3
    p = np.full(n, 0.3)
    single, _ = reliability_curve(p, y, np.ones(n), np.arange(n), 1, 0.95)
    copied, _ = reliability_curve(np.repeat(p, 8), np.repeat(y, 8), np.ones(8 * n), np.repeat(np.arange(n), 8), 1, 0.95)
    np.testing.assert_allclose((copied.low, copied.high), (single.low, single.high), atol=1e-4)
    naive, _ = reliability_curve(np.repeat(p, 8), np.repeat(y, 8), np.ones(8 * n), np.arange(8 * n), 1, 0.95)
    assert naive.high - naive.low < 0.5 * (copied.high - copied.low)
    sure, _ = reliability_curve(p, np.zeros(n, bool), np.ones(n), np.repeat(np.arange(20), 10), 1, 0.95)
    assert sure.high == pytest.approx(stats.binomtest(0, 20).proportion_ci(0.95, method="wilson").high)


def test_numbers_by_hand() -> None:
    p = np.array([0.1, 0.1, 0.9, 0.9])
    y = np.array([False, True, True, True])
    found = reliability(p, y, np.array([0, 2, 4]), bins=2, resamples=50)
    assert found.mean_probability == 0.5
    assert found.rate == 0.75
    assert found.bias.mean == -0.25
    assert found.brier.mean == pytest.approx((0.01 + 0.81 + 0.01 + 0.01) / 4)
    assert found.log_loss.mean == pytest.approx(-(3 * np.log(0.9) + np.log(0.1)) / 4)
    assert found.calibration_error.mean == pytest.approx((0.8 + 0.2) / 4)
    assert found.chance_error == pytest.approx(2 * np.sqrt(2 / np.pi * 0.18) / 4)
    assert (found.pairs, found.clusters, found.weight) == (4, 2, 4.0)
    assert found.parts["brier"].uncertainty == pytest.approx(0.1875)
    np.testing.assert_allclose(found.curve.rate, [0.5, 1.0])


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
def test_intervals_are_scipys_on_the_same_resamples(method: str, name: str) -> None:
    lengths = RNG.integers(1, 6, 25)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    p = RNG.random(indptr[-1])
    y, w = RNG.random(indptr[-1]) < p**2, RNG.choice([0.5, 1.0], indptr[-1])
    loss = losses(p, y)

    def brier(rows: np.ndarray) -> float:
        pick = np.concatenate([np.arange(indptr[row], indptr[row + 1]) for row in rows])
        return float(np.average(loss[pick, 0], weights=w[pick]))

    expected = stats.bootstrap(
        (np.arange(25),), brier, n_resamples=200, method=name, rng=generator(5, "bootstrap"), vectorized=False
    ).confidence_interval
    found = reliability(p, y, indptr, weight=w, seed=5, resamples=200, method=method)
    assert (found.brier.low, found.brier.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_chance_error_is_that_of_perfect_probabilities() -> None:
    p = RNG.beta(1, 3, 1500)
    indptr = np.arange(0, 1501, 10)
    found = [reliability(p, RNG.random(1500) < p, indptr, resamples=1) for _ in range(60)]
    errors = [value.calibration_error.mean for value in found]
    assert np.mean(errors) == pytest.approx(found[0].chance_error, rel=0.08)
    bad = reliability(p, RNG.random(1500) < p**2, indptr, resamples=300)
    assert bad.calibration_error.mean > 3 * bad.chance_error
    assert bad.bias.low > 0


def test_weights_are_repetitions() -> None:
    p, y = RNG.random(30), RNG.random(30) < 0.5
    w = RNG.integers(0, 4, 30)
    indptr = np.arange(0, 31, 3)
    often = np.repeat(np.arange(30), w)
    bounds = np.concatenate([[0], np.cumsum(w)])[indptr]
    left = reliability(p, y, indptr, weight=w.astype(float), resamples=100)
    right = reliability(p[often], y[often], bounds, resamples=100)
    for name in ("bias", "brier", "log_loss", "calibration_error"):
        assert getattr(left, name).mean == pytest.approx(getattr(right, name).mean)
    assert left.weight == right.pairs
    np.testing.assert_allclose(left.curve.rate, right.curve.rate)


def test_nothing_one_and_certain() -> None:
    nothing = reliability(np.empty(0), np.empty(0, bool), np.array([0, 0]))
    assert (nothing.pairs, nothing.rate, nothing.brier.mean, nothing.chance_error, len(nothing.curve)) == (
        0,
        None,
        None,
        None,
        0,
    )
    assert nothing.brier.reason == "no_value"
    one = reliability(np.array([0.3]), np.array([True]), np.array([0, 1]))
    assert (one.brier.mean, one.brier.low, one.brier.reason) == (pytest.approx(0.49), None, "fewer_than_two_values")
    wrong = reliability(np.array([0.0, 1.0, 0.0]), np.array([True, True, False]), np.array([0, 1, 3]))
    assert wrong.counts == {"pairs_certain_and_wrong": 1}
    assert wrong.log_loss.mean == pytest.approx(-np.log(1e-12) / 3)
    weightless = reliability(np.array([0.3, 0.4]), np.array([True, False]), np.array([0, 1, 2]), weight=np.zeros(2))
    assert weightless.pairs == 0


def test_reliability_problems() -> None:
    p, y, indptr = np.array([0.2, 0.4]), np.array([True, False]), np.array([0, 2])
    for change, error, message in (
        ({"probability": np.array([0.2, 1.2])}, InputError, "probability: found 1 out of range"),
        ({"probability": np.array([0.2, np.nan])}, InputError, "probability: found 1 out of range"),
        ({"relevant": np.array([1, 0])}, InputError, "relevant: found int64; expected bool"),
        ({"weight": np.ones(3)}, InputError, "shapes"),
        ({"weight": np.array([1.0, -1.0])}, InputError, "weights that are negative"),
        ({"indptr": np.array([0, 3])}, InputError, "indptr"),
        ({"bins": 0}, InputError, "bins: found 0"),
        ({"method": "normal"}, ConfigError, "bootstrap method"),
    ):
        with pytest.raises(error, match=message):
            reliability(**{"probability": p, "relevant": y, "indptr": indptr, **change})
