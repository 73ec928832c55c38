"""Optimal policies at their limits: infinite starts, certain stops, one group, no documents, wrong arguments."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from exposure_twins import bound, one_row
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import SEEDS, all_exposures, check_policy, nearest_point

from rerankers.exposure import GERR, RBP, Cascade, TopKSet
from rerankers.exposure.optimal.atoms import prune
from rerankers.exposure.optimal.frank_wolfe import Optimum, frank_wolfe
from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.sums import Linear


@pytest.mark.parametrize("spec", [TopKSet(1), TopKSet(3), RBP(0.0), GERR(0.5, 1.0, cutoff=2), GERR(0.5)])
def test_starts_where_single_rankings_are_infinitely_bad(spec: object) -> None:
    weights, grades = np.arange(1.0, 13.0), np.arange(12) % 2

    def objective(exposure: np.ndarray) -> tuple[float, np.ndarray]:
        return -(weights @ np.log(exposure)), -weights / exposure

    found = frank_wolfe(objective, spec, grades=grades)
    assert found.converged
    assert np.isfinite(found.value)
    if spec in (TopKSet(1), RBP(0.0)):  # one document is seen: in proportion to the weights
        np.testing.assert_allclose(found.exposure, weights / weights.sum(), atol=1e-6)


def test_certain_and_ending_continuations() -> None:
    rng = np.random.default_rng(3)
    for continuation in (np.ones(6), np.zeros(6), np.array([0, 1, 0, 1, 0.5, 0.5])):
        spec, target = Cascade(continuation), rng.random(6)
        found = frank_wolfe(SquaredLoss(target), spec, tolerance=1e-13)
        check_policy(found, spec, None, SquaredLoss(target))
        best = nearest_point(all_exposures(bound(spec, None, one_row(6))), target)
        np.testing.assert_allclose(found.exposure, best, atol=1e-6)


def test_one_group_needs_one_or_two_rankings() -> None:
    spec, matrix = Cascade(np.linspace(0.1, 0.9, 20)), np.ones((1, 20))
    for amount in (0.5, 3.0, 50.0):
        found = frank_wolfe(SquaredLoss(np.array([amount]), matrix), spec)
        assert found.converged
        assert len(found.weights) <= 2
    assert frank_wolfe(SquaredLoss(np.array([3.0]), matrix), spec).value < 1e-18
    empty = np.vstack([np.ones(20), np.zeros(20)])
    assert frank_wolfe(SquaredLoss(np.array([3.0, 0.5]), empty), spec).value == pytest.approx(0.25)


def test_linear_functions_end_at_one_ranking() -> None:
    found = frank_wolfe(Linear(np.array([0.4, -1.0, 0.2])), GERR(), grades=[1, 0, 0])
    assert found.rankings.tolist() == [[1, 2, 0]]
    assert (found.gap, found.weights.tolist()) == (0.0, [1.0])


def test_one_document_and_none() -> None:
    found = frank_wolfe(SquaredLoss(np.array([5.0])), GERR(), grades=[1])
    assert (found.rankings.tolist(), found.weights.tolist(), found.gap) == ([[0]], [1.0], 0.0)
    assert (found.value, found.converged) == (16.0, True)
    rankings, weights, gap = frank_wolfe(SquaredLoss(np.empty(0)), RBP(), 0)
    assert (rankings.shape, weights.tolist(), gap) == ((1, 0), [1.0], 0.0)


def test_results_unpack_and_travel() -> None:
    found = frank_wolfe(SquaredLoss(np.array([0.5, 0.7, 0.1])), RBP(0.7), n=3)
    rankings, weights, gap = found
    assert (found[0] is rankings, found.weights is weights, found.gap == gap) == (True, True, True)
    back = pickle.loads(pickle.dumps(found))
    assert type(back) is Optimum
    assert (back.gap, back.value, back.iterations, back.converged) == (gap, found.value, found.iterations, True)
    np.testing.assert_array_equal(back.exposure, found.exposure)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_pruning_keeps_what_is_seen(seed: int, count: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    exposures, weights = rng.random((count, n)), rng.dirichlet(np.ones(count))
    matrix = rng.choice([0.0, 1.0, 1e4], (groups, n))
    kept = prune(exposures, weights, matrix)
    assert np.count_nonzero(kept) <= min(count, np.linalg.matrix_rank(matrix) + 1)
    assert np.all(kept >= 0)
    assert abs(kept.sum() - 1) < 3e-16
    np.testing.assert_allclose(matrix @ (kept @ exposures), matrix @ (weights @ exposures), rtol=1e-11)


def test_arguments_are_checked() -> None:
    loss = SquaredLoss(np.zeros(3))
    wrong = [
        (lambda: frank_wolfe(loss, RBP()), "n: found None and no grades"),
        (lambda: frank_wolfe(loss, RBP(), 2, grades=[1, 0, 0]), "n: found 3 by grades, 2 by n"),
        (lambda: frank_wolfe(loss, Cascade(np.ones(3)), 4), "n: found 3 by continuation, 4 by n"),
        (lambda: frank_wolfe(loss, RBP(), -1), "n: found -1"),
        (lambda: frank_wolfe(loss, RBP(), 2.0), "n: found 2.0"),
        (lambda: frank_wolfe(loss, GERR(), 3), "grades: found none"),
        (lambda: frank_wolfe(loss, RBP(), 3, tolerance=-1.0), "tolerance: found -1.0"),
        (lambda: frank_wolfe(loss, RBP(), 3, tolerance=np.nan), "tolerance: found nan"),
        (lambda: frank_wolfe(loss, RBP(), 3, max_iterations=0), "max_iterations: found 0"),
        (lambda: frank_wolfe(lambda e: (0.0, e[:2]), RBP(), 3), "objective: found a gradient of shape"),
        (lambda: frank_wolfe(lambda e: (np.nan, e), RBP(), 3), "objective: found the value nan"),
        (lambda: frank_wolfe(lambda e: (-np.inf, e), RBP(), 3), "objective: found the value -inf"),
        (lambda: frank_wolfe(lambda e: (np.inf, e), RBP(), 3), "objective: found infinity at every start"),
    ]
    for call, text in wrong:
        with pytest.raises(ValueError, match=f"^{text}"):
            call()


def test_importing_loads_numpy_only() -> None:
    code = (
        "import sys, rerankers.exposure.optimal;"
        "print([name for name in ('scipy', 'numba', 'torch', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_shares_where_some_documents_are_in_no_group() -> None:
    # Only the first rank is seen: a ranking that starts outside of the groups has no shares and may not be chosen.
    matrix = np.array([[0.0, 1, 0, 0, 1], [0, 0, 1, 0, 0]])
    shares = np.array([0.3, 0.7])
    for spec in (TopKSet(1), RBP(0.0), Cascade(np.linspace(0.1, 0.9, 5))):
        found = frank_wolfe(GroupKL(matrix, shares), spec, 5)
        seen = matrix @ found.exposure
        np.testing.assert_allclose(seen / seen.sum(), shares, atol=1e-6)
        assert found.converged
    with pytest.raises(ValueError, match=r"^objective: found a total of exposure that is 0"):
        frank_wolfe(GroupKL(np.zeros((2, 5)), shares), RBP(), 5)
    with pytest.raises(ValueError, match=r"^objective: found infinity at every start"):
        frank_wolfe(GroupKL(np.array([[1.0] * 5, [0.0] * 5]), shares), RBP(), 5)
