"""Power against published sample sizes and simulation; variance components against a plain analysis of variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.stats.components import variance_components
from rerankers.stats.power import detectable_difference, deviation_under, power_of, queries_needed

RNG = np.random.default_rng(2)


@pytest.mark.parametrize(("effect", "queries"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sample_sizes_of_the_paired_t_test_as_in_tables(effect: float, queries: int) -> None:
    # Cohen's small, medium and large effect at power .8 and alpha .05, as every power table of dependent means has it
    assert queries_needed(effect, 1.0) == queries
    assert power_of(effect, 1.0, queries) >= 0.8 > power_of(effect, 1.0, queries - 1)


@given(st.floats(0.01, 50), st.integers(2, 500), st.floats(0.3, 0.99))
@settings(max_examples=15, deadline=None)
def test_detectable_and_needed_are_inverses(deviation: float, queries: int, power: float) -> None:
    difference = detectable_difference(deviation, queries, power)
    assert power_of(difference, deviation, queries) == pytest.approx(power, abs=1e-6)
    assert queries_needed(difference * (1 + 1e-7), deviation, power) <= queries
    assert queries_needed(difference * (1 - 1e-4), deviation, power) >= queries


def test_power_is_that_of_simulated_tests() -> None:
    worlds = RNG.normal(0.3, 1.0, (12, 20_000))
    found = np.mean(stats.ttest_1samp(worlds, 0.0).pvalue <= 0.05)
    assert power_of(-0.3, 1.0, 12) == pytest.approx(found, abs=0.01)
    assert power_of(0.0, 1.0, 12) == pytest.approx(0.05)


def test_limits() -> None:
    assert power_of(1.0, 0.0, 5) == 1.0
    assert power_of(0.0, 0.0, 5) == 0.05
    assert power_of(1e6, 1.0, 300) == 1.0
    assert detectable_difference(0.0, 5) == 0.0
    assert queries_needed(1.0, 0.0) == queries_needed(100.0, 1.0) == 2
    assert deviation_under(2.0, 0.5) == pytest.approx(2.0)
    assert deviation_under(2.0, 1.0) == 0.0
    with pytest.raises(InfeasibleError, match="more than 1,000,000,000"):
        queries_needed(1e-9, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of(1.0, -1.0, 5), "deviation"),
        (lambda: power_of(1.0, 1.0, 1), "queries"),
        (lambda: detectable_difference(1.0, 1), "queries"),
        (lambda: detectable_difference(1.0, 5, power=0.04), "power"),
        (lambda: queries_needed(0.0, 1.0), "difference"),
        (lambda: queries_needed(1.0, 1.0, alpha=0.0), "alpha"),
        (lambda: deviation_under(1.0, 1.1), "correlation"),
        (lambda: variance_components(np.zeros(3)), "values: found shape"),
        (lambda: variance_components(np.full((3, 2), np.inf)), "infinite"),
        (lambda: variance_components(np.array([[1.0], [np.nan]])), "1 queries"),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


def test_components_are_those_of_an_analysis_of_variance() -> None:
    values = RNG.normal(size=(9, 1)) + 0.5 * RNG.normal(size=(1, 4)) + RNG.normal(size=(9, 4)) + 1e5
    found = variance_components(values)
    grand, of_query, of_seed = values.mean(), values.mean(axis=1), values.mean(axis=0)
    between = 4 * np.sum((of_query - grand) ** 2) / 8
    seeds = 9 * np.sum((of_seed - grand) ** 2) / 3
    rest = np.sum((values - of_query[:, None] - of_seed + grand) ** 2) / 24
    assert found.rest is not None
    assert found.seeds is not None
    assert found.rest.mean == pytest.approx(rest)
    assert found.queries.mean == pytest.approx((between - rest) / 4)
    assert found.seeds.mean == pytest.approx((seeds - rest) / 9)
    assert (found.units, found.repetitions) == (9, 4)
    single = variance_components(values[:, :1])
    assert single.queries.mean == pytest.approx(values[:, 0].var(ddof=1))
    assert (single.seeds, single.rest) == (None, None)
    with_gap = np.vstack([values, np.full((1, 4), np.nan)])
    assert variance_components(with_gap).queries.mean == pytest.approx(found.queries.mean)


def test_components_are_unbiased_and_their_intervals_cover() -> None:
    truth, found = (1.0, 0.09, 0.25), []
    for _ in range(200):
        q, s, e = (
            math.sqrt(v) * RNG.normal(size=shape) for v, shape in zip(truth, ((60, 1), (1, 4), (60, 4)), strict=True)
        )
        found.append(variance_components(q + s + e, resamples=200))
    for place, part in enumerate(("queries", "seeds", "rest")):
        spans = [getattr(one, part) for one in found]
        assert np.mean([span.mean for span in spans]) == pytest.approx(truth[place], rel=0.12)
        assert 0.88 <= np.mean([span.low <= truth[place] <= span.high for span in spans]) <= 1.0
