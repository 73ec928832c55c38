"""Studentized intervals against plain loops, clusters, and two one-sided tests against scipy's t tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rerankers._base.errors import ConfigError, InputError
from rerankers.stats.bootstrap import mean_intervals, resample_counts
from rerankers.stats.equivalence import bootstrap_tost, tost
from rerankers.stats.paired import mean_draws, paired_intervals, ratio_error

RNG = np.random.default_rng(1)


def twin(values: np.ndarray, resamples: int, level: float) -> tuple[float, float]:
    """The studentized interval of one complete column, resample by resample."""
    ratios = []
    for times in resample_counts(len(values), 0, resamples):
        for row in times:
            drawn = np.repeat(values, row.astype(int))
            if np.ptp(drawn) > 0:
                ratios.append((drawn.mean() - values.mean()) / (drawn.std() / np.sqrt(len(drawn))))
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    error = values.std() / np.sqrt(len(values))
    return float(values.mean() - high * error), float(values.mean() - low * error)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_studentized_is_its_definition(level: float) -> None:
    values = RNG.exponential(size=(25, 2))
    found = paired_intervals(values, resamples=300, level=level)
    for column, one in enumerate(found):
        assert (one.low, one.high) == pytest.approx(twin(values[:, column], 300, level), rel=1e-9)
        assert one.mean == pytest.approx(values[:, column].mean())


@pytest.mark.parametrize("units", [2, 3, 4])
def test_few_queries_get_the_t_interval(units: int) -> None:
    values = np.array([-0.7320, -0.8611, 1.7859, -0.7327])[-units:, None]
    (found,) = paired_intervals(1e200 * values)
    low, high = stats.t.interval(0.95, units - 1, values.mean(), stats.sem(values[:, 0]))
    assert (found.low, found.high) == pytest.approx((1e200 * low, 1e200 * high))  # resampled: no width, or 2,000
    (clustered,) = paired_intervals(np.repeat(values, 2, axis=0), cluster=np.repeat(np.arange(units), 2))
    assert (clustered.low, clustered.high, clustered.units) == pytest.approx((low, high, units))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_scales_and_shifts(scale: float) -> None:
    values = RNG.exponential(size=(20, 1))
    (plain,), (scaled,) = paired_intervals(values), paired_intervals(scale * values)
    assert (scaled.low, scaled.high) == pytest.approx((plain.low * scale, plain.high * scale), rel=1e-9)  # type: ignore
    (moved,) = paired_intervals(values + 1e6)
    assert moved.high - 1e6 == pytest.approx(plain.high, rel=1e-6)  # type: ignore[operator]


def test_columns_do_not_depend_on_others_and_missing_queries_are_no_sample() -> None:
    values = RNG.normal(size=(30, 3))
    values[5, 1] = np.nan
    found = paired_intervals(values, resamples=200)
    assert found[1] == paired_intervals(np.delete(values, 5, axis=0)[:, 1:2], resamples=200)[0]
    assert found[2] == paired_intervals(values[:, 2:], resamples=200)[0]
    assert [one.units for one in found] == [30, 29, 30]


def test_clusters_of_one_query_are_queries_and_equal_clusters_are_their_means() -> None:
    values = RNG.exponential(size=(40, 1))
    single = paired_intervals(values, cluster=np.arange(40)[::-1] * 7)
    assert single[0].units == 40
    pairs = np.repeat(np.arange(20), 2)
    (clustered,) = paired_intervals(values, cluster=pairs)
    (of_means,) = paired_intervals(values.reshape(20, 2).mean(axis=1, keepdims=True))
    assert (clustered.low, clustered.high) == pytest.approx((of_means.low, of_means.high))
    (twice,) = paired_intervals(np.repeat(values, 2, axis=0), cluster=np.repeat(np.arange(40), 2))
    (once,) = paired_intervals(values)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))  # copies are no information
    bca = paired_intervals(values, cluster=np.arange(40), method="bca")[0]
    assert (bca.low, bca.high) == pytest.approx((lambda one: (one.low, one.high))(mean_intervals(values)[0]))


def test_degenerate_columns() -> None:
    nan = np.nan
    values = np.array([[0.1, nan, 0.3, 1.0], [0.1, nan, nan, 2.0], [0.1, nan, nan, 2.0]])
    same, nothing, one, two = paired_intervals(values)
    assert (same.low, same.high) == (0.1, 0.1)
    assert (nothing.mean, nothing.reason) == (None, "no_value")
    assert (one.mean, one.low, one.reason) == (0.3, None, "fewer_than_two_values")
    assert two.low is not None
    assert two.high is not None
    assert two.low <= 5 / 3 <= two.high
    with pytest.raises(ConfigError, match="studentised"):
        paired_intervals(values, method="studentised")
    with pytest.raises(InputError, match="shape"):
        paired_intervals(values[:, 0])


def test_resampled_means_are_those_of_the_intervals() -> None:
    values = RNG.normal(size=30)
    drawn = mean_draws(values, resamples=500)
    (span,) = mean_intervals(values[:, None], resamples=500, method="percentile")
    assert (span.low, span.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert ratio_error(values, np.ones(30)) == pytest.approx(stats.sem(values))


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.1])
def test_tost_is_two_t_tests(shift: float) -> None:
    values = RNG.normal(shift, 0.5, 30)
    found = tost(values, 0.25)
    assert found.not_lower == pytest.approx(stats.ttest_1samp(values, -0.25, alternative="greater").pvalue)
    assert found.not_higher == pytest.approx(stats.ttest_1samp(values, 0.25, alternative="less").pvalue)
    assert found.p == max(found.not_lower, found.not_higher)  # type: ignore[type-var]
    assert found.low is not None
    assert found.high is not None
    assert found.equivalent == (found.low > -0.25 and found.high < 0.25)  # the 90 % interval says the same
    drawn = bootstrap_tost(values, 0.25, resamples=4000)
    assert drawn.p == pytest.approx(found.p, abs=0.03)
    assert drawn.equivalent == found.equivalent


def test_equal_systems_and_few_queries() -> None:
    zero = np.zeros(10)
    for test in (tost, bootstrap_tost):
        assert test(zero, 0.01).equivalent
        assert not test(zero + 0.01, 0.01).equivalent  # at the margin is not inside it
        assert not test(zero - 0.02, 0.01).equivalent
        assert test(np.array([0.1, np.nan]), 1.0).p is None
        assert test(np.array([]), 1.0).mean is None
    assert tost(np.tile([0.1, -0.1], 20), 0.05).equivalent
    assert not tost(np.tile([0.1, -0.1], 20), 0.05, cluster=np.tile([0, 1], 20)).equivalent


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"margin": 0.0}, "margin: found 0.0"),
        ({"margin": float("nan")}, "margin"),
        ({"margin": 1.0, "alpha": 0.5}, "alpha: found 0.5"),
        ({"margin": 1.0, "differences": np.zeros((2, 2))}, "differences: found shape"),
        ({"margin": 1.0, "differences": np.array([np.inf, 1])}, "infinite"),
    ],
)
def test_what_is_refused(words: dict[str, object], message: str) -> None:
    for test in (tost, bootstrap_tost):
        with pytest.raises(InputError, match=message):
            test(**{"differences": np.arange(5.0), **words})  # type: ignore[arg-type]


@pytest.mark.parametrize("few", [[0.8], [0.8, 0.01], [-0.8, 0.001, 0.001]])
def test_intervals_of_columns_that_hardly_vary_stay_within_the_values(few: list[float]) -> None:
    """Resamples without the one query that matters have hardly any standard error: their ratios may be anything."""
    values = np.zeros((50, 1))
    values[: len(few), 0] = few
    (found,) = paired_intervals(values)
    assert found.low is not None
    assert found.high is not None
    assert values.min() <= found.low <= found.mean <= found.high <= values.max()  # type: ignore[operator]
    (other,) = paired_intervals(values, cluster=np.arange(50))
    assert (other.low, other.high) == (found.low, found.high)


def test_a_column_of_one_outlier_among_others_is_studentized() -> None:
    values = np.random.default_rng(0).gamma(0.9, 0.6, (20, 1))
    values[0] = 4.0
    (found,) = paired_intervals(values)
    (bca,) = paired_intervals(values, method="bca")
    assert found.high > bca.high  # type: ignore[operator]
