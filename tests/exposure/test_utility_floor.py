"""The least unfair exposures of a given utility: certificates, the oracle's curves, limits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from permutahedron_twins import WEIGHTS, plain_excess, vertices

from rerankers._base.errors import InfeasibleError
from rerankers.exposure.optimal.fair_points import fair_point_on_ray
from rerankers.exposure.optimal.permutahedron import majorisation_excess, pareto_front, project_permutahedron
from rerankers.exposure.optimal.utility_floor import least_unfair_with_utility

VALUES = st.lists(st.floats(-2, 2) | st.integers(0, 2), min_size=1, max_size=5)


@given(VALUES, st.lists(st.floats(-2, 2), min_size=5), WEIGHTS, st.floats(0, 1))
def test_the_certificate_holds(relevance: list[float], target: list[float], weights: list[float], part: float) -> None:
    n = len(relevance)
    rho, goal = np.array(relevance, dtype=float), np.array(target[:n])
    corners = vertices(weights, n)
    least, most = rho @ project_permutahedron(goal, weights), np.max(corners @ rho)
    floor = least + part * (most - least)
    found = least_unfair_with_utility(rho, goal, weights, floor)
    assert plain_excess(found.exposure, corners[0]) < 1e-13
    assert found.utility == pytest.approx(rho @ found.exposure, abs=1e-14)
    assert found.utility >= floor - 1e-12
    assert found.loss == pytest.approx(np.sum((found.exposure - goal) ** 2), abs=1e-14)
    assert abs(found.gap) < 1e-12 * (1 + found.multiplier)
    assert found.bound == found.loss - found.gap
    # The bound by its definition: the Lagrangian is least at a vertex of its linearisation.
    away = found.exposure - goal
    slope = 2 * (away - found.multiplier * rho)
    lagrangian = away @ away - 2 * found.multiplier * (rho @ found.exposure - floor)
    bound = lagrangian + np.min((corners - found.exposure) @ slope)
    assert found.bound == pytest.approx(bound, abs=1e-12 * (1 + found.multiplier))


@given(st.integers(2, 5), st.integers(0, 1000))
def test_no_mixture_of_that_utility_is_nearer(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rho, goal, weights = rng.random(n), rng.random(n), np.sort(rng.random(n))[::-1]
    corners = vertices(weights.tolist(), n)
    mixtures = rng.dirichlet(np.full(len(corners), 0.2), 200) @ corners
    floor = np.quantile(mixtures @ rho, 0.7)
    found = least_unfair_with_utility(rho, goal, weights, floor)
    reaching = mixtures[mixtures @ rho >= floor]
    assert np.all(np.sum((reaching - goal) ** 2, axis=1) >= found.loss - 1e-13)
    assert found.gap < 1e-13


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("kind", ["dcg", "geometric", "top 10"])
def test_many_documents(n: int, kind: str) -> None:
    rng, rank = np.random.default_rng(n), np.arange(n)
    weights = {
        "dcg": 1 / np.log2(rank + 2),
        "geometric": 0.9**rank,
        "top 10": np.where(rank < 10, 1 / np.log2(rank + 2), 0),
    }[kind]
    rho, goal = np.round(rng.random(n) ** 3, 2 if kind == "dcg" else 12), rng.random(n)
    least, most = rho @ project_permutahedron(goal, weights), np.sort(rho)[::-1] @ weights
    for part in (1e-6, 0.3, 0.99, 0.99999):
        floor = least + part * (most - least)
        found = least_unfair_with_utility(rho, goal, weights, floor)
        assert found.utility == pytest.approx(floor, abs=1e-12 * n)
        assert abs(found.gap) < 1e-14 * n * (1 + found.multiplier)
        assert majorisation_excess(found.exposure, weights) < 1e-15 * n
        np.testing.assert_allclose(
            found.exposure, pareto_front(rho, goal, weights, [found.multiplier])[0], atol=1e-12 * (1 + found.multiplier)
        )


def test_floors_that_do_not_bind_and_the_greatest() -> None:
    rho, goal, weights = [0.9, 0.5, 0.1], [0.2, 0.5, 0.8], [1.0, 0.5, 0.0]
    free = least_unfair_with_utility(rho, goal, weights, -5)
    np.testing.assert_array_equal(free.exposure, project_permutahedron(goal, weights))
    assert free.multiplier == 0
    assert free.gap == pytest.approx(0, abs=1e-15)
    most = least_unfair_with_utility(rho, goal, weights, 0.9 + 0.25)
    np.testing.assert_array_equal(most.exposure, [1.0, 0.5, 0.0])
    assert most.gap == pytest.approx(0, abs=1e-14)
    with pytest.raises(InfeasibleError, match=r"found a utility of 1\.151; the greatest is 1\.1499999"):
        least_unfair_with_utility(rho, goal, weights, 1.151)


def test_equal_relevance_and_relevance_that_hardly_differs() -> None:
    tied = least_unfair_with_utility([0.3, 0.3], [0.0, 1.0], [1.0, 0.5], 0.45)
    np.testing.assert_allclose(tied.exposure, [0.5, 1.0], rtol=1e-15)
    with pytest.raises(InfeasibleError, match="the greatest is"):
        least_unfair_with_utility([0.3, 0.3], [0.0, 1.0], [1.0, 0.5], 0.46)
    goal, weights = np.array([0.0, 0.4, 0.9]), [1.0, 0.5, 0.0]
    for tiny in (1e-12, 1e-300, 5e-324):
        for floor in (0.8, 0.999, 1 - 1e-13, 1.0):
            found = least_unfair_with_utility([1.0, tiny, 0.0], goal, weights, floor)
            assert np.all(np.isfinite(found.exposure))
            assert np.isfinite(found.multiplier)
            assert found.exposure[0] == pytest.approx(floor, abs=1e-11)
    alone = least_unfair_with_utility([2.0], [9.0], [0.5], 1.0)
    assert alone.exposure.tolist() == [0.5]
    nothing = least_unfair_with_utility([], [], [1.0], 0.0)
    assert nothing.exposure.shape == (0,)
    with pytest.raises(InfeasibleError, match="the greatest is 0"):
        least_unfair_with_utility([], [], [1.0], 0.1)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="floor: found nan; expected a finite utility"):
        least_unfair_with_utility([1.0, 0], [1.0, 0], [1.0], np.nan)
    with pytest.raises(ValueError, match="target: found an array"):
        least_unfair_with_utility([1.0, 0], [1.0], [1.0], 0.0)


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", ["meritocratic", "demographic"])
def test_curves_of_the_oracle(shared: Path, kind: str) -> None:
    for case in json.loads((shared / "oracles/algorithms/expohedron.json").read_text())["cases"]:
        weights, rho = np.array(case["pbm"]), np.array(case["relevance"])
        fair = fair_point_on_ray(case[f"{kind}_true_target"], weights)
        most = np.sort(rho)[::-1] @ weights
        for utility, loss in zip(*case[f"{kind}_curve_objective"], strict=True):
            found = least_unfair_with_utility(rho, fair, weights, min(utility, most))
            assert found.loss == pytest.approx(loss, abs=1e-11)
