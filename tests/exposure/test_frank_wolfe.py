"""Optimal policies: other solvers on small rows, certificates, typical cases of a hundred documents, few rankings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import bound, one_row, plain_exposure, pointers
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import GRADES, SEEDS, SPECS, all_exposures, check_policy, least_value, membership, nearest_point
from scipy.optimize import isotonic_regression

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet, equal_exposure_target
from rerankers.exposure.optimal.frank_wolfe import frank_wolfe, frank_wolfe_rows
from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.sums import Linear, Weighted
from rerankers.exposure.optimal.welfare import GeneralisedGini, NashWelfare


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
    # The policy exists, as was checked: its value cannot be too small.
    assert found.value <= least + 2e-9


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
        cases.append((f"gini {spec}", spec, GeneralisedGini(np.sort(rng.random(n))[::-1], smoothing=0.1), grades))
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
