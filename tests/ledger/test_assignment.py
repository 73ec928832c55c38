"""The cheapest ranking that keeps a quality, against all rankings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers.ledger.assignment import quality_assignment


@given(seed=st.integers(0, 10_000), n=st.integers(1, 5), share=st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0]))
def test_against_all_rankings(seed: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    gain, discount = rng.integers(0, 4, n).astype(float), 1 / np.log2(np.arange(n) + 2)
    cost = np.abs(rng.normal(0, 1, n)[:, None] - discount)
    ideal = np.argsort(-gain, kind="stable")
    floor = share * float(np.sum(gain[ideal] * discount))
    order, spent, bound = quality_assignment(cost, gain, discount, floor, ideal)
    ranks = np.arange(n)
    assert sorted(order.tolist()) == list(range(n))
    assert spent == pytest.approx(cost[order, ranks].sum())
    assert np.sum(gain[order] * discount) >= floor - 1e-9
    best = min(
        cost[list(p), ranks].sum() for p in permutations(range(n)) if np.sum(gain[list(p)] * discount) >= floor - 1e-9
    )
    assert bound <= best + 1e-9
    assert best - 1e-9 <= spent
    if share == 0.0:
        assert spent == pytest.approx(best)
        assert bound == pytest.approx(best)


def test_the_gap_is_small_where_rankings_are_many() -> None:
    rng = np.random.default_rng(1)
    gain, discount = rng.random(40), 1 / np.log2(np.arange(40) + 2)
    cost = np.abs(rng.normal(0, 1, 40)[:, None] - discount)
    ideal = np.argsort(-gain)
    floor = 0.97 * float(np.sum(gain[ideal] * discount))
    _, spent, bound = quality_assignment(cost, gain, discount, floor, ideal)
    assert 0 <= spent - bound <= 1e-2 * spent
