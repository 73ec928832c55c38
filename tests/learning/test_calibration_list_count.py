"""Calibration by the expected count of a list: sums, slopes and lines against plain twins, odd lists, refusals."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.calibration import LEAST, ListCount, ListCountCalibrator, calibrator_from_plain
from rerankers.learning.calibration.anchor import anchored

HUGE = np.finfo(float).max


def world(queries: int = 400, slope: float = 1.7, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (scores, relevant, indptr) of lists whose probabilities are those of a known calibrator."""
    draw = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(draw.integers(3, 40, queries))])
    scores = draw.normal(size=indptr[-1]) + np.repeat(draw.normal(size=queries) * 5, np.diff(indptr))
    truth = ListCountCalibrator(slope, 1.0, 0.15, 30, 0.001, 0.95)
    return scores, draw.random(len(scores)) < truth.probabilities(scores, indptr), indptr


def twin(scores: np.ndarray, share: float, slope: float) -> np.ndarray:
    """Return the probabilities of one list by bisection."""
    shifted = slope * (scores - scores.max())
    low, high = logit(share) - 1.0, logit(share) - shifted.min() + 1.0
    return expit(shifted + brentq(lambda t: expit(shifted + t).sum() - share * len(scores), low, high, xtol=1e-14))


lists = st.lists(
    st.lists(st.integers(-6, 6).map(float) | st.floats(-40, 40), min_size=1, max_size=12), min_size=1, max_size=6
)


@settings(max_examples=150)
@given(lists, st.floats(0.001, 0.999), st.floats(0, 5))
def test_anchored_is_its_twin(rows: list[list[float]], share: float, slope: float) -> None:
    indptr = np.cumsum([0, *map(len, rows)])
    scores = np.concatenate(rows)
    found = anchored(scores, indptr, np.full(len(rows), share), slope)
    for (low, high), row in zip(pairwise(indptr), rows, strict=True):
        np.testing.assert_allclose(found[low:high].mean(), share, rtol=1e-10)
        np.testing.assert_allclose(found[low:high], twin(np.array(row), share, slope), rtol=1e-9, atol=1e-14)
        order = np.argsort(row, kind="stable")
        assert np.all(np.diff(found[low:high][order]) >= 0)
        alone = anchored(np.array(row), np.array([0, len(row)]), np.array([share]), slope)
        assert alone.tobytes() == found[low:high].tobytes(), "bits of a row depend on that row alone"


def test_the_line_is_least_squares_of_shares() -> None:
    scores, relevant, indptr = world()
    size = np.diff(indptr)
    rate = np.array([relevant[a:b].mean() for a, b in pairwise(indptr)])
    for cap in (20, None):
        grown = size if cap is None else np.minimum(size, cap)
        expected = np.linalg.lstsq(np.column_stack([1 / size, grown / size]), rate, rcond=None)[0]
        found = ListCount(cap=cap, slope=1.0).fit(scores, relevant, indptr=indptr)
        assert isinstance(found, ListCountCalibrator)
        np.testing.assert_allclose([found.c0, found.c1], expected, rtol=1e-9)
        assert found.slope == 1.0
        p = found.probabilities(scores, indptr)
        sums = [p[a:b].sum() for a, b in pairwise(indptr)]
        np.testing.assert_allclose(sums, expected[0] + expected[1] * grown, rtol=1e-9)


@pytest.mark.parametrize("true", [0.4, 1.0, 2.5])
def test_the_slope_is_found_again(true: float) -> None:
    scores, relevant, indptr = world(1500, true)
    found = ListCount(cap=30).fit(scores, relevant, indptr=indptr)
    assert isinstance(found, ListCountCalibrator)
    assert found.slope == pytest.approx(true, rel=0.08)
    assert found.c0 == pytest.approx(1.0, abs=0.2)
    assert found.c1 == pytest.approx(0.15, abs=0.02)
    centred = scores - np.repeat([scores[a:b].mean() for a, b in pairwise(indptr)], np.diff(indptr))
    p = found.probabilities(scores, indptr)
    assert np.sum((p - relevant) * centred) == pytest.approx(0, abs=1e-6), "the equation that defines it"
    moved = ListCount(cap=30).fit(scores * 1e-3 + 7, relevant, indptr=indptr)
    assert isinstance(moved, ListCountCalibrator)
    np.testing.assert_allclose(moved.slope, found.slope * 1e3, rtol=1e-6)


def test_shifts_of_lists_do_not_matter() -> None:
    scores, relevant, indptr = world(40)
    found = ListCount().fit(scores, relevant, indptr=indptr)
    shifted = scores + np.repeat(np.arange(40) - 20.0, np.diff(indptr))
    np.testing.assert_allclose(found.probabilities(shifted, indptr), found.probabilities(scores, indptr), rtol=1e-9)


def test_lists_of_weight_zero_take_no_part() -> None:
    scores, relevant, indptr = world(60)
    keep = np.repeat(np.arange(60) % 3 > 0, np.diff(indptr))
    inner = np.cumsum([0, *(size for row, size in enumerate(np.diff(indptr)) if row % 3 > 0)])
    found = ListCount().fit(scores, relevant ^ ~keep, keep.astype(float), indptr=indptr)
    alone = ListCount().fit(scores[keep], relevant[keep], indptr=inner)
    assert found.counts["pairs_of_weight_zero"] == int(np.sum(~keep))
    assert found.counts["lists"] == alone.counts["lists"] == 40
    np.testing.assert_allclose(found.probabilities(scores, indptr), alone.probabilities(scores, indptr), rtol=1e-7)


def test_no_order_of_lists_or_pairs_matters() -> None:
    scores, relevant, indptr = world(30)
    rows = [np.arange(a, b) for a, b in pairwise(indptr)]
    draw = np.random.default_rng(3)
    rows = [draw.permutation(rows[at]) for at in draw.permutation(30)]
    place = np.concatenate(rows)
    bounds = np.cumsum([0, *map(len, rows)])
    first = ListCount().fit(scores, relevant, indptr=indptr)
    mixed = ListCount().fit(scores[place], relevant[place], indptr=bounds)
    assert isinstance(first, ListCountCalibrator)
    assert isinstance(mixed, ListCountCalibrator)
    assert (first.c0, first.c1) == (mixed.c0, mixed.c1)
    np.testing.assert_allclose(mixed.slope, first.slope, rtol=1e-9)


@pytest.mark.parametrize(("label", "share"), [(False, 0.001), (True, 0.95)])
def test_equal_labels_end_at_the_bounds(label: bool, share: float) -> None:
    scores, _, indptr = world(20)
    found = ListCount().fit(scores, np.full(len(scores), label), indptr=indptr)
    p = found.probabilities(scores, indptr)
    np.testing.assert_allclose([p[a:b].mean() for a, b in pairwise(indptr)], share, rtol=1e-9)
    assert found.counts["labels_all_equal"] == 1
    assert found.counts["lists_at_a_bound"] == 20


def test_short_and_empty_lists() -> None:
    indptr = np.array([0, 0, 1, 1, 2, 5, 5])
    scores = np.array([3.0, -700.0, 1.0, 1.0, 2.0])
    relevant = np.array([True, False, False, True, True])
    for spec in (ListCount(), ListCount(slope=1.0), ListCount(cap=1), ListCount(cap=None)):
        found = spec.fit(scores, relevant, indptr=indptr)
        p = found.probabilities(scores, indptr)
        assert p[0] == p[1], "lists of one document differ in nothing"
        assert p[2] == p[3] <= p[4]
        assert found.probabilities(np.empty(0), np.array([0, 0])).shape == (0,)
        assert found.counts["lists"] == 3
    one = ListCount().fit(np.array([1.0, 2.0]), np.array([True, False]), indptr=np.array([0, 1, 2]))
    np.testing.assert_allclose(one.probabilities(np.array([9.0]), np.array([0, 1])), 0.5)
    assert one.counts["scores_equal_within_lists"] == 1


def test_scores_that_say_nothing_or_all() -> None:
    _, relevant, indptr = world(50)
    equal = ListCount().fit(np.repeat(np.arange(50.0), np.diff(indptr)), relevant, indptr=indptr)
    assert equal.counts["scores_equal_within_lists"] == 1
    against = ListCount().fit(-1.0 * relevant, relevant, indptr=indptr)
    assert against.counts["scores_against_labels"] == 1
    assert isinstance(against, ListCountCalibrator)
    assert against.slope == 0.0
    p = against.probabilities(-1.0 * relevant, indptr)
    assert max(np.ptp(p[a:b]) for a, b in pairwise(indptr)) < 1e-12
    all_of_it = ListCount(cap=None).fit(np.tile([0.0, 1.0], 9), np.tile([False, True], 9), indptr=np.arange(10) * 2)
    assert all_of_it.counts["slope_at_its_bound"] == 1
    p = all_of_it.probabilities(np.array([0.0, 1.0]), np.array([0, 2]))
    assert LEAST <= p[0] < 1e-6
    assert 1 - 1e-6 < p[1] <= 1 - LEAST


@pytest.mark.parametrize(
    "scores",
    [
        [-HUGE, -1.0, 0.0, 1.0, HUGE],
        [HUGE, HUGE / 2, 0.0, -HUGE / 2, -HUGE],
        [0.0, 5e-324, 1e-323, 1.0, 2.0],
        [0.0, 5e-324, 1e-323, 2e-323, 5e-323],
        [1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9 + 3e-6, 1e9 + 4e-6],
        [0.0, -0.0, 0.0, -0.0, 1.0],
    ],
)
def test_extreme_scores(scores: list[float]) -> None:
    values, indptr = np.array(scores * 2), np.array([0, 5, 10])
    for labels in ([0, 0, 1, 0, 1], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]):
        for spec in (ListCount(), ListCount(slope=1.0), ListCount(slope=0.0)):
            p = spec.fit(values, np.array(labels * 2, dtype=bool), indptr=indptr).probabilities(values, indptr)
            assert np.all((p >= LEAST) & (p <= 1 - LEAST))
            assert p[:5].tobytes() == p[5:].tobytes()
            assert np.all(np.diff(p[:5][np.argsort(scores, kind="stable")]) >= 0)
            np.testing.assert_allclose(p[:5].mean(), np.mean(labels), rtol=1e-6)


def test_written_and_read_back() -> None:
    scores, relevant, indptr = world(30)
    for cap in (20, None):
        found = ListCount(cap=cap).fit(scores, relevant, indptr=indptr)
        again = calibrator_from_plain(json.loads(json.dumps(found.to_plain())))
        assert isinstance(again, ListCountCalibrator)
        assert again.probabilities(scores, indptr).tobytes() == found.probabilities(scores, indptr).tobytes()
        assert again.counts == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slope": -1.0}, "does not fall"),
        ({"cap": 0}, "cap 0; expected a whole number"),
        ({"cap": 2.5}, "cap 2.5"),
        ({"cap": True}, "cap True"),
        ({"lowest": 0.0}, "0 < lowest"),
        ({"highest": 1.0}, "0 < lowest"),
        ({"lowest": 0.5, "highest": 0.4}, "0 < lowest"),
        ({"c1": float("nan")}, "c1 nan"),
        ({"more": 1}, "keys"),
    ],
)
def test_plain_forms_that_nobody_wrote(change: dict[str, Any], message: str) -> None:
    good = ListCountCalibrator(1.0, 1.0, 0.1, 60, 0.02, 0.6).to_plain()
    assert isinstance(calibrator_from_plain(good), ListCountCalibrator)
    with pytest.raises(InputError, match=message):
        calibrator_from_plain({**good, **change})


def test_refusals() -> None:
    scores, relevant, indptr = world(5)
    with pytest.raises(ConfigError, match=r"calibration=list_count: found no rows"):
        ListCount().fit(scores, relevant)
    found = ListCount().fit(scores, relevant, indptr=indptr)
    with pytest.raises(ConfigError, match="found no rows"):
        found.probabilities(scores)
    for wrong in (indptr[:-1], indptr + 1, indptr[::-1]):
        with pytest.raises(InputError, match="indptr"):
            found.probabilities(scores, wrong)
    with pytest.raises(InputError, match="no pair to calibrate on"):
        ListCount().fit(scores, relevant, np.zeros(len(scores)), indptr=indptr)
    with pytest.raises(InputError, match="bool"):
        ListCount().fit(scores, relevant.astype(int), indptr=indptr)
    with pytest.raises(InputError, match="finite"):
        found.probabilities(np.full(len(scores), np.nan), indptr)
    for options, message in (
        ({"cap": 0}, r"calibration\.cap"),
        ({"slope": -0.1}, r"calibration\.slope"),
        ({"slope": float("inf")}, r"calibration\.slope"),
        ({"lowest": 0.0}, "0 < lowest"),
        ({"lowest": 0.7, "highest": 0.6}, "0 < lowest"),
        ({"highest": 1.0}, "0 < lowest"),
    ):
        with pytest.raises(ConfigError, match=message):
            ListCount(**options)
