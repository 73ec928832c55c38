"""Calibration of odd data: equal labels, one value, huge and tiny numbers, wrong types."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.calibration import LEAST, Beta, Isotonic, Platt

SPECS = [Isotonic(), Isotonic("step"), Platt(), Beta()]
HUGE = np.finfo(float).max


@pytest.fixture(autouse=True)
def no_warnings():  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize(("label", "expected"), [(False, 1 / 8), (True, 7 / 8)])
def test_equal_labels_give_laplace_for_all(spec, label: bool, expected: float) -> None:  # type: ignore[no-untyped-def]
    scores = np.array([3.0, -1, 4, 1, -5, 9])
    found = spec.fit(scores, np.full(6, label))
    np.testing.assert_allclose(found.probabilities(np.array([-100.0, 0.0, 100.0])), expected, rtol=1e-9)
    assert found.counts["labels_all_equal"] == 1
    assert "scores_against_labels" not in found.counts


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_one_score(spec) -> None:  # type: ignore[no-untyped-def]
    found = spec.fit(np.full(10, 2.5), np.arange(10) < 3)
    p = found.probabilities(np.array([-1e9, 2.5, 1e9]))
    assert np.ptp(p) < 1e-12
    assert p[0] == pytest.approx(0.3 if isinstance(spec, Isotonic) else (3 * 4 / 5 + 7 / 9) / 10)
    assert found.counts["scores_all_equal"] == 1


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize(
    "scores",
    [
        [-HUGE, -1.0, 0.0, 1.0, HUGE],
        [HUGE, HUGE / 2, 0.0, -HUGE / 2, -HUGE],
        [0.0, 5e-324, 1e-323, 1.0, 2.0],
        [0.0, 5e-324, 1e-323, 2e-323, 5e-323],
        [1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9 + 3e-6, 1e9 + 4e-6],
        [1e300, 1.0, 2.0, 3.0, 4.0],
        [0.0, -0.0, 0.0, -0.0, 1.0],
    ],
)
def test_extreme_scores(spec, scores: list[float]) -> None:  # type: ignore[no-untyped-def]
    values = np.array(scores)
    for relevant in ([0, 0, 1, 0, 1], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]):
        found = spec.fit(values, np.array(relevant, dtype=bool))
        p = found.probabilities(np.sort(np.concatenate([values, [-HUGE, 0.0, HUGE, 1e-320]])))
        assert np.all((p >= LEAST) & (p <= 1 - LEAST))
        assert np.diff(p).min() >= -1e-15


def test_separation_in_tiny_and_large_units_is_the_same_curve() -> None:
    scores, relevant = np.array([1.0, 2, 3, 4, 5]), np.array([0, 0, 1, 0, 1], dtype=bool)
    plain = Platt().fit(scores, relevant).probabilities(scores)
    for unit in (1e-300, 1e-8, 1e12, 1e300):
        np.testing.assert_allclose(Platt().fit(scores * unit, relevant).probabilities(scores * unit), plain, rtol=1e-9)


def test_probabilities_of_zero_and_one() -> None:
    scores = np.array([0.0, 0.0, 0.2, 0.7, 1.0, 1.0])
    found = Beta("probability").fit(scores, np.array([0, 1, 0, 1, 1, 0], dtype=bool))
    p = found.probabilities(scores)
    assert np.all((p > 0) & (p < 1))
    with pytest.raises(InputError, match=r"probabilities from 0.5 to 1.5; expected numbers from 0 to 1"):
        found.probabilities(np.array([0.5, 1.5]))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_wrong_inputs_say_so(spec) -> None:  # type: ignore[no-untyped-def]
    yes = np.array([True, False])
    for scores, relevant, weight, message in (
        ([], np.empty(0, bool), None, "no pair to calibrate on"),
        ([1.0, 2.0], yes, np.zeros(2), "no pair to calibrate on"),
        ([1.0, np.nan], yes, None, "1 that are not finite"),
        ([1.0, np.inf], yes, None, "1 that are not finite"),
        ([1.0], yes, None, r"relevant: found shape \(2,\); expected shape \(1,\)"),
        ([1.0, 2.0], np.array([0.0, 1.0]), None, "relevant: found float64; expected bool"),
        ([1.0, 2.0], yes, np.array([1.0, -1.0]), "weights that are negative"),
        ([1.0, 2.0], yes, np.array([HUGE, HUGE]), "weights that are negative or not finite"),
        ([[1.0, 2.0]], yes, None, r"shape \(1, 2\)"),
    ):
        with np.errstate(over="ignore"), pytest.raises(InputError, match=message):
            spec.fit(np.array(scores, dtype=float), relevant, weight)
    found = spec.fit(np.array([1.0, 2.0]), yes)
    assert len(found.probabilities(np.empty(0))) == 0
    with pytest.raises(InputError, match="finite"):
        found.probabilities(np.array([np.nan]))


def test_per_query_needs_rows() -> None:
    spec = Isotonic(per_query=True)
    with pytest.raises(ConfigError, match=r"calibration.per_query: found true, without rows"):
        spec.fit(np.zeros(2), np.array([True, False]))
    found = spec.fit(np.zeros(2), np.array([True, False]), indptr=np.array([0, 0, 2]))
    with pytest.raises(ConfigError, match=r"calibration.per_query"):
        found.probabilities(np.zeros(2))
    with pytest.raises(InputError, match="indptr"):
        found.probabilities(np.zeros(2), np.array([0, 3]))
