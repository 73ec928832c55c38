"""Sums of blocks are the sums of all rows, to the bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rerankers.stats.sums import Sums


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.lists(st.integers(0, 60), max_size=4))
def test_any_cut_gives_the_same_bits(seed: int, rows: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 3)) * 10.0 ** rng.integers(-12, 12, (rows, 3))
    whole = Sums.of(values)
    total = Sums.of(values[:0])
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), rows], strict=True):
        total = total + Sums.of(values[start:stop])
    assert total.high.tolist() == whole.high.tolist()
    assert whole.high.tolist() == [math.fsum(column) for column in values.T.tolist()]
