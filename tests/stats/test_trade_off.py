"""Loss at matched utility against brute force, and its intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.stats.trade_off import Curve, area_between, loss_at_utility, matched_losses

POINTS = st.lists(st.tuples(st.integers(0, 8).map(float), st.integers(0, 8).map(float)), min_size=1, max_size=7)


def brute(points: list[tuple[float, float]], at: float) -> float:
    """The least loss of mixtures of two points (which is enough in the plane) with utility of at least ``at``."""
    best = np.inf
    for x, y in points:
        for u, v in points:
            for share in {0.0, 1.0, *([(at - u) / (x - u)] if x != u else [])}:
                if 0 <= share <= 1 and share * x + (1 - share) * u >= at - 1e-12:
                    best = min(best, share * y + (1 - share) * v)
    return best


@given(points=POINTS, at=st.integers(-4, 36).map(lambda value: value / 4))
def test_least_loss_of_mixtures(points: list[tuple[float, float]], at: float) -> None:
    x, y = zip(*points, strict=True)
    (found,) = loss_at_utility(x, y, at)
    expected = brute(points, at)
    assert np.isnan(found) if np.isinf(expected) else found == pytest.approx(expected, abs=1e-9)


def world(seed: int, queries: int = 60) -> tuple[dict[str, Curve], np.ndarray]:
    draw = np.random.default_rng(seed)
    reference = draw.gamma(2.0, size=queries)
    steps = np.linspace(0.5, 1.0, 6)[:, None]
    utility = steps * reference
    noise = draw.normal(0, 0.05, queries)
    worse = Curve(utility, steps**2 + 0.1 + noise)
    better = Curve(utility, steps**2 + noise)
    return {"worse": worse, "better": better}, reference


def test_a_uniform_gain_is_found() -> None:
    curves, reference = world(0)
    rows = {(row.curve, row.share): row for row in matched_losses(curves, reference, resamples=300)}
    for share in (0.8, 0.9, 0.95):
        row = rows["better", share]
        assert row.utility == pytest.approx(share * reference.mean())
        assert row.difference == pytest.approx(-0.1)
        assert row.difference_low == pytest.approx(-0.1)  # it is the same in every query
        assert row.low is not None
        assert row.high is not None
        assert row.loss is not None
        assert row.low < row.loss < row.high
        assert row.reached == 1.0
        assert rows["worse", share].difference == 0.0


def test_what_is_not_reached_is_none() -> None:
    curves, reference = world(1)
    short = Curve(curves["worse"].utility * 0.5, curves["worse"].loss)
    rows = matched_losses({"short": short}, reference, [0.9], resamples=50)
    assert (rows[0].loss, rows[0].low, rows[0].difference, rows[0].reached) == (None, None, None, 0.0)


def test_order_of_families_of_a_pair_is_a_sign() -> None:
    curves, reference = world(2)
    one = matched_losses(curves, reference, [0.9], resamples=100)
    two = matched_losses(dict(reversed(curves.items())), reference, [0.9], resamples=100)
    assert one[1].difference == pytest.approx(-two[1].difference)  # type: ignore[operator]


def test_what_is_refused() -> None:
    curves, reference = world(3)
    with pytest.raises(InputError, match="60 queries; expected 59"):
        matched_losses(curves, reference[:-1])
    with pytest.raises(InputError, match="one shape"):
        Curve(np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(InputError, match="not finite"):
        Curve(np.full((1, 2), np.nan), np.zeros((1, 2)))


def test_reading_a_curve() -> None:
    utility, loss = [1.0, 3.0, 2.0], [0.5, 2.0, 1.0]
    assert loss_at_utility(utility, loss, [1.0, 1.5, 2.0, 2.5, 3.0]).tolist() == [0.5, 0.75, 1.0, 1.5, 2.0]
    assert loss_at_utility(utility, loss, 0.0).tolist() == [0.5], "less utility is never dearer"
    assert loss_at_utility([1.0, 2.0, 3.0], [4.0, 1.0, 2.0], [1.0, 1.5, 2.5]).tolist() == [1.0, 1.0, 1.5]
    assert loss_at_utility([1.0, 1.0], [4.0, 3.0], 1.0).tolist() == [3.0]
    assert np.isnan(loss_at_utility(utility, loss, 3.1)).tolist() == [True]
    with pytest.raises(InputError, match="shapes"):
        loss_at_utility([1.0], [1.0, 2.0], 1.0)
    with pytest.raises(InputError, match="finite"):
        loss_at_utility([1.0, np.nan], [1.0, 2.0], 1.0)


def test_area_between_curves() -> None:
    # 1 + (u - 1) above (u - 1) / 2 on [1, 3]: the mean of 1 + (u - 1) / 2 is 1.5
    found = area_between([1.0, 3.0], [1.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.5, 1.0], 1.0, 3.0)
    assert found == pytest.approx(1.5)
    assert area_between([1.0, 3.0], [1.0, 3.0], [0.5, 3.5], [0.5, 3.5], 1.2, 2.9) == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="range"):
        area_between([1.0], [1.0], [1.0], [1.0], 1.0, 1.0)
    with pytest.raises(InfeasibleError):
        area_between([1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [0.0, 1.0], 1.0, 3.0)
