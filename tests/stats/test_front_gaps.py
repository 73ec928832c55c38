"""Distances from a front against areas and losses read one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.stats.front_gaps import SPAN, FrontGap, front_gaps, mean_loss
from rerankers.stats.trade_off import Curve, area_between, envelope, loss_at_utility

POINTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=7)


def world(queries: int = 50) -> tuple[dict[str, Curve], dict[str, Curve], np.ndarray]:
    draw = np.random.default_rng(0)
    reference = draw.gamma(2.0, size=queries)
    steps = np.linspace(0.3, 1.0, 8)[:, None]
    noise = draw.normal(0, 0.05, queries)
    front = Curve(steps * reference, steps**2 + noise)
    curves = {
        "temperature": Curve(steps * reference, steps**2 + 0.2 + noise),
        "half": Curve(steps * reference, steps**2 + 0.1 + noise),
        "short": Curve(0.85 * steps * reference, steps**2 + 0.1 + noise),
    }
    return curves, {"front": front}, reference


def of(rows: list[FrontGap], curve: str, share: float | None) -> FrontGap:
    return next(row for row in rows if (row.curve, row.share) == (curve, share))


@given(POINTS, st.integers(0, 31), st.integers(1, 32))
def test_the_mean_is_exact(points: list[tuple[int, int]], start: int, length: int) -> None:
    x, y = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    low, high = start / 4, (start + length) / 4
    found = mean_loss(*envelope(x, y), low, high)
    if high > x.max():
        assert np.isnan(found)
        return
    # corners of an envelope are points, so that cutting there makes the midpoint rule exact
    grid = np.unique(np.concatenate([np.linspace(low, high, 9), x[(x > low) & (x < high)]]))
    middle = loss_at_utility(x, y, (grid[1:] + grid[:-1]) / 2)
    assert found == pytest.approx(float(np.sum(middle * np.diff(grid))) / (high - low), abs=1e-9)


def test_gaps_are_differences_of_losses_and_areas() -> None:
    curves, fronts, reference = world()
    rows = front_gaps(curves, fronts, reference, resamples=200)
    level = reference.mean()
    for name in ("temperature", "half"):
        x, y = curves[name].utility.mean(axis=1), curves[name].loss.mean(axis=1)
        u, v = fronts["front"].utility.mean(axis=1), fronts["front"].loss.mean(axis=1)
        area = area_between(x, y, u, v, SPAN[0] * level, SPAN[1] * level)
        assert of(rows, name, None).gap == pytest.approx(area)
        for share in (0.8, 0.9, 0.95):
            expected = loss_at_utility(x, y, share * level) - loss_at_utility(u, v, share * level)
            assert of(rows, name, share).gap == pytest.approx(expected[0])
    half = of(rows, "half", None)
    assert half.closed == pytest.approx(0.5)
    assert half.closed_low == pytest.approx(0.5)  # in every resample: the gain is the same for all queries
    assert half.low == pytest.approx(0.1)
    first = of(rows, "temperature", 0.9)
    assert (first.closed, first.closed_low) == (None, None)
    assert first.gap == pytest.approx(0.2)


def test_what_is_not_reached_is_none() -> None:
    curves, fronts, reference = world()
    rows = front_gaps(curves, fronts, reference, resamples=50)
    assert of(rows, "short", 0.8).gap is not None
    for share in (0.9, None):
        row = of(rows, "short", share)
        assert (row.gap, row.low, row.closed, row.reached) == (None, None, None, 0.0)


def test_a_first_curve_on_the_front_leaves_nothing_to_close() -> None:
    curves, fronts, reference = world()
    rows = front_gaps({"front itself": fronts["front"], **curves}, fronts, reference, resamples=50)
    assert of(rows, "front itself", 0.9).gap == pytest.approx(0.0, abs=1e-12)
    assert of(rows, "half", 0.9).closed is None


def test_what_is_refused() -> None:
    curves, fronts, reference = world()
    with pytest.raises(InputError, match="50 queries; expected 49"):
        front_gaps(curves, fronts, reference[:-1])
    with pytest.raises(InputError, match="span"):
        front_gaps(curves, fronts, reference, span=(0.9, 0.9))
    assert front_gaps(curves, {}, reference) == []
    nothing = front_gaps(curves, fronts, np.zeros(50), resamples=20)
    assert of(nothing, "half", None).gap is None  # no utility, no range
