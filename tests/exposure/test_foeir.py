"""Fairness of exposure for two groups: the oracle, the published example, linear programs, all pairs of rankings."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from permutahedron_twins import WEIGHTS, plain_excess, vertices
from scipy.optimize import linprog
from scipy.sparse import eye as identity
from scipy.sparse import kron, vstack

from rerankers._base.errors import InfeasibleError
from rerankers.exposure.optimal.foeir import FairExposure, foeir

KINDS = {"parity": "demographic_parity", "treatment": "disparate_treatment", "impact": "disparate_impact"}
CONSTRAINT = st.sampled_from(sorted(KINDS))
MERIT = st.floats(0.01, 1) | st.sampled_from([0.0, 0.5, 1.0])


def plain_constraint(u: np.ndarray, group: np.ndarray, constraint: str) -> np.ndarray:
    """Return f as it stands in the paper: mean over group 0 minus mean over group 1, each over its mean merit."""
    f = np.zeros(len(u))
    for sign, number in ((1, 0), (-1, 1)):
        inside = group == number
        share = sign / inside.sum()
        if constraint != "parity":
            share /= u[inside].mean()
        f[inside] = share * (u[inside] if constraint == "impact" else 1)
    return f


def best_pair(u: np.ndarray, f: np.ndarray, corners: np.ndarray) -> float:
    """Return the greatest utility of all mixtures of two rankings with f . e = 0, -inf where there is none."""
    utility, excess = corners @ u, corners @ f
    best = utility[np.abs(excess) < 1e-12].max(initial=-np.inf)
    for one, other in combinations(range(len(corners)), 2):
        if excess[one] * excess[other] < 0:
            share = excess[other] / (excess[other] - excess[one])
            best = max(best, share * utility[one] + (1 - share) * utility[other])
    return best


def check(found: FairExposure, u: np.ndarray, f: np.ndarray, weights: np.ndarray) -> None:
    n = len(u)
    assert found.rankings.shape == (len(found.weights), n)
    assert 1 <= len(found.weights) <= 2
    assert found.rankings.dtype == np.int64
    assert np.all(np.sort(found.rankings, axis=1) == np.arange(n))
    assert np.all(found.weights > 0)
    assert found.weights.sum() == pytest.approx(1, abs=1e-15)
    mixed = np.zeros(n)
    for order, share in zip(found.rankings, found.weights, strict=True):
        mixed[order] += share * weights
    np.testing.assert_allclose(found.exposure, mixed, atol=1e-15)
    assert found.utility == pytest.approx(u @ found.exposure, abs=1e-14)
    assert abs(f @ found.exposure) <= 1e-12 * max(1.0, np.abs(f).max())


@given(st.lists(st.tuples(MERIT, st.integers(0, 1)), min_size=2, max_size=4), WEIGHTS, CONSTRAINT)
def test_no_pair_of_rankings_is_better(documents: list[tuple[float, int]], weights: list[float], kind: str) -> None:
    u, group = np.array([merit for merit, _ in documents]), np.array([number for _, number in documents])
    assume(0 < group.sum() < len(group))
    assume(kind == "parity" or min(u[group == 0].mean(), u[group == 1].mean()) > 0)
    f, corners = plain_constraint(u, group, kind), vertices(weights, len(u))
    expected = best_pair(u, f, corners)
    try:
        found = foeir(u, group, weights, kind)
    except InfeasibleError:
        assert kind == "treatment"  # the others are met between the rankings with either group first
        assert np.all(corners @ f > 0) or np.all(corners @ f < 0)
        return
    check(found, u, f, corners[0])
    assert found.utility == pytest.approx(expected, abs=1e-9)
    assert plain_excess(found.exposure, corners[0]) < 1e-14
    turned = foeir(u, 1 - group, weights, kind)
    assert turned.utility == pytest.approx(found.utility, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 7, 12])
def test_linear_program_over_doubly_stochastic_matrices(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    ones, eye = np.ones((1, n)), identity(n)
    sums = vstack([kron(eye, ones), kron(ones, eye)])
    for turn in range(4):
        u, group = rng.random(n) ** 2 + 0.02, np.arange(n) % 2
        weights = 1 / np.log2(np.arange(n) + 2) if turn % 2 else np.where(np.arange(n) < 3, 0.8 ** np.arange(n), 0)
        f = plain_constraint(u, group, kind)
        program = linprog(
            -np.outer(u, weights).ravel(),
            A_eq=vstack([sums, np.outer(f, weights).reshape(1, -1)]),
            b_eq=np.append(np.ones(2 * n), 0),
            method="highs",
        )
        if program.status == 2:
            with pytest.raises(InfeasibleError):
                foeir(u, group, weights, kind)
            continue
        found = foeir(u, group, weights, kind)
        check(found, u, f, weights)
        assert found.utility == pytest.approx(-program.fun, abs=1e-8)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_bound_of_many_documents(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    for turn in range(6):
        u = rng.random(n) ** 2 + 0.3
        group = (np.arange(n) % (2, 20)[turn % 2] == 1).astype(int)
        u = np.round(u, 2) if turn % 3 == 0 else u
        weights = (1 / np.log2(np.arange(n) + 2), 0.99 ** np.arange(n), 1.0 * (np.arange(n) < 20))[turn // 2]
        f = plain_constraint(u, group, kind)
        found = foeir(u, group, weights, kind)
        check(found, u, f / np.abs(f).max(), weights)
        # Any mu bounds the optimum: max_e (u + mu f) . e. Its least value is at most what a fine search finds.
        bounds = [np.sort(u + mu * f)[::-1] @ weights for mu in dual_search(u, f, weights)]
        assert found.utility <= min(bounds) + 1e-12 * n
        assert found.utility == pytest.approx(min(bounds), rel=1e-9)


def dual_search(u: np.ndarray, f: np.ndarray, weights: np.ndarray) -> list[float]:
    """Return the points of a golden-section search on the dual."""
    low, high, points = -1e3 / np.abs(f).max(), 1e3 / np.abs(f).max(), []
    for _ in range(120):
        one, other = high - (high - low) / 1.618034, low + (high - low) / 1.618034
        points += [one, other]
        if np.sort(u + one * f)[::-1] @ weights < np.sort(u + other * f)[::-1] @ weights:
            high = other
        else:
            low = one
    return points


def test_a_constraint_that_holds_already() -> None:
    found = foeir([1.0, 0.0, 1.0, 0.0], [0, 0, 1, 1], [0.6, 0.5, 0.4, 0.3], "parity")
    assert found.utility == pytest.approx(1.1)
    np.testing.assert_allclose(found.exposure[[0, 1]].sum(), found.exposure[[2, 3]].sum(), atol=1e-15)
    alone = foeir([3.0, 2.0, 1.0, 0.5], [0, 1, 1, 0], [0.5, 0.4, 0.4, 0.3], "parity")
    assert alone.weights.tolist() == [1.0]
    assert alone.rankings.tolist() == [[0, 1, 2, 3]]
    for weights in ([0.3] * 4, [0.0]):  # nothing to decide
        flat = foeir([3.0, 2.0, 1.0, 0.5], [0, 1, 1, 1], weights, "parity")
        np.testing.assert_array_equal(flat.exposure, weights[:1] * 4)
    two = foeir([0.9, 0.1], [1, 0], [1.0, 0.5], "parity")
    np.testing.assert_allclose(two.exposure, 0.75)
    np.testing.assert_allclose(two.weights, 0.5)


def test_infeasible_constraints_say_how_near_one_comes() -> None:
    # Merit 0.9 to 0.1, exposure at most 1 to 0.5: exposure per merit of group 1 is at least 4.5 times that of group 0.
    with pytest.raises(InfeasibleError, match=r"the exposure per merit of group 0 is at most 0\.222222 times that of"):
        foeir([0.9, 0.1], [0, 1], [1.0, 0.5], "treatment")
    with pytest.raises(InfeasibleError, match=r"the exposure per merit of group 0 is at least 4\.5 times that of"):
        foeir([0.9, 0.1], [1, 0], [1.0, 0.5], "treatment")
    rng = np.random.default_rng(0)
    u, group = np.append(rng.random(50) + 0.1, [40.0, 50.0]), np.repeat([0, 1], [50, 2])
    weights = 0.98 ** np.arange(52)
    ratio = weights[2:].mean() / u[:50].mean() / (weights[:2].mean() / 45)
    with pytest.raises(InfeasibleError, match=f"of group 0 is at least {ratio:.6g} times that of group 1"):
        foeir(u, group, weights, "treatment")


def test_wrong_arguments() -> None:
    u, weights = [0.5, 0.4, 0.3], [1.0, 0.5]
    for groups, text in (
        ([0, 1], r"groups: found an array of shape \(2,\); expected \(3,\)"),
        ([0, 1, 2], "groups: found .*2.* at 2; expected 0 or 1"),
        ([0, 0, 0], "groups: found no document of group 1; expected documents of both"),
        ([1, 1, 1], "no document of group 0"),
        (["a", "b", "a"], "expected 0 or 1"),
    ):
        with pytest.raises(ValueError, match=text):
            foeir(u, groups, weights, "parity")
    with pytest.raises(ValueError, match="no document of group 0"):
        foeir([], [], weights, "parity")
    with pytest.raises(ValueError, match="constraint: found 'equal'; expected one of parity, treatment, impact"):
        foeir(u, [0, 1, 0], weights, "equal")
    for kind in ("treatment", "impact"):
        with pytest.raises(ValueError, match="relevance: found mean 0 in group 1; expected a positive mean"):
            foeir([0.5, 0.0, 0.3], [0, 1, 0], weights, kind)
    assert foeir([0.5, 0.0, 0.3], [False, True, False], weights, "parity").utility > 0
    with pytest.raises(ValueError, match="relevance: found nan at 1"):
        foeir([0.5, np.nan, 0.3], [0, 1, 0], weights, "parity")


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", KINDS)
def test_optima_of_the_oracle(shared: Path, kind: str) -> None:
    oracle = json.loads((shared / "oracles/algorithms/foeir.json").read_text())
    for case in oracle["cases"]:
        u, group, weights = (np.array(case[name]) for name in ("u", "group", "v"))
        found = foeir(u, group, weights, kind)
        check(found, u, plain_constraint(u, group, kind), weights)
        assert found.utility == pytest.approx(case["optimum"][KINDS[kind]]["dcg"], abs=1e-9)
    example = oracle["singh_joachims_2018_example_u=.82...77"]
    for name, expected in example["results"].items():
        if name.endswith(KINDS[kind]):
            weights = 1 / (np.log2 if "log2" in name else np.log)(np.arange(2, 8))
            found = foeir(example["u"], example["group"], weights, kind)
            assert found.utility == pytest.approx(expected["dcg"], abs=1e-9)


@pytest.mark.parametrize(("kind", "utility"), [("parity", 3.8031), ("treatment", 3.8044), ("impact", 3.8031)])
def test_the_published_example(kind: str, utility: float) -> None:
    u, group = np.linspace(0.82, 0.77, 6), np.repeat([0, 1], 3)
    assert foeir(u, group, 1 / np.log(np.arange(2, 8)), kind).utility == pytest.approx(utility, abs=5e-5)
