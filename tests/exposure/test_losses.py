"""Objectives: values by plain formulas, gradients and second derivatives by differences, smoothing errors."""

from __future__ import annotations

from itertools import permutations
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.objective import curvature_of, matrix_of, scale_of
from rerankers.exposure.optimal.sums import Linear, Weighted
from rerankers.exposure.optimal.welfare import GeneralisedGini, NashWelfare

RNG = np.random.default_rng(12)
N = 6
MATRIX = np.array([[1, 0, 0.5, 0, 0, 1], [0, 1, 0.5, 0, 1, 0], [0, 0, 0, 1, 0, 0.0]])
SHARES = np.array([0.2, 0.5, 0.3])
OBJECTIVES = {
    "documents": SquaredLoss(RNG.random(N)),
    "groups": SquaredLoss(RNG.random(3), MATRIX),
    "shares": GroupKL(MATRIX, SHARES),
    "shares without the third": GroupKL(MATRIX, np.array([0.4, 0.6, 0.0])),
    "amounts": GroupKL(MATRIX, SHARES, total=3.5),
    "nash": NashWelfare(RNG.random(N)),
    "nash of groups": NashWelfare(np.array([1.0, 0.0, 2.0]), MATRIX, floor=0.1),
    "gini": GeneralisedGini(np.array([3.0, 2, 1, 0.5, 0.5, 0]), smoothing=0.2),
    "gini of groups": GeneralisedGini(np.array([3.0, 2, 1]), MATRIX, smoothing=0.05),
    "linear": Linear(RNG.normal(size=N)),
    "sum": Weighted((SquaredLoss(RNG.random(3), MATRIX), 2.0), (Linear(RNG.normal(size=N)), 0.3)),
}
POINTS = st.lists(st.floats(0.05, 2), min_size=N, max_size=N).map(np.array)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_and_curvature_by_differences(name: str) -> None:
    objective, step = OBJECTIVES[name], 1e-6
    curvature = curvature_of(objective)
    assert curvature is not None
    for _ in range(5):
        exposure = RNG.uniform(0.2, 1.5, N)
        value, gradient = objective(exposure)
        sides = [(objective(exposure + step * unit), objective(exposure - step * unit)) for unit in np.eye(N)]
        slopes = [(up[0] - down[0]) / (2 * step) for up, down in sides]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-7)
        bends = np.array([(np.asarray(up[1]) - np.asarray(down[1])) / (2 * step) for up, down in sides])
        np.testing.assert_allclose(curvature(exposure, np.eye(N)), bends, rtol=1e-5, atol=1e-5)
        assert np.isfinite(value)


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if not name.startswith("shares")])
@settings(max_examples=40)
@given(POINTS, POINTS)
def test_tangents_lie_below(name: str, here: np.ndarray, there: np.ndarray) -> None:
    value, gradient = OBJECTIVES[name](here)
    assert OBJECTIVES[name](there)[0] >= value + np.dot(gradient, there - here) - 1e-9


@settings(max_examples=40)
@given(POINTS, POINTS)
def test_shares_are_convex_where_the_total_is_the_same(here: np.ndarray, there: np.ndarray) -> None:
    objective = OBJECTIVES["shares"]
    scale = scale_of(objective)
    one, other = here / (scale @ here), there / (scale @ there)
    value, gradient = objective(one)
    assert objective(other)[0] >= value + gradient @ (other - one) - 1e-9
    assert objective(7.0 * one)[0] == pytest.approx(value, abs=1e-12)
    assert gradient @ one == pytest.approx(0, abs=1e-12)


def test_plain_formulas() -> None:
    exposure = RNG.random(N)
    amount = [sum(row[d] * exposure[d] for d in range(N)) for row in MATRIX]
    target = OBJECTIVES["groups"].target
    assert OBJECTIVES["groups"](exposure)[0] == pytest.approx(
        sum((a - t) ** 2 for a, t in zip(amount, target, strict=True))
    )
    share = [a / sum(amount) for a in amount]
    divergence = sum(t * log(t / q) for t, q in zip(SHARES, share, strict=True))
    assert OBJECTIVES["shares"](exposure)[0] == pytest.approx(divergence, rel=1e-12)
    of_total = sum(t * log(t * 3.5 / a) - t + a / 3.5 for t, a in zip(SHARES, amount, strict=True))
    assert OBJECTIVES["amounts"](exposure)[0] == pytest.approx(of_total, rel=1e-12)
    partial = 0.4 * log(0.4 / share[0]) + 0.6 * log(0.6 / share[1])
    assert OBJECTIVES["shares without the third"](exposure)[0] == pytest.approx(partial, rel=1e-12)
    nash = -sum(w * log(x) for w, x in zip(OBJECTIVES["nash"].weights, exposure, strict=True))
    assert OBJECTIVES["nash"](exposure)[0] == pytest.approx(nash, rel=1e-12)
    nash = -log(amount[0] + 0.1) - 2 * log(amount[2] + 0.1)
    assert OBJECTIVES["nash of groups"](exposure)[0] == pytest.approx(nash, rel=1e-12)
    parts = OBJECTIVES["sum"].parts
    assert OBJECTIVES["sum"](exposure)[0] == pytest.approx(
        2 * parts[0][0](exposure)[0] + 0.3 * parts[1][0](exposure)[0]
    )


def test_shares_and_amounts_agree_at_the_same_total() -> None:
    exposure = RNG.random(N)
    total = (MATRIX @ exposure).sum()
    shares, amounts = GroupKL(MATRIX, SHARES), GroupKL(MATRIX, SHARES, total)
    assert shares(exposure)[0] == pytest.approx(amounts(exposure)[0], rel=1e-12)
    assert shares(exposure)[0] > 0


@given(POINTS, st.floats(1e-4, 1.0))
def test_smoothed_gini_lies_below_by_its_error_at_most(exposure: np.ndarray, smoothing: float) -> None:
    weights = np.array([3.0, 2, 1, 0.5, 0.5, 0])
    objective = GeneralisedGini(weights, smoothing=smoothing)
    exact = max(-(np.array(order) @ exposure) for order in set(permutations(weights.tolist())))
    assert objective.welfare(exposure) == pytest.approx(-exact)
    assert objective.error == pytest.approx(smoothing / 2 * np.sum(weights**2))
    assert -1e-12 <= exact - objective(exposure)[0] <= objective.error + 1e-12


def test_the_envelope_is_the_minimum_it_is_defined_by() -> None:
    weights, smoothing, exposure = np.array([2.0, 1.0]), 0.3, np.array([0.7, 0.5])
    grid = np.linspace(-1, 3, 801)
    a, b = np.meshgrid(grid, grid)
    unsmoothed = -(weights[0] * np.minimum(a, b) + weights[1] * np.maximum(a, b))
    envelope = np.min(unsmoothed + ((a - exposure[0]) ** 2 + (b - exposure[1]) ** 2) / (2 * smoothing))
    assert GeneralisedGini(weights, smoothing=smoothing)(exposure)[0] == pytest.approx(envelope, abs=1e-3)


def test_nothing_where_something_is_due_is_infinitely_bad() -> None:
    unseen = np.array([1.0, 1, 1, 0, 1, 1])
    for objective in (
        OBJECTIVES["shares"],
        OBJECTIVES["amounts"],
        NashWelfare(np.ones(N)),
        NashWelfare(np.ones(3), MATRIX),
    ):
        value, gradient = objective(unseen)
        assert value == inf
        assert gradient.tolist() == [0] * N
    assert np.isfinite(OBJECTIVES["shares without the third"](unseen)[0])
    assert np.isfinite(NashWelfare(np.array([1.0, 1, 1, 0, 1, 1]))(unseen)[0])
    assert np.isfinite(OBJECTIVES["nash of groups"](unseen)[0])


def test_what_sums_see() -> None:
    groups, line = OBJECTIVES["groups"], Linear(np.arange(N))
    both = Weighted((groups, 1.0), (line, 0.5), (OBJECTIVES["documents"], 0.0))
    np.testing.assert_array_equal(matrix_of(both), np.vstack([MATRIX, np.arange(N)]))
    assert matrix_of(Weighted((groups, 1.0), (OBJECTIVES["documents"], 1.0))) is None
    assert curvature_of(Weighted((groups, 1.0), (lambda e: (0.0, 0 * e), 1.0))) is None
    shares = OBJECTIVES["shares"]
    np.testing.assert_array_equal(
        scale_of(Weighted((shares, 1.0), (GroupKL(MATRIX[::-1], SHARES), 2.0))), MATRIX.sum(0)
    )
    for other in (line, GroupKL(MATRIX[:2], np.array([0.5, 0.5]))):
        with pytest.raises(ValueError, match=r"^parts: found shares of exposure beside amounts or other shares"):
            Weighted((shares, 1.0), (other, 1.0))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: SquaredLoss([1.0, np.nan]), "target: found nan at 1"),
        (lambda: SquaredLoss([[1.0]]), "target: found an array of shape"),
        (lambda: SquaredLoss([1.0], MATRIX), "target: found an array of shape"),
        (lambda: SquaredLoss([1.0], np.ones(3)), "matrix: found an array of shape"),
        (lambda: SquaredLoss([1.0], [[np.inf]]), "matrix: found an array of shape"),
        (lambda: GroupKL(None, [1.0]), "matrix: found None"),
        (lambda: GroupKL(-MATRIX, SHARES), "matrix: found -1.0"),
        (lambda: GroupKL(MATRIX, [0.5, 0.5, 0.5]), "shares: found"),
        (lambda: GroupKL(MATRIX, [1.5, -0.5, 0.0]), "shares: found"),
        (lambda: GroupKL(MATRIX, [0.5, 0.5]), "shares: found an array of shape"),
        (lambda: GroupKL(MATRIX, SHARES, total=0.0), "total: found 0.0"),
        (lambda: NashWelfare([1.0, -1.0]), "weights: found -1.0"),
        (lambda: NashWelfare([1.0], floor=-0.1), "floor: found -0.1"),
        (lambda: NashWelfare([1.0, 1.0], MATRIX), "weights: found an array of shape"),
        (lambda: GeneralisedGini([1.0, 2.0]), "weights: found"),
        (lambda: GeneralisedGini([]), "weights: found"),
        (lambda: GeneralisedGini([1.0], smoothing=0.0), "smoothing: found 0.0"),
        (lambda: Linear([np.inf]), "coefficients: found inf at 0"),
        (lambda: Weighted(), "parts: found weights"),
        (lambda: Weighted((SquaredLoss([1.0]), -1.0)), "parts: found weights"),
    ],
)
def test_wrong_arguments(build: object, text: str) -> None:
    with pytest.raises(ValueError, match="^" + text.replace("(", r"\(")):
        build()  # type: ignore[operator]
