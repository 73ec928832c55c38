"""Ranks and z-scores within queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from rerankers.features.relative import within_query

NUMBERS = st.one_of(st.just(math.nan), st.integers(-3, 3).map(float), st.floats(-1e300, 1e300))


def twin(values: list[float]) -> tuple[list[float], list[float]]:
    """Return ranks and z-scores of one query."""
    known = [value for value in values if not math.isnan(value)]
    n = len(known)
    ranks = dict(zip(known, rankdata(known), strict=True))
    rank = {value: (ranks[value] - 1) / (n - 1) if n > 1 else 0.5 for value in known}
    scale = max((abs(value) for value in known), default=1.0) or 1.0
    small = [value / scale for value in known]
    mean = math.fsum(small) / n if n else 0.0
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in small) / n) if n else 0.0
    equal = len(set(known)) < 2
    score = {value: 0.0 if equal else (value / scale - mean) / deviation for value in known if equal or deviation}
    return [rank.get(value, math.nan) for value in values], [score.get(value, math.nan) for value in values]


@given(st.lists(st.lists(NUMBERS, max_size=8), max_size=6))
def test_both_are_their_twins(rows: list[list[float]]) -> None:
    column = np.array([value for row in rows for value in row], dtype=np.float64)
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    found = within_query(column, owner, len(rows))
    for row in range(len(rows)):
        rank, score = twin(rows[row])
        np.testing.assert_allclose(found["rank"][owner == row], rank, atol=1e-15)
        here = found["zscore"][owner == row]
        np.testing.assert_array_equal(np.isnan(here), np.isnan(column[owner == row]))
        close = np.isfinite(score)
        np.testing.assert_allclose(here[close], np.array(score)[close], rtol=1e-6, atol=1e-6)
        alone = within_query(np.array(rows[row], dtype=np.float64), np.zeros(len(rows[row]), int), 1)
        for kind, form in alone.items():
            assert form.tobytes() == found[kind][owner == row].tobytes()


@given(st.lists(NUMBERS, max_size=10), st.randoms(use_true_random=False))
def test_the_order_of_candidates_changes_no_bit(values: list[float], draw: object) -> None:
    order = list(range(len(values)))
    draw.shuffle(order)  # type: ignore[attr-defined]
    column, row = np.array(values, dtype=np.float64), np.zeros(len(values), dtype=np.int64)
    one, other = within_query(column, row, 1), within_query(column[order], row, 1)
    for kind, form in one.items():
        assert form[order].tobytes() == other[kind].tobytes()


@pytest.mark.parametrize(
    ("values", "rank", "score"),
    [
        ([3.0], [0.5], [0.0]),
        ([2.0, 2.0, 2.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]),
        ([1.0, 2.0], [0.0, 1.0], [-1.0, 1.0]),
        ([1.0, math.nan, 1.0, 4.0], [0.25, math.nan, 0.25, 1.0], [-(0.5**0.5), math.nan, -(0.5**0.5), 2**0.5]),
        ([-1.7e308, 1.7e308], [0.0, 1.0], [-1.0, 1.0]),
        ([1e-310, 2e-310], [0.0, 1.0], [-1.0, 1.0]),
        ([1e16, 1e16 + 2], [0.0, 1.0], [-1.0, 1.0]),
        ([0.0, -0.0], [0.5, 0.5], [0.0, 0.0]),
        ([math.nan, math.nan], [math.nan, math.nan], [math.nan, math.nan]),
    ],
)
def test_edges(values: list[float], rank: list[float], score: list[float]) -> None:
    found = within_query(np.array(values), np.zeros(len(values), dtype=np.int64), 1)
    np.testing.assert_allclose(found["rank"], rank, atol=1e-15)
    np.testing.assert_allclose(found["zscore"], score, rtol=1e-12, atol=1e-15)
