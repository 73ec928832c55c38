"""Very many queries are resampled in batches: nearly the same intervals, the same means and counts."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers.stats import batches
from rerankers.stats.batches import batch_of, in_batches
from rerankers.stats.clusters import ratio_intervals
from rerankers.stats.paired import paired_intervals


def test_few_are_left_alone() -> None:
    cells = np.ones((batches.MOST_UNITS, 2))
    assert batch_of(batches.MOST_UNITS) is None
    assert in_batches(cells) is cells


def test_batches_hold_every_unit_once() -> None:
    units = 3 * batches.BATCHES + 7
    cells = np.arange(2.0 * units).reshape(units, 2)
    found = in_batches(cells)
    assert found.shape == (batches.BATCHES, 2)
    assert found.sum(axis=0).tolist() == cells.sum(axis=0).tolist()
    of = batch_of(units)
    assert of is not None
    assert found[5].tolist() == cells[of == 5].sum(axis=0).tolist()


@pytest.mark.parametrize("method", ["studentized", "bca", "percentile"])
def test_intervals_are_those_of_queries(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).gamma(0.5, size=(2_000, 2))
    values[::7, 1] = np.nan
    alone = paired_intervals(values, method=method, resamples=500)
    monkeypatch.setattr(batches, "MOST_UNITS", 1_000)
    monkeypatch.setattr(batches, "BATCHES", 500)
    dealt = paired_intervals(values, method=method, resamples=500)
    for one, other in zip(alone, dealt, strict=True):
        assert one.low is not None
        assert one.high is not None
        assert other.mean == pytest.approx(one.mean, rel=1e-12)
        assert other.units == one.units
        width = one.high - one.low
        assert [other.low, other.high] == pytest.approx([one.low, one.high], abs=0.15 * width)


def test_ratios_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.random.default_rng(4).gamma(2.0, size=(2_000, 2))

    def ratio(sums: np.ndarray) -> np.ndarray:
        return sums[:, :1] / sums[:, 1:]

    alone = ratio_intervals(cells, ratio, resamples=500)[0]
    monkeypatch.setattr(batches, "MOST_UNITS", 1_000)
    monkeypatch.setattr(batches, "BATCHES", 500)
    dealt = ratio_intervals(cells, ratio, resamples=500)[0]
    assert dealt.mean == alone.mean
    assert dealt.units == alone.units
    assert alone.low is not None
    assert alone.high is not None
    assert [dealt.low, dealt.high] == pytest.approx([alone.low, alone.high], abs=0.15 * (alone.high - alone.low))
