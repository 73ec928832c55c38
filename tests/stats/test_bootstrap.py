"""Bootstrap intervals: scipy's on the same indices, missing values, degenerate columns, order of the sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.errors import ConfigError
from rerankers._base.streams import generator
from rerankers.stats import exact_mean, mean_intervals

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("values", [RNG.random(40), RNG.exponential(size=25), RNG.integers(0, 3, 30).astype(float)])
def test_agrees_with_scipy_on_the_same_resamples(values: np.ndarray, method: str, name: str) -> None:
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=999, method=name, rng=generator(3, "bootstrap"), vectorized=True
    ).confidence_interval
    (found,) = mean_intervals(values[:, None], seed=3, resamples=999, method=method)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.mean == pytest.approx(values.mean(), rel=1e-15)
    assert found.units == len(values)
    assert found.reason is None


def test_all_columns_see_the_same_resamples() -> None:
    values = RNG.random((30, 1))
    shifted = np.hstack([values, values + 5, RNG.random((30, 1)), values])
    together = mean_intervals(shifted, method="percentile")
    (alone,) = mean_intervals(values, method="percentile")
    assert together[0] == alone == together[3]
    assert together[1].low == pytest.approx(alone.low + 5, rel=1e-12)


def test_a_missing_value_is_left_out_of_every_mean() -> None:
    values = RNG.random(12)
    holes = values.copy()
    holes[[2, 7]] = np.nan
    (found,) = mean_intervals(holes[:, None], resamples=200, method="percentile")
    draw = generator(0, "bootstrap").integers(0, 12, size=(200, 12))
    means = np.array([np.nanmean(holes[row]) for row in draw])
    assert found.units == 10
    assert found.mean == pytest.approx(np.nanmean(holes), rel=1e-15)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), rel=1e-12)


def test_resamples_without_a_value_are_left_out() -> None:
    values = np.full((40, 1), np.nan)
    values[:2, 0] = [1.0, 3.0]
    (found,) = mean_intervals(values, resamples=500, method="percentile")
    assert (found.mean, found.low, found.high) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_degenerate_columns(method: str) -> None:
    nan = math.nan
    values = np.array([[0.1, nan, 0.3, 1.0], [0.1, nan, nan, 2.0], [0.1, nan, nan, 2.0]])
    same, nothing, one, two = mean_intervals(values, method=method)
    assert (same.mean, same.low, same.high) == (0.1, 0.1, 0.1)
    assert (nothing.mean, nothing.low, nothing.reason) == (None, None, "no_value")
    assert (one.mean, one.low, one.high, one.reason) == (0.3, None, None, "fewer_than_two_values")
    assert two.low is not None
    assert two.high is not None
    assert 1 <= two.low <= two.high <= 2
    (empty,) = mean_intervals(np.empty((0, 1)))
    assert empty.mean is None


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_bca_survives_extreme_scales(scale: float) -> None:
    values = RNG.exponential(size=20)
    (plain,) = mean_intervals(values[:, None])
    (scaled,) = mean_intervals(scale * values[:, None])
    assert (scaled.low, scaled.high) == pytest.approx((plain.low * scale, plain.high * scale), rel=1e-9)


def test_coverage_is_near_nominal() -> None:
    rng = np.random.default_rng(0)
    worlds = rng.exponential(size=(30, 300))  # 300 worlds of 30 queries, skewed
    found = mean_intervals(worlds, resamples=400)
    inside = np.mean([interval.low <= 1 <= interval.high for interval in found])
    assert 0.87 <= inside <= 0.98


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_mean_does_not_depend_on_the_order(values: list[float], random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert exact_mean(np.array(values)) == exact_mean(np.array(shuffled))
    assert exact_mean(np.array([*values, math.nan])) == exact_mean(np.array(values))


def test_same_seed_same_bits_and_another_seed_another_interval() -> None:
    values = RNG.random((50, 2))
    assert mean_intervals(values, seed=1) == mean_intervals(values, seed=1)
    assert mean_intervals(values, seed=1) != mean_intervals(values, seed=2)


def test_chunks_do_not_change_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.stats import bootstrap

    values = RNG.random((50, 2))
    whole = mean_intervals(values)
    monkeypatch.setattr(bootstrap, "_CELLS", 170)
    assert mean_intervals(values) == whole


def test_refuses_bad_arguments() -> None:
    with pytest.raises(ValueError, match="expected a matrix"):
        mean_intervals(np.zeros(3))
    with pytest.raises(ValueError, match="level 1"):
        mean_intervals(np.zeros((3, 1)), level=1)
    with pytest.raises(ConfigError, match="bca"):
        mean_intervals(np.zeros((3, 1)), method="bcaa")
