"""Projection onto the permutahedron and the front: optimality by all vertices, independent solvers, limits, oracles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from permutahedron_twins import (
    WEIGHTS,
    hull_point,
    nearest_in_hull,
    plain_excess,
    plain_projection,
    rational_projection,
    vertices,
)

from rerankers.exposure.optimal.fair_points import fair_point_on_ray, nearest_fair_point
from rerankers.exposure.optimal.permutahedron import (
    duality_gap,
    majorisation_excess,
    pareto_front,
    project_permutahedron,
)

VALUES = st.lists(st.floats(-3, 3) | st.integers(-2, 2), max_size=5)
RNG = np.random.default_rng(5)


@given(VALUES, WEIGHTS)
def test_projection_is_optimal_by_all_vertices(values: list[float], weights: list[float]) -> None:
    z = np.array(values, dtype=float)
    found = project_permutahedron(z, weights)
    corners = vertices(weights, len(z))
    assert plain_excess(found, corners[0]) < 1e-14
    # Nearest in a convex set: no way to a vertex goes nearer to z.
    assert np.max((corners - found) @ (z - found)) < 1e-13
    np.testing.assert_allclose(found, plain_projection(z, corners[0]), atol=1e-14)
    np.testing.assert_allclose(project_permutahedron(found, weights), found, atol=1e-15)
    turn = np.arange(len(z))[::-1]
    np.testing.assert_allclose(project_permutahedron(z[turn], weights), found[turn], atol=1e-14)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_projection_agrees_with_non_negative_least_squares(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        weights, z = np.sort(rng.random(n))[::-1], rng.normal(size=n)
        expected = nearest_in_hull(vertices(weights.tolist(), n), z)
        np.testing.assert_allclose(project_permutahedron(z, weights), expected, atol=1e-6)


@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("kind", ["dcg", "geometric", "top 10", "flat"])
def test_projection_of_many(n: int, kind: str) -> None:
    rank = np.arange(n)
    weights = {
        "dcg": 1 / np.log2(rank + 2),
        "geometric": 0.9**rank,
        "top 10": np.where(rank < 10, 1 / np.log2(rank + 2), 0),
        "flat": np.full(n, 0.1),
    }[kind]
    for z in (RNG.random(n) ** 3, np.linspace(0, 0.3, n), np.full(n, 0.7), 2000.0 * RNG.random(n)):
        found = project_permutahedron(z, weights)
        np.testing.assert_allclose(found, plain_projection(z, weights), atol=1e-16 * n + 5e-13 * z.max())
        assert majorisation_excess(found, weights) < 1e-15 * n
        assert abs(duality_gap(found, found - z, weights)) < 1e-15 * n * max(1, z.max())


def test_projection_forgets_a_common_shift() -> None:
    z, weights = RNG.integers(0, 1024, 50) / 1024.0, 0.8 ** np.arange(50)
    np.testing.assert_allclose(
        project_permutahedron(z + 2.0**40, weights), project_permutahedron(z, weights), atol=1e-4
    )
    np.testing.assert_allclose(project_permutahedron(np.full(50, 7e15), weights), weights.mean(), rtol=1e-15)
    far = np.array([3e15, 1e15, 2e15])
    np.testing.assert_array_equal(project_permutahedron(far, [0.1 + 0.2, 0.1, 0.07]), [0.1 + 0.2, 0.07, 0.1])


def test_weights_are_padded_and_cut() -> None:
    z = [0.1, 3.0, 0.2]
    np.testing.assert_array_equal(project_permutahedron(z, [1.0]), project_permutahedron(z, [1.0, 0, 0]))
    np.testing.assert_array_equal(project_permutahedron(z, [4, 3, 2, 1.0]), project_permutahedron(z, [4, 3, 2]))
    assert project_permutahedron([], [1.0]).shape == (0,)
    np.testing.assert_array_equal(project_permutahedron([-5.0], [0.3, 0.2]), [0.3])
    np.testing.assert_array_equal(project_permutahedron([-5.0, 9], [0.0]), [0, 0])
    np.testing.assert_allclose(project_permutahedron([2.0] * 7, [1.0, 0.5]), 1.5 / 7, rtol=1e-15)


@given(VALUES, VALUES, WEIGHTS, st.lists(st.floats(0, 100) | st.just(np.inf), max_size=4))
def test_front_is_the_path_of_projections(
    relevance: list[float], target: list[float], weights: list[float], lambdas: list[float]
) -> None:
    n = min(len(relevance), len(target))
    rho, goal = np.array(relevance[:n], dtype=float), np.array(target[:n], dtype=float)
    front = pareto_front(rho, goal, weights, lambdas)
    assert front.shape == (len(lambdas), n)
    for row, factor in zip(front, lambdas, strict=True):
        if np.isfinite(factor):
            np.testing.assert_allclose(row, plain_projection(goal + factor * rho, vertices(weights, n)[0]), atol=1e-12)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.lists(st.floats(-1, 1), min_size=4), WEIGHTS)
def test_the_end_is_nearest_among_the_most_useful(grades: list[int], target: list[float], weights: list[float]) -> None:
    n = len(grades)
    rho, goal = np.array(grades, dtype=float), np.array(target[:n])
    end = pareto_front(rho, goal, weights, [np.inf])[0]
    corners = vertices(weights, n)
    # Relative to the weights: very small ones must not make every corner one of the best.
    best = corners[corners @ rho >= (corners @ rho).max() - 1e-12 * max(weights, default=0.0)]
    assert end @ rho == pytest.approx(best[0] @ rho, abs=1e-13)
    assert np.max((best - end) @ (goal - end)) < 1e-13
    np.testing.assert_array_equal(pareto_front(rho, goal, weights, [1e14])[0], end)
    assert plain_excess(end, corners[0]) < 1e-14


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e5, 1e12])
def test_the_front_in_rational_arithmetic(factor: float) -> None:
    rng = np.random.default_rng(int(factor))
    for turn in range(60):
        n = int(rng.integers(1, 9))
        weights, goal = np.sort(rng.random(n) ** (1, 4)[turn % 2])[::-1], rng.normal(size=n)
        rho = (rng.random(n), np.round(rng.random(n), 1), 0.5 + rng.random(n) / factor)[turn % 3]
        found = pareto_front(rho, goal, weights, [factor])[0]
        np.testing.assert_allclose(found, rational_projection(goal, rho, factor, weights), rtol=0, atol=2e-15)


def test_ties_and_order_of_the_front() -> None:
    goal, weights = RNG.random(30), 0.9 ** np.arange(30)
    lambdas = [0.3, np.inf, 0.0, 7.0, 0.3]
    tied = pareto_front(np.full(30, 0.4), goal, weights, lambdas)
    for row in tied:
        np.testing.assert_allclose(row, project_permutahedron(goal, weights), atol=1e-15)
    rho = RNG.random(30)
    front = pareto_front(rho, goal, weights, lambdas)
    for at, factor in enumerate(lambdas):  # the bits of a row depend on its lambda only
        np.testing.assert_array_equal(front[at], pareto_front(rho, goal, weights, [factor])[0])
    utility, loss = (front @ rho)[[2, 0, 3, 1]], np.square(front - goal).sum(axis=1)[[2, 0, 3, 1]]
    assert np.all(np.diff(utility) > 0)
    assert np.all(np.diff(loss) > 0)


@given(VALUES, st.lists(st.floats(-3, 3), min_size=5), WEIGHTS, st.randoms(use_true_random=False))
def test_duality_gap_is_that_of_all_vertices(
    slope: list[float], target: list[float], weights: list[float], random: object
) -> None:
    n = len(slope)
    point, goal = hull_point(weights, n, random), np.array(target[:n])
    corners = vertices(weights, n)
    expected = np.max((point - corners) @ np.array(slope), initial=-np.inf)
    assert duality_gap(point, slope, weights) == pytest.approx(expected, abs=1e-13)
    best = project_permutahedron(goal, weights)
    gap = duality_gap(point, 2 * (point - goal), weights)
    assert np.sum((point - goal) ** 2) - np.sum((best - goal) ** 2) <= gap + 1e-13


@given(VALUES, WEIGHTS)
def test_excess_is_that_of_all_subsets(values: list[float], weights: list[float]) -> None:
    point = np.abs(np.array(values, dtype=float))
    assert majorisation_excess(point, weights) == pytest.approx(
        plain_excess(point, vertices(weights, len(point))[0]), abs=1e-14
    )


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=5), WEIGHTS)
def test_the_point_on_the_ray(target: list[float], weights: list[float]) -> None:
    goal, n = np.array(target), len(target)
    found, corner = fair_point_on_ray(goal, weights), vertices(weights, n)[0]
    assert plain_excess(found, corner) < 1e-14
    away, moved = goal - goal.mean(), found - corner.mean()
    if np.abs(away).max() < 1e-6:
        return
    share = (moved @ away) / (away @ away)
    assert -1e-15 <= share <= 1 + 1e-12
    np.testing.assert_allclose(moved, share * away, atol=1e-14)
    if share < 1 - 1e-9:  # a little further on there is no policy
        assert plain_excess(corner.mean() + (share + 1e-6) * away, corner) > 1e-13
    inside = project_permutahedron(goal, weights)
    np.testing.assert_allclose(fair_point_on_ray(inside, weights), inside, atol=1e-14)
    np.testing.assert_array_equal(nearest_fair_point(goal, weights), inside)


def test_rays_of_special_targets() -> None:
    np.testing.assert_array_equal(fair_point_on_ray([], [1.0]), [])
    np.testing.assert_array_equal(fair_point_on_ray([9.0], [0.7, 0.2]), [0.7])
    np.testing.assert_allclose(fair_point_on_ray([4.0] * 10, [1.0, 0.5]), 0.15, rtol=1e-15)
    np.testing.assert_allclose(fair_point_on_ray([1.0, 5.0, 2.0], [0.1] * 3), 0.1, rtol=1e-15)


@pytest.mark.parametrize("function", [project_permutahedron, fair_point_on_ray, majorisation_excess])
def test_wrong_arguments(function: object) -> None:
    for values, weights, text in (
        ([[1.0]], [1.0], "found an array of shape"),
        ([np.nan, 1], [1.0], "found nan at 0; expected finite numbers"),
        ([1, np.inf], [1.0], "found inf at 1"),
        ([1, 2], [0.5, 1.0], "position_weights: found 0.5 before 1; expected weights that do not increase"),
        ([1, 2], [-1.0], "position_weights: found -1"),
        ([1, 2], [], "position_weights: found an array of shape"),
        ([1, 2], [np.nan], "position_weights: found nan"),
    ):
        with pytest.raises(ValueError, match=text.replace("(", r"\(")):
            function(values, weights)  # type: ignore[operator]


def test_wrong_arguments_of_the_front() -> None:
    with pytest.raises(ValueError, match=r"target: found an array of shape \(3,\); expected \(2,\), one value"):
        pareto_front([1, 2], [1, 2, 3], [1.0], [0])
    for lambdas, text in (([0, -1.0], "-1.0"), ([np.nan], "nan"), (0.5, r"an array of shape \(\)")):
        with pytest.raises(ValueError, match=f"lambdas: found {text}; expected one number a point"):
            pareto_front([1, 2], [1, 2], [1.0], lambdas)
    with pytest.raises(ValueError, match="gradient: found an array"):
        duality_gap([1, 0], [1], [1.0])
    assert pareto_front([], [], [1.0], [0, np.inf]).shape == (2, 0)
    assert pareto_front([1, 2], [0, 0], [1.0], []).shape == (0, 2)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=5), st.lists(st.floats(-2, 2), min_size=5))
def test_relevance_that_hardly_differs(grades: list[float], target: list[float]) -> None:
    """A factor of 2^200 makes something of relevances that lie 2^-200 apart, next to others far apart."""
    n = len(grades)
    goal, weights, tiny = np.array(target[:n]), [1.0, 0.6, 0.5], 2.0**-200
    found = pareto_front(np.array(grades) * tiny, goal, weights, [1 / tiny])[0]
    np.testing.assert_allclose(found, plain_projection(goal + grades, vertices(weights, n)[0]), atol=1e-14)
    # Two documents of far greater relevance come first, by target and weights alone.
    both = pareto_front(
        np.array([1.0, 1.0, *np.array(grades) * tiny]), [0.3, 0.1, *goal], [3, 2.9, *weights], [1 / tiny]
    )
    np.testing.assert_allclose(both[0, :2], [3.0, 2.9], atol=1e-15)
    np.testing.assert_allclose(both[0, 2:], found, atol=1e-14)
    assert np.all(np.isfinite(pareto_front([1e300, np.nextafter(1e300, 0)], [0, 1e299], [1.0], [1e9])))


@pytest.mark.shared_data
def test_projections_of_the_oracle(shared: Path) -> None:
    oracle = json.loads((shared / "oracles/algorithms/exact_pl_permutahedron_kl.json").read_text())
    for case in oracle["t_transforms"]:
        found = project_permutahedron(case["target_raw"], case["gamma"])
        np.testing.assert_allclose(found, case["projection"], rtol=0, atol=1e-14)


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", ["meritocratic", "demographic"])
def test_curves_of_the_oracle(shared: Path, kind: str) -> None:
    for case in json.loads((shared / "oracles/algorithms/expohedron.json").read_text())["cases"]:
        weights, rho = np.array(case["pbm"]), np.array(case["relevance"])
        target, curve = np.array(case[f"{kind}_true_target"]), np.array(case[f"{kind}_curve"])
        np.testing.assert_allclose(
            nearest_fair_point(target, weights), case[f"{kind}_projected_target"], rtol=0, atol=1e-14
        )
        for optimum in case[f"{kind}_scalarised_optimum"]:
            found = pareto_front(rho, target, weights, [optimum["lam"]])[0]
            np.testing.assert_allclose(found, optimum["e"], rtol=0, atol=1e-12)
            objective = np.sum((found - target) ** 2) - 2 * optimum["lam"] * rho @ found
            assert objective == pytest.approx(optimum["objective"], abs=1e-12)
        # The published curve starts on the ray and ends at the greatest utility.
        fair = fair_point_on_ray(target, weights)
        np.testing.assert_allclose(fair, curve[0], rtol=0, atol=1e-11)
        np.testing.assert_allclose(pareto_front(rho, fair, weights, [np.inf])[0], curve[-1], rtol=0, atol=1e-12)
