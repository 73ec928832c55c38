"""Curves of many rows at once are those of each row by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers.report.lorenz import POINTS, lorenz, share_sums

UNIT = 2.0**-40


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_rows_at_once_are_rows_one_by_one(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 12))])
    value = np.round(rng.random(indptr[-1]), 1) * (rng.random(indptr[-1]) < 0.7)
    weight = np.round(rng.random(indptr[-1]), 1) if weighted else None
    rows = np.flatnonzero(rng.random(12) < 0.8).tolist()
    expected, queries = np.zeros(POINTS + 1), 0
    for row in rows:
        part = slice(indptr[row], indptr[row + 1])
        x = value[part]
        w = np.ones(len(x)) if weight is None else weight[part]
        if x[w > 0].sum() > 0:
            curve, gini = lorenz(x[w > 0], w[w > 0])
            expected += np.append(curve, gini)
            queries += 1
    found = share_sums(value, weight, indptr, rows)
    assert found.queries == queries
    assert found.curve * UNIT == pytest.approx(expected, abs=12 * 2 * UNIT)
    halves = [share_sums(value, weight, indptr, part) for part in (rows[:3], rows[3:])]
    assert (halves[0] + halves[1]).curve.tolist() == found.curve.tolist()
