"""Intervals by sign flips: what the test rejects is outside, what it does not is inside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.stats.flip_intervals import TOO_FEW, sign_flip_intervals
from rerankers.stats.permutation import sign_flip_tests

RNG = np.random.default_rng(4)


@given(st.lists(st.floats(-5, 5).map(lambda value: round(value, 2)), min_size=6, max_size=9, unique=True))
@settings(max_examples=40, deadline=None)
def test_the_ends_are_where_the_test_turns(values: list[float]) -> None:
    data = np.array(values)
    (found,) = sign_flip_intervals(data, level=0.9)
    assert found.low is not None
    assert found.high is not None
    reach = 1e-6 * (1 + found.high - found.low)
    for end, outwards in ((found.low, -1), (found.high, 1)):
        assert sign_flip_tests(data - end - outwards * reach).p[0] <= 0.1
        assert sign_flip_tests(data - end + outwards * reach).p[0] > 0.1


def test_drawn_intervals_agree_with_drawn_tests() -> None:
    table = RNG.normal(0.3, 1, (60, 40))
    spans = sign_flip_intervals(table, permutations=500)
    found = sign_flip_tests(table, permutations=500)
    outside = [span.low > 0 or span.high < 0 for span in spans]  # type: ignore[operator]
    assert outside == (found.p <= 0.05).tolist()
    assert 0 < sum(outside) < 40
    assert [span.mean for span in spans] == pytest.approx(table.mean(axis=0).tolist())
    alone = [sign_flip_intervals(table[:, column], permutations=500)[0] for column in (0, 39)]
    for one, place in zip(alone, (0, 39), strict=True):  # whatever stands beside a comparison
        assert (one.low, one.high) == pytest.approx((spans[place].low, spans[place].high), rel=1e-12)


def test_gaps_and_clusters() -> None:
    table = RNG.normal(size=(12, 2))
    table[:4, 1] = np.nan
    one, two = sign_flip_intervals(table)
    assert (one.units, two.units) == (12, 8)
    (alone,) = sign_flip_intervals(table[4:, 1])
    assert (two.low, two.high) == pytest.approx((alone.low, alone.high))
    values = RNG.normal(size=10)
    twice = sign_flip_intervals(np.repeat(values, 2), cluster=np.repeat(np.arange(10), 2))[0]
    once = sign_flip_intervals(values)[0]
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))
    cluster = np.array([0, 0, 0, 1, 2, 3, 4, 5, 6, 6])
    (span,) = sign_flip_intervals(values, cluster=cluster, level=0.9)
    assert span.low is not None
    assert (
        sign_flip_tests(values - span.low + 1e-9, cluster=cluster).p[0] <= 0.1
    )  # shifts of queries, flips of clusters
    assert sign_flip_tests(values - span.low - 1e-9, cluster=cluster).p[0] > 0.1


def test_few_queries_and_equal_ones() -> None:
    five, six = RNG.normal(size=5), RNG.normal(size=6)
    assert sign_flip_intervals(five)[0].reason == TOO_FEW  # 1 / 16 is the least that p can be
    assert sign_flip_intervals(six)[0].low is not None
    same = sign_flip_intervals(np.full(30, 0.1))[0]
    assert (same.mean, same.low, same.high) == (0.1, 0.1, 0.1)
    assert sign_flip_intervals(np.array([np.nan]))[0].reason == "no_value"
    assert sign_flip_intervals(np.array([0.3]))[0].low is None
    with pytest.raises(InputError, match="level"):
        sign_flip_intervals(six, level=1.0)
    with pytest.raises(InputError, match="infinite"):
        sign_flip_intervals(np.array([np.inf]))
