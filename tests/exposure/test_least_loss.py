"""The least loss above a floor of utility: other solvers on small rows, certificates, multipliers, limits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from exposure_twins import bound, one_row
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import GRADES, SEEDS, SPECS, all_exposures, check_mixture, check_policy, least_value, membership
from scipy.optimize import linprog

from rerankers._base.errors import InfeasibleError
from rerankers.exposure import DCG, GERR, RBP, Cascade, TopKSet, equal_exposure_target
from rerankers.exposure.optimal.frank_wolfe import frank_wolfe
from rerankers.exposure.optimal.least_loss import FloorOptimum, least_loss_with_utility
from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.sums import Linear
from rerankers.exposure.optimal.welfare import NashWelfare

PARTS = st.sampled_from([0.0, 0.3, 0.9, 0.999, 1.0])


def floor_of(corners: np.ndarray, utility: np.ndarray, part: float) -> float:
    worth = corners @ utility
    return float(worth.min() + part * (worth.max() - worth.min()))


@settings(deadline=None, max_examples=60)
@given(SPECS, GRADES, SEEDS, PARTS)
def test_linear_costs_against_a_linear_program(spec: object, grades: list[int], seed: int, part: float) -> None:
    rng, grade = np.random.default_rng(seed), np.array(grades)
    n = len(grade)
    corners = all_exposures(bound(spec, grade, one_row(n)))
    utility = rng.choice([0.0, 1.0, 1.0, 0.5], n) * rng.choice([1.0, rng.random()], n)
    cost, floor = rng.normal(size=n), floor_of(corners, utility, part)
    found = least_loss_with_utility(Linear(cost), utility, floor, spec, grades=grade)
    assert found.utility >= floor - 1e-12
    check_mixture(found, spec, grade)
    assert len(found.weights) <= 2
    program = linprog(
        corners @ cost, A_ub=-(corners @ utility)[None], b_ub=[-floor], A_eq=np.ones((1, len(corners))), b_eq=[1.0]
    )
    # At the greatest utility a program may give away what is rounding here.
    assert found.value == pytest.approx(program.fun, abs=1e-7)
    assert found.gap <= 1e-9


@settings(deadline=None, max_examples=25)
@given(
    SPECS,
    st.lists(st.integers(0, 3), min_size=2, max_size=4),
    SEEDS,
    st.sampled_from([0.2, 0.7, 0.95]),
    st.integers(0, 3),
)
def test_losses_against_sequential_programs(spec: object, grades: list[int], seed: int, part: float, kind: int) -> None:
    rng, grade = np.random.default_rng(seed), np.array(grades)
    n = len(grade)
    matrix = membership(np.arange(n) % 2, 2)
    objective = (
        SquaredLoss(rng.random(n)),
        SquaredLoss(rng.random(2), matrix),
        NashWelfare(rng.random(n) + 0.1, floor=0.2),
        GroupKL(matrix, np.array([0.4, 0.6]), total=1.5),
    )[kind]
    utility = rng.random(n)
    corners = all_exposures(bound(spec, grade, one_row(n)))
    floor = floor_of(corners, utility, part)
    found = least_loss_with_utility(objective, utility, floor, spec, grades=grade, tolerance=1e-10)
    assert found.converged
    assert found.utility >= floor - 1e-12
    assert found.utility == pytest.approx(utility @ found.exposure, abs=1e-14)
    check_mixture(found, spec, grade)
    assert found.bound == found.value - found.gap
    least = least_value(objective, corners, utility, floor)
    # The policy is one of those allowed, as was checked: its value cannot be too small.
    assert found.value <= least + 1e-9
    assert found.bound <= least + 1e-9


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.sampled_from([0.1, 0.5, 0.9]))
def test_the_certificate_by_its_definition(seed: int, part: float) -> None:
    rng, n = np.random.default_rng(seed), 5
    spec, utility, target = Cascade(rng.uniform(0.2, 1, n)), rng.random(n), rng.random(n)
    corners = all_exposures(bound(spec, None, one_row(n)))
    floor = floor_of(corners, utility, part)
    for iterations in (2, 1000):
        found = least_loss_with_utility(SquaredLoss(target), utility, floor, spec, max_iterations=iterations)
        gradient = 2 * (found.exposure - target)
        reduced = gradient - found.multiplier * utility
        dual = np.min(corners @ reduced) + found.multiplier * floor
        assert found.gap == pytest.approx(max(0.0, gradient @ found.exposure - dual), abs=1e-11)
        assert found.multiplier >= 0


def test_the_multiplier_is_the_price_of_utility() -> None:
    rng, n = np.random.default_rng(5), 8
    spec, utility = Cascade(rng.uniform(0.3, 0.9, n)), rng.random(n)
    objective = SquaredLoss(rng.random(n) * 0.5)
    free = frank_wolfe(objective, spec)
    floor = float(utility @ free.exposure) + 0.1
    step = 1e-4
    values = [
        least_loss_with_utility(objective, utility, floor + side * step, spec, tolerance=1e-13).value
        for side in (-1, 1)
    ]
    found = least_loss_with_utility(objective, utility, floor, spec, tolerance=1e-13)
    assert found.multiplier == pytest.approx((values[1] - values[0]) / (2 * step), rel=1e-3)
    assert found.utility == pytest.approx(floor, abs=1e-12)


def test_a_floor_that_does_not_bind_changes_nothing() -> None:
    grades = np.array([1, 0, 0, 1, 0, 0])
    objective = SquaredLoss(equal_exposure_target(grades, GERR()))
    free = frank_wolfe(objective, GERR(), grades=grades)
    for floor in (0.1, 0.0, -5.0):
        found = least_loss_with_utility(objective, grades, floor, GERR(), grades=grades)
        assert found.value <= free.value + 1e-10
        assert found.multiplier == 0
    assert least_loss_with_utility(objective, np.zeros(6), 0.0, GERR(), grades=grades).value <= 1e-10


@pytest.mark.parametrize("spec", [RBP(0.8), DCG(), TopKSet(3), GERR(), GERR(0.9, cutoff=3)])
def test_the_greatest_utility_itself(spec: object) -> None:
    # Relevant documents are alike, so that many rankings share the greatest utility: the fairest of them is found.
    grades = np.array([0, 1, 0, 1, 1, 0, 0])
    corners = all_exposures(bound(spec, grades, one_row(7)))
    worth = corners @ grades
    best = corners[worth >= worth.max() - 1e-12]
    target = np.linspace(0.1, 0.7, 7)
    found = least_loss_with_utility(SquaredLoss(target), grades, float(worth.max()), spec, grades=grades)
    assert found.utility >= worth.max() - 1e-12
    alone = least_loss_with_utility(SquaredLoss(target), grades, float(worth.max()) * (1 - 1e-9), spec, grades=grades)
    assert found.value == pytest.approx(alone.value, abs=1e-5)
    assert found.value <= np.min(np.sum((best - target) ** 2, axis=1)) + 1e-9
    assert spec == TopKSet(3) or len(found.weights) > 1


def test_floors_out_of_reach_are_refused() -> None:
    grades = np.array([1, 0, 1])
    with pytest.raises(InfeasibleError, match=r"^floor: found 9\.0; expected at most 1\.7\d*, the greatest utility"):
        least_loss_with_utility(SquaredLoss(np.zeros(3)), grades, 9.0, RBP(0.7), grades=grades)
    with pytest.raises(InfeasibleError):
        least_loss_with_utility(SquaredLoss(np.zeros(3)), grades, 1.7 + 1e-9, RBP(0.7), grades=grades)
    assert (
        least_loss_with_utility(SquaredLoss(np.zeros(3)), grades, 1.7, RBP(0.7), grades=grades).utility >= 1.7 - 1e-12
    )


def test_infinite_starts_above_a_floor() -> None:
    weights, grades = np.arange(1.0, 9.0), np.arange(8) % 2
    found = least_loss_with_utility(NashWelfare(weights), weights, 0.9 * weights.max(), TopKSet(1), 8, grades)
    assert found.converged
    assert np.all(found.exposure > 0)
    assert found.utility == pytest.approx(7.2, abs=1e-12)


def test_a_hundred_documents() -> None:
    rng, n = np.random.default_rng(0), 100
    spec, utility = Cascade(rng.uniform(0.3, 0.95, n)), rng.random(n)
    most = -frank_wolfe(Linear(-utility), spec).value
    for count in (2, 5):
        matrix = membership(rng.integers(0, count, n), count)
        objective = SquaredLoss(2 * rng.dirichlet(np.ones(count)), matrix)
        for part in (0.8, 0.95, 0.99):
            found = least_loss_with_utility(objective, utility, part * most, spec)
            check_policy_size(found, count)
            assert found.converged
    individual = least_loss_with_utility(SquaredLoss(rng.random(n) * 0.1), utility, 0.9 * most, spec)
    assert individual.converged
    assert individual.utility >= 0.9 * most - 1e-12


def check_policy_size(found: FloorOptimum, count: int) -> None:
    assert len(found.weights) <= count + 2
    assert abs(found.weights.sum() - 1) < 3e-16


def test_without_a_floor_in_the_way_it_is_the_same_policy() -> None:
    spec, objective = RBP(0.6), SquaredLoss(np.array([0.3, 0.9, 0.2, 0.4]))
    found = least_loss_with_utility(objective, np.zeros(4), -1.0, spec, 4)
    check_policy(found, spec, None, objective)


def test_results_travel_and_empty_rows() -> None:
    found = least_loss_with_utility(SquaredLoss(np.zeros(3)), [1.0, 0.5, 0.2], 1.2, RBP(0.5), 3)
    back = pickle.loads(pickle.dumps(found))
    assert type(back) is FloorOptimum
    assert (back.utility, back.multiplier, back.bound) == (found.utility, found.multiplier, found.bound)
    rankings, weights, _ = back
    np.testing.assert_array_equal(rankings, found.rankings)
    np.testing.assert_array_equal(weights, found.weights)
    nothing = least_loss_with_utility(SquaredLoss(np.empty(0)), [], 0.0, RBP(), 0)
    assert (nothing.rankings.shape, nothing.utility, nothing.gap) == ((1, 0), 0.0, 0.0)
    with pytest.raises(InfeasibleError):
        least_loss_with_utility(SquaredLoss(np.empty(0)), [], 0.1, RBP(), 0)


def test_arguments_are_checked() -> None:
    loss, utility = SquaredLoss(np.zeros(3)), [1.0, 0.5, 0.2]
    wrong = [
        (lambda: least_loss_with_utility(loss, [1.0], 0.1, RBP(), 3), "utility: found an array of shape"),
        (lambda: least_loss_with_utility(loss, [1.0, np.nan, 0], 0.1, RBP(), 3), "utility: found nan at 1"),
        (lambda: least_loss_with_utility(loss, utility, np.nan, RBP(), 3), "floor: found nan"),
        (lambda: least_loss_with_utility(loss, utility, 0.1, RBP()), "n: found None"),
        (lambda: least_loss_with_utility(loss, utility, 0.1, RBP(), 3, tolerance=-1), "tolerance: found -1"),
        (
            lambda: least_loss_with_utility(GroupKL(np.ones((1, 3)), [1.0]), utility, 0.1, RBP(), 3),
            "objective: found a function of shares",
        ),
    ]
    for call, text in wrong:
        with pytest.raises(ValueError, match=f"^{text}"):
            call()
