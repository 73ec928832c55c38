"""Optimal policies: other solvers on small rows, certificates, typical cases of a hundred documents, few rankings."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import bound, one_row, plain_exposure, pointers
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import all_exposures, least_value, nearest_point
from scipy.optimize import isotonic_regression

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet, equal_exposure_target
from rerankers.exposure._atoms import prune
from rerankers.exposure.frank_wolfe import Optimum, frank_wolfe, frank_wolfe_rows
from rerankers.exposure.losses import GroupKL, SquaredLoss
from rerankers.exposure.oracle import Oracle
from rerankers.exposure.sums import Linear, Weighted
from rerankers.exposure.welfare import GeneralisedGini, NashWelfare

SPECS = st.one_of(
    st.builds(RBP, st.sampled_from([0.0, 0.4, 0.9, 1.0]), st.sampled_from([None, 2])),
    st.builds(GERR, st.sampled_from([0.5, 0.9, 1.0]), st.sampled_from([0.5, 1.0]), st.sampled_from([None, 1, 3])),
    st.builds(ERR, st.sampled_from([0.8, 1.0]), st.just(3)),
    st.builds(DCG, st.sampled_from([None, 2])),
    st.builds(TopKSet, st.integers(1, 4)),
    st.just(Positions((1.0, 1.0, 0.2))),
)
GRADES = st.lists(st.integers(0, 3), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32 - 1)


def membership(groups: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[:, groups]


def check_policy(found: Optimum, spec: object, grades: np.ndarray | None, objective: object) -> None:
    """What holds for every result, worked out anew."""
    rankings, weights, gap = found
    n = rankings.shape[1]
    browsing = bound(spec, grades, one_row(n))
    assert rankings.dtype == np.int64
    assert np.all(np.sort(rankings, axis=1) == np.arange(n))
    assert len(np.unique(rankings, axis=0)) == len(rankings) == len(weights)
    assert np.all(weights > 0)
    assert abs(weights.sum() - 1) < 2e-16
    seen = [plain_exposure(order, browsing.position, browsing.continuation) for order in rankings.tolist()]
    np.testing.assert_allclose(found.exposure, weights @ np.array(seen), rtol=1e-13, atol=1e-300)
    value, gradient = objective(found.exposure)  # type: ignore[operator]
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-15)
    if getattr(objective, "scale", None) is None:
        gradient = np.asarray(gradient)
        lowest = Oracle(browsing).best(-gradient)
        away = found.exposure - plain_exposure(lowest.tolist(), browsing.position, browsing.continuation)
        assert gap == pytest.approx(max(0.0, gradient @ away), abs=1e-12 * (1 + np.abs(gradient).max()))
    assert gap >= 0


@settings(deadline=None, max_examples=60)
@given(SPECS, GRADES, SEEDS, st.sampled_from([0.3, 1.0, 30.0]))
def test_documents_against_all_rankings(spec: object, grades: list[int], seed: int, size: float) -> None:
    grade = np.array(grades)
    target = np.random.default_rng(seed).normal(size=len(grade)) * size
    found = frank_wolfe(SquaredLoss(target), spec, grades=grade, tolerance=1e-12)
    check_policy(found, spec, grade, SquaredLoss(target))
    best = nearest_point(all_exposures(bound(spec, grade, one_row(len(grade)))), target)
    least = np.sum((best - target) ** 2)
    assert found.value - found.gap - 1e-10 * size <= least <= found.value + 1e-10 * size
    if found.converged:
        np.testing.assert_allclose(found.exposure, best, atol=2e-6)


@settings(deadline=None, max_examples=25)
@given(SPECS, st.lists(st.integers(0, 3), min_size=2, max_size=4), SEEDS, st.integers(0, 5))
def test_other_functions_against_sequential_programs(spec: object, grades: list[int], seed: int, kind: int) -> None:
    rng, grade = np.random.default_rng(seed), np.array(grades)
    n = len(grade)
    matrix = membership(np.arange(n) % 2, 2)
    objective = (
        SquaredLoss(rng.random(2), matrix),
        GroupKL(matrix, np.array([0.3, 0.7]), total=1.5),
        NashWelfare(rng.random(n) + 0.1, floor=0.2),
        NashWelfare(np.array([1.0, 2.0]), matrix, floor=0.1),
        GeneralisedGini(np.arange(n, 0.0, -1.0), smoothing=0.1),
        Weighted((SquaredLoss(rng.random(n)), 1.0), (Linear(-rng.random(n)), 0.3)),
    )[kind]
    found = frank_wolfe(objective, spec, grades=grade, tolerance=1e-9)
    check_policy(found, spec, grade, objective)
    assert found.converged
    least = least_value(objective, all_exposures(bound(spec, grade, one_row(n))))
    assert found.value <= least + 2e-9
    assert found.value - found.gap <= least + 1e-9
    assert found.value == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("spec", [RBP(0.8), RBP(0.5), DCG(), TopKSet(4), Positions((1.0, 1.0, 0.3, 0.1))])
@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_position_based_browsing_gives_the_projection(spec: object, size: float) -> None:
    n = 12
    target = np.random.default_rng(6).normal(size=n) * size
    browsing = bound(spec, None, one_row(n))
    weight = plain_exposure(list(range(n)), browsing.position, browsing.continuation)
    order = np.argsort(-target)
    projection = np.empty(n)
    projection[order] = target[order] - isotonic_regression(target[order] - weight, increasing=False).x
    found = frank_wolfe(SquaredLoss(target), spec, n, tolerance=1e-14 * size)
    np.testing.assert_allclose(found.exposure, projection, atol=3e-7)


def typical() -> list[tuple[str, object, object, np.ndarray]]:
    rng, n = np.random.default_rng(1), 100
    cases: list[tuple[str, object, object, np.ndarray]] = []
    for many in (10, 2):
        grades = np.zeros(n, dtype=int)
        grades[rng.permutation(n)[:many]] = 1
        specs = (GERR(), RBP(0.9), GERR(0.9, cutoff=10))
        losses = [SquaredLoss(equal_exposure_target(grades, spec)) for spec in specs]
        cases += [(f"equal {many} {spec}", spec, loss, grades) for spec, loss in zip(specs, losses, strict=True)]
    for spec in (GERR(), RBP(0.9), Cascade(rng.uniform(0.3, 0.99, n))):
        cases.append((f"near {spec}", spec, SquaredLoss(rng.random(n) * 0.2), grades))
        cases.append((f"far {spec}", spec, SquaredLoss(rng.normal(size=n) * 3), grades))
        for count in (2, 5):
            matrix = membership(rng.integers(0, count, n), count)
            shares = rng.dirichlet(np.ones(count))
            cases.append((f"{count} groups {spec}", spec, SquaredLoss(2 * shares, matrix), grades))
            cases.append((f"shares of {count} groups {spec}", spec, GroupKL(matrix, shares), grades))
            cases.append((f"nash of {count} groups {spec}", spec, NashWelfare(shares, matrix), grades))
        cases.append((f"nash {spec}", spec, NashWelfare(rng.random(n)), grades))
        cases.append((f"gini {spec}", spec, GeneralisedGini(np.sort(rng.random(n))[::-1], smoothing=0.01), grades))
    return cases


@pytest.mark.parametrize(
    ("spec", "objective", "grades"), [case[1:] for case in typical()], ids=[c[0] for c in typical()]
)
def test_a_hundred_documents(spec: object, objective: object, grades: np.ndarray) -> None:
    found = frank_wolfe(objective, spec, grades=grades)
    check_policy(found, spec, grades, objective)
    assert found.converged
    assert found.gap <= 1e-10
    assert found.iterations <= 400
    matrix = getattr(objective, "matrix", None)
    if matrix is not None:
        assert found.iterations <= 40
        assert len(found.weights) <= len(matrix) + 1
    else:
        assert len(found.weights) <= 102


@given(SEEDS)
@settings(deadline=None, max_examples=20)
def test_the_gap_of_an_unfinished_search_is_honest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.random(30) * 0.5
    objective = SquaredLoss(target)
    spec = Cascade(rng.uniform(0.2, 1, 30))
    best = frank_wolfe(objective, spec)
    assert best.converged
    for iterations in (1, 2, 5, 12):
        found = frank_wolfe(objective, spec, max_iterations=iterations)
        check_policy(found, spec, None, objective)
        assert not found.converged
        assert found.iterations == iterations
        assert found.gap > 1e-10
        assert found.gap >= found.value - best.value - 1e-12


def test_functions_that_say_nothing_but_value_and_gradient() -> None:
    rng, n = np.random.default_rng(8), 40
    spec, matrix = Cascade(rng.uniform(0.2, 0.95, n)), membership(rng.integers(0, 3, n), 3)
    weights, target = rng.random(n), rng.random(n) * 0.3
    plain = (
        (SquaredLoss(target), lambda e: (np.sum((e - target) ** 2), (2 * (e - target)).tolist())),
        (NashWelfare(weights), lambda e: (-(weights @ np.log(e)), -weights / e)),
        (SquaredLoss(np.ones(3), matrix), lambda e: (np.sum((matrix @ e - 1) ** 2), 2 * matrix.T @ (matrix @ e - 1))),
        (NashWelfare(np.ones(3), matrix), lambda e: (-np.log(matrix @ e).sum(), -matrix.T @ (1 / (matrix @ e)))),
    )
    for known, unknown in plain:
        expected, found = frank_wolfe(known, spec), frank_wolfe(unknown, spec)
        assert found.converged
        assert found.value == pytest.approx(expected.value, abs=2e-10)


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


def test_equal_exposure_is_reached() -> None:
    grades = np.array([2, 0, 1, 1, 0, 0, 2, 1, 0, 0, 0, 1])
    for spec in (GERR(), RBP(0.8), ERR(1.0, 2), DCG(), GERR(0.8, cutoff=5)):
        target = equal_exposure_target(grades, spec)
        found = frank_wolfe(SquaredLoss(target), spec, grades=grades, tolerance=1e-13)
        np.testing.assert_allclose(found.exposure, target, atol=1e-6)
    tied = frank_wolfe(SquaredLoss(equal_exposure_target(np.ones(7), GERR())), GERR(), grades=np.ones(7))
    assert tied.value < 1e-10


def test_shares_of_groups_are_exact_under_cascades() -> None:
    # The total of exposure depends on the ranking here, so that the divergence is not convex in exposure.
    spec = Cascade(np.array([0.9, 0.2, 0.9, 0.2]))
    matrix = membership(np.array([0, 0, 1, 1]), 2)
    corners = all_exposures(bound(spec, None, one_row(4))) @ matrix.T
    reached = np.sort(corners[:, 0] / corners.sum(axis=1))
    for first in np.linspace(0.02, 0.98, 25):
        shares = np.array([first, 1 - first])
        found = frank_wolfe(GroupKL(matrix, shares), spec)
        nearest = np.clip(first, reached[0], reached[-1])
        expected = first * np.log(first / nearest) + (1 - first) * np.log((1 - first) / (1 - nearest))
        assert found.converged
        assert found.value == pytest.approx(expected, abs=1e-9)
        assert len(found.weights) <= 2


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


def test_rows_of_a_block_are_those_alone() -> None:
    rng = np.random.default_rng(2)
    lengths = [3, 0, 9, 1, 5]
    rows = pointers(lengths)
    grades = rng.integers(0, 3, rows[-1])
    for spec in (GERR(), DCG(), GERR(0.9, cutoff=4)):
        browsing = bound(spec, grades, rows)
        objectives = [SquaredLoss(rng.random(n)) for n in lengths]
        together = frank_wolfe_rows(objectives, rows, browsing)
        for row, found in enumerate(together):
            alone = frank_wolfe(objectives[row], spec, grades=grades[rows[row] : rows[row + 1]])
            assert found.rankings.tolist() == alone.rankings.tolist()
            assert found.weights.tolist() == alone.weights.tolist()
            assert found.gap == alone.gap
    with pytest.raises(ValueError, match=r"^objectives: found 4; expected 5, one a row"):
        frank_wolfe_rows(objectives[:4], rows, browsing)


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
    assert abs(kept.sum() - 1) < 2e-16
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


@pytest.mark.shared_data
def test_published_compromises(shared: Path) -> None:
    cases = 0
    for case in json.loads((shared / "oracles/algorithms/expohedron.json").read_text())["cases"]:
        if int(case["n"]) > 10:
            continue
        relevance, spec = np.array(case["relevance"]), Positions(tuple(case["pbm"]))
        for kind in ("meritocratic", "demographic"):
            loss = SquaredLoss(np.array(case[f"{kind}_true_target"]))
            for optimum in case[f"{kind}_scalarised_optimum"]:
                objective = Weighted((loss, 1.0), (Linear(-2 * relevance), optimum["lam"]))
                found = frank_wolfe(objective, spec, len(relevance), tolerance=1e-13)
                assert found.value == pytest.approx(optimum["objective"], abs=1e-11)
                np.testing.assert_allclose(found.exposure, optimum["e"], atol=1e-6)
                cases += 1
    assert cases > 10


def test_importing_loads_numpy_only() -> None:
    code = (
        "import sys, rerankers.exposure.frank_wolfe, rerankers.exposure.losses, rerankers.exposure.welfare,"
        " rerankers.exposure.sums, rerankers.exposure.least_loss;"
        "print([name for name in ('scipy', 'numba', 'torch', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
