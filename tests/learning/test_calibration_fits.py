"""Calibrations against plain twins: the min-max formula of isotonic regression, scipy's optimisers for the others."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from rerankers.learning.calibration import (
    LEAST,
    Beta,
    BetaCalibrator,
    Isotonic,
    NoCalibration,
    PerQuery,
    Platt,
    PlattCalibrator,
    calibrator_from_plain,
)

SPECS = [Isotonic(), Isotonic("step"), Platt(), Beta()]
RNG = np.random.default_rng(5)


def minmax(value: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the isotonic regression by its formula: max over starts of min over ends of the mean."""
    n = len(value)
    mean = lambda j, k: np.sum((value * total)[j : k + 1]) / np.sum(total[j : k + 1])  # noqa: E731
    return np.array([max(min(mean(j, k) for k in range(i, n)) for j in range(i + 1)) for i in range(n)])


def isotonic_twin(scores: np.ndarray, relevant: np.ndarray, weight: np.ndarray) -> dict[float, float]:
    """Return score -> probability, with Laplace's rule at ends of 0 and 1."""
    points = sorted(set(scores.tolist()))
    total = np.array([weight[scores == point].sum() for point in points])
    positive = np.array([(weight * relevant)[scores == point].sum() for point in points])
    plain = minmax(positive / total, total)
    cuts = [0, *(i for i in range(1, len(plain)) if plain[i] > plain[i - 1] + 1e-12), len(plain)]
    blocks = list(itertools.pairwise(cuts))
    k = np.array([positive[a:b].sum() for a, b in blocks])
    m = np.array([total[a:b].sum() for a, b in blocks])
    for end in {0, len(blocks) - 1}:
        if np.isclose(k[end], 0) or np.isclose(k[end], m[end]):
            k[end], m[end] = k[end] + 1, m[end] + 2
    smooth = minmax(k / m, m)
    return {points[i]: smooth[number] for number, (a, b) in enumerate(blocks) for i in range(a, b)}


pairs = st.lists(
    st.tuples(st.integers(-4, 4), st.booleans(), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=25
)


@settings(max_examples=100)
@given(pairs)
def test_isotonic_is_the_formula(data: list[tuple[int, bool, float]]) -> None:
    scores, relevant, weight = (np.array(column) for column in zip(*data, strict=True))
    scores = scores.astype(float)
    expected = isotonic_twin(scores, relevant, weight)
    for kind in ("linear", "step"):
        found = Isotonic(kind).fit(scores, relevant, weight).probabilities(scores)
        np.testing.assert_allclose(found, [expected[score] for score in scores], rtol=1e-12)


def test_isotonic_by_hand() -> None:
    scores = np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
    relevant = np.array([0, 0, 1, 0, 1, 1, 0, 1], dtype=bool)
    # Plain blocks: {0,1} 0, {2,3} 1/2, {4,5,6} 2/3, {7} 1. Ends by Laplace: (0+1)/(2+2), (1+1)/(1+2).
    linear = Isotonic().fit(scores, relevant)
    np.testing.assert_allclose(
        linear.probabilities(scores), [1 / 4, 1 / 4, 1 / 2, 1 / 2, 2 / 3, 2 / 3, 2 / 3, 2 / 3], rtol=1e-15
    )
    np.testing.assert_allclose(
        linear.probabilities(np.array([-9, 1.5, 2.5, 3.25, 99])), [1 / 4, 3 / 8, 1 / 2, 1 / 2 + 1 / 24, 2 / 3]
    )
    step = Isotonic("step").fit(scores, relevant)
    np.testing.assert_allclose(step.probabilities(np.array([1.49, 1.5, 3.49, 3.5])), [1 / 4, 1 / 2, 1 / 2, 2 / 3])
    assert linear.counts == {"pairs": 8, "relevant_pairs": 4, "blocks": 3}


def data_of(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = np.round(RNG.normal(size=120) * 2, 1)
    chance = {
        "along": expit(1.5 * scores - 1),
        "against": expit(-scores),
        "bent": expit(np.where(scores > 0, scores, 0)),
    }
    relevant = RNG.random(120) < chance.get(kind, 0.0)
    if kind == "separated":
        relevant = scores > 0.5
    return scores, relevant, RNG.choice([0.0, 0.5, 1.0, 3.0], size=120)


def smoothed(relevant: np.ndarray, weight: np.ndarray) -> np.ndarray:
    yes, no = weight[relevant].sum(), weight[~relevant].sum()
    return np.where(relevant, (yes + 1) / (yes + 2), 1 / (no + 2))


def log_loss(z: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    return float(np.sum(weight * (np.logaddexp(0, z) - target * z)))


@pytest.mark.parametrize("kind", ["along", "against", "bent", "separated", "nothing"])
def test_platt_is_the_optimum(kind: str) -> None:
    scores, relevant, weight = data_of(kind)
    target = smoothed(relevant, weight)
    best = minimize(
        lambda at: log_loss(at[0] * scores + at[1], target, weight),
        [0.1, 0.0],
        bounds=[(0, None), (None, None)],
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    found = Platt().fit(scores, relevant, weight)
    assert isinstance(found, PlattCalibrator)
    z = found.slope * (scores - found.location) / found.scale + found.intercept
    assert log_loss(z, target, weight) <= best.fun * (1 + 1e-12)
    np.testing.assert_allclose(found.probabilities(scores), expit(best.x[0] * scores + best.x[1]), atol=2e-5)
    assert ("scores_against_labels" in found.counts) == (kind == "against")
    gradient = np.sum(weight * (expit(z) - target))
    assert abs(gradient) < 1e-9 * weight.sum()


@pytest.mark.parametrize("kind", ["along", "against", "bent", "separated", "nothing"])
@pytest.mark.parametrize("inputs", ["log_odds", "probability"])
def test_beta_is_the_optimum(kind: str, inputs: str) -> None:
    scores, relevant, weight = data_of(kind)
    target = smoothed(relevant, weight)
    share = expit(scores)
    best = min(
        (
            minimize(
                lambda at: log_loss(at[0] * np.log(share) - at[1] * np.log1p(-share) + at[2], target, weight),
                start,
                bounds=[(0, None), (0, None), (None, None)],
                options={"ftol": 1e-15, "gtol": 1e-10},
            )
            for start in ([0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
        ),
        key=lambda result: result.fun,
    )
    found = Beta(inputs).fit(scores if inputs == "log_odds" else share, relevant, weight)
    assert isinstance(found, BetaCalibrator)
    assert found.a >= 0
    assert found.b >= 0
    z = found.a * np.log(share) - found.b * np.log1p(-share) + found.c
    assert log_loss(z, target, weight) <= best.fun * (1 + 1e-12)
    np.testing.assert_allclose(found.probabilities(scores if inputs == "log_odds" else share), expit(z), rtol=1e-9)
    if kind == "bent":
        assert found.b > 5 * found.a  # the left half is flat: the term that acts there is the first


def test_beta_finds_the_identity_and_platt_the_logistic_function() -> None:
    z = np.repeat(np.linspace(-4, 4, 41), 2)
    relevant = np.tile([True, False], 41)
    weight = 1e9 * np.where(relevant, expit(z), expit(-z))
    beta = Beta().fit(z, relevant, weight)
    np.testing.assert_allclose([beta.a, beta.b, beta.c], [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(Platt().fit(z, relevant, weight).probabilities(z), expit(z), atol=1e-7)


@settings(max_examples=40)
@given(
    st.sampled_from([*SPECS, Isotonic(per_query=True)]),
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans(), st.floats(0, 3)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_monotone_inside_and_whatever_the_order(spec, data, shuffle) -> None:  # type: ignore[no-untyped-def]
    scores, relevant, weight = (np.array(column) for column in zip(*data, strict=True))
    if not (weight > 0).any():
        weight = np.ones(len(weight))
    order = list(range(len(scores)))
    shuffle.shuffle(order)
    rows = np.array([0, len(scores)])
    grid = np.sort(np.concatenate([scores, np.linspace(-2e3, 2e3, 300), np.nextafter(scores, np.inf)]))
    rows_of_grid = np.array([0, len(grid)])
    found = spec.fit(scores, relevant, weight, indptr=rows)
    values = found.probabilities(grid, rows_of_grid)
    assert np.all((values >= LEAST) & (values <= 1 - LEAST))
    assert np.diff(values).min() >= -1e-15
    if not getattr(spec, "per_query", False):
        again = spec.fit(scores[order], relevant[order], weight[order])
        assert again.to_plain() == found.to_plain()


@pytest.mark.parametrize("spec", [*SPECS, Platt(per_query=True), Beta("probability")], ids=str)
def test_plain_form_gives_the_same_bits(spec) -> None:  # type: ignore[no-untyped-def]
    scores, relevant, _ = data_of("along")
    if "probability" in str(spec):
        scores = expit(scores)
    rows = np.array([0, 50, 120])
    found = spec.fit(scores, relevant, indptr=rows)
    plain = json.loads(json.dumps(found.to_plain()))
    again = calibrator_from_plain(plain)
    np.testing.assert_array_equal(again.probabilities(scores, rows), found.probabilities(scores, rows))
    assert again.counts == {}


def test_calibration_brings_log_loss_down() -> None:
    scores = RNG.normal(size=4000)
    chance = expit(3 * scores - 2)
    relevant = RNG.random(4000) < chance
    fresh = RNG.random(4000) < chance
    loss = lambda p: -np.mean(np.where(fresh, np.log(p), np.log1p(-p)))  # noqa: E731
    for spec in SPECS:
        p = spec.fit(scores, relevant).probabilities(scores)
        assert loss(p) < loss(expit(scores)) - 0.05
        assert loss(p) < loss(chance) + 0.02


def test_per_query_standardises_all_candidates_but_learns_from_the_judged() -> None:
    scores = np.array([1.0, 2.0, 3.0, 101.0, 102.0, 103.0])
    rows, relevant = np.array([0, 3, 6]), np.array([0, 0, 1, 0, 1, 1], dtype=bool)
    found = Isotonic(per_query=True).fit(scores, relevant, np.array([1, 1, 1, 1, 0, 1.0]), indptr=rows)
    assert isinstance(found, PerQuery)
    assert found.counts["pairs_of_weight_zero"] == 1
    np.testing.assert_allclose(found.probabilities(scores, rows), np.tile([0.2, 0.2, 0.75], 2))
    one = found.probabilities(scores[:3], np.array([0, 3]))
    np.testing.assert_array_equal(one, found.probabilities(scores, rows)[:3])


def test_none_is_none() -> None:
    assert NoCalibration().fit(np.zeros(2), np.array([True, False])) is None
