"""The least loss above several floors: linear programs over all rankings, equations, certificates, limits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from exposure_twins import bound, one_row
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import SEEDS, SPECS, all_exposures, check_mixture, check_policy, membership
from scipy.optimize import linprog

from rerankers._base.errors import InfeasibleError
from rerankers.exposure import DCG, GERR, RBP, Cascade
from rerankers.exposure.optimal.foeir import foeir
from rerankers.exposure.optimal.frank_wolfe import frank_wolfe
from rerankers.exposure.optimal.least_loss import least_loss_with_utility
from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.several_floors import FloorsOptimum, least_loss_with_floors
from rerankers.exposure.optimal.sums import Linear
from rerankers.exposure.optimal.welfare import NashWelfare


@settings(deadline=None, max_examples=25)
@given(
    SPECS,
    st.lists(st.integers(0, 2), min_size=2, max_size=5),
    SEEDS,
    st.integers(1, 3),
    st.sampled_from([0, -0.05, 0.1]),
)
def test_linear_costs_against_a_linear_program(
    spec: object, grades: list[int], seed: int, count: int, shift: float
) -> None:
    rng, grade = np.random.default_rng(seed), np.array(grades)
    n = len(grade)
    corners = all_exposures(bound(spec, grade, one_row(n)))
    worth, cost = rng.normal(size=(count, n)), rng.normal(size=n)
    floors = worth @ (rng.dirichlet(np.ones(len(corners))) @ corners) + shift
    one = np.ones((1, len(corners)))
    program = linprog(corners @ cost, A_ub=-worth @ corners.T, b_ub=-floors, A_eq=one, b_eq=[1.0])
    if program.status == 2:
        with pytest.raises(InfeasibleError):
            least_loss_with_floors(Linear(cost), worth, floors, spec, grades=grade)
        return
    found = least_loss_with_floors(Linear(cost), worth, floors, spec, grades=grade)
    assert np.all(found.amounts >= floors - 1e-12)
    check_mixture(found, spec, grade)
    assert len(found.weights) <= count + 1
    assert found.value == pytest.approx(program.fun, abs=1e-7)
    assert found.gap <= 1e-10


def test_one_floor_is_the_floor_of_utility() -> None:
    rng, n = np.random.default_rng(3), 12
    spec, utility = Cascade(rng.uniform(0.2, 0.9, n)), rng.random(n)
    floor = 0.95 * -frank_wolfe(Linear(-utility), spec).value
    for objective in (SquaredLoss(rng.random(n)), NashWelfare(rng.random(n))):
        one = least_loss_with_utility(objective, utility, floor, spec)
        several = least_loss_with_floors(objective, utility[None], [floor], spec)
        assert several.converged
        assert several.value == pytest.approx(one.value, abs=2e-10)
        assert several.multipliers[0] == pytest.approx(one.multiplier, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_an_equation_is_two_floors(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 14
    relevance, groups = rng.random(n), np.arange(n) % 2
    share = np.where(groups == 0, 1.0, -1.0) / np.bincount(groups)[groups]
    expected = foeir(relevance, groups, 1 / np.log2(np.arange(n) + 2), "parity")
    found = least_loss_with_floors(Linear(-relevance), np.array([share, -share]), np.zeros(2), DCG(), n)
    assert -found.value == pytest.approx(expected.utility, abs=1e-12)
    assert np.abs(found.amounts).max() < 1e-13


def test_utility_and_groups_at_once() -> None:
    rng, n = np.random.default_rng(1), 20
    spec, utility = Cascade(rng.uniform(0.3, 0.9, n)), rng.random(n)
    matrix = membership(rng.integers(0, 3, n), 3)
    objective = SquaredLoss(np.array([0.3, 0.9, 0.6]), matrix)
    most = -frank_wolfe(Linear(-utility), spec).value
    worth, floors = np.vstack([utility, matrix]), np.array([0.9 * most, 0.3, 0.3, 0.3])
    found = least_loss_with_floors(objective, worth, floors, spec)
    check_policy_of(found, worth, floors)
    assert found.converged
    reduced = objective(found.exposure)[1] - found.multipliers @ worth
    lowest = frank_wolfe(Linear(reduced), spec).value + found.multipliers @ floors
    assert found.gap == pytest.approx(max(0.0, objective(found.exposure)[1] @ found.exposure - lowest), abs=1e-11)
    assert len(found.weights) <= 8


def check_policy_of(found: FloorsOptimum, worth: np.ndarray, floors: np.ndarray) -> None:
    np.testing.assert_allclose(found.amounts, worth @ found.exposure, atol=1e-14)
    assert np.all(found.amounts >= floors - 1e-12)
    assert np.all(found.multipliers >= 0)
    assert found.bound == found.value - found.gap


def test_infinite_starts_between_equations() -> None:
    # Utility is fixed, so that no rotation may be mixed in: policies are found that show every document somewhat.
    weights, utility = np.arange(1.0, 7.0), np.arange(6.0)
    found = least_loss_with_floors(NashWelfare(weights), [utility, -utility], [2.0, -2.0], RBP(0.0), 6)
    assert found.converged
    assert utility @ found.exposure == pytest.approx(2.0, abs=1e-12)


def test_no_floors_and_floors_out_of_reach() -> None:
    spec, objective = RBP(0.6), SquaredLoss(np.array([0.3, 0.9, 0.2, 0.4]))
    free = least_loss_with_floors(objective, np.empty((0, 4)), [], spec, 4)
    check_policy(free, spec, None, objective)
    assert free.value == pytest.approx(frank_wolfe(objective, spec, 4).value, abs=1e-10)
    both = [[1.0, 0, 0, 0], [0, 1.0, 0, 0]]
    with pytest.raises(InfeasibleError, match=r"^floors: found \[0\.9, 0\.9\]; expected floors that one policy keeps"):
        least_loss_with_floors(objective, both, [0.9, 0.9], spec, 4)
    assert least_loss_with_floors(objective, both, [0.8, 0.8], spec, 4).exposure[:2] == pytest.approx([0.8, 0.8])
    with pytest.raises(InfeasibleError):
        least_loss_with_floors(SquaredLoss(np.empty(0)), np.empty((1, 0)), [1.0], spec, 0)
    assert least_loss_with_floors(SquaredLoss(np.empty(0)), np.empty((1, 0)), [0.0], spec, 0).gap == 0


def test_results_travel_and_arguments_are_checked() -> None:
    loss = SquaredLoss(np.zeros(3))
    found = least_loss_with_floors(loss, [[1.0, 0.5, 0.2]], [1.2], RBP(0.5), 3)
    back = pickle.loads(pickle.dumps(found))
    assert (type(back), back.multipliers.tolist()) == (FloorsOptimum, found.multipliers.tolist())
    wrong = [
        (lambda: least_loss_with_floors(loss, [1.0, 0, 0], [0.1], RBP(), 3), "worth: found an array of shape"),
        (lambda: least_loss_with_floors(loss, [[1.0, 0]], [0.1], RBP(), 3), "worth: found an array of shape"),
        (lambda: least_loss_with_floors(loss, None, [0.1], RBP(), 3), "worth: found None"),
        (lambda: least_loss_with_floors(loss, [[1.0, 0, 0]], [0.1, 2], RBP(), 3), "floors: found an array of shape"),
        (lambda: least_loss_with_floors(loss, [[1.0, 0, 0]], [np.nan], RBP(), 3), "floors: found nan"),
        (lambda: least_loss_with_floors(loss, [[1.0, 0, 0]], [0.1], GERR(), 3), "grades: found none"),
        (
            lambda: least_loss_with_floors(GroupKL(np.ones((1, 3)), [1.0]), [[1.0, 0, 0]], [0.1], RBP(), 3),
            "objective: found a function of shares",
        ),
    ]
    for call, text in wrong:
        with pytest.raises(ValueError, match=f"^{text}"):
            call()
