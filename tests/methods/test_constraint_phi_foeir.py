"""Phi-fair ranking against enumeration and the linear program, FOEIR against the stored optima."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from constraint_worlds import exposure_by_rank, rankings_of, world
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError, InfeasibleError
from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet
from rerankers.methods.foeir import Foeir, positions
from rerankers.methods.phi_fair import PhiFair, mixed
from rerankers.methods.prefixes.merit import fair_prefixes, merit_prefixes

RHO = st.lists(st.sampled_from([0.0, 1e-9, 0.1, 0.3, 0.5, 0.5, 0.8, 1.0]), min_size=1, max_size=6)


def enumerated(rho: np.ndarray) -> np.ndarray:
    """Return the probability that merit has a document among the first 1..n, over all labellings."""
    n = len(rho)
    at_rank = np.zeros((n, n))
    for labels in itertools.product((0, 1), repeat=n):
        chance = math.prod(r if one else 1 - r for r, one in zip(rho, labels, strict=True))
        relevant = sum(labels)
        for d, one in enumerate(labels):
            own = slice(0, relevant) if one else slice(relevant, n)
            at_rank[d, own] += chance / (own.stop - own.start)
    return np.cumsum(at_rank, axis=1)


def program(rho: np.ndarray, merit: np.ndarray, phi: float, weight: np.ndarray) -> float:
    """Return the greatest utility over doubly stochastic matrices with phi-fair prefixes (HiGHS)."""
    n = len(rho)
    cells = np.eye(n * n).reshape(n * n, n, n)
    equal = np.concatenate([cells.sum(axis=2).T, cells.sum(axis=1).T])
    prefixes = np.cumsum(cells, axis=2).reshape(n * n, n * n).T
    found = linprog(
        -np.outer(rho, weight).ravel(), -prefixes, -phi * merit.ravel(), equal, np.ones(2 * n), method="highs"
    )
    assert found.status == 0, found.message
    return float(-found.fun)


@given(rho=RHO)
def test_merit_by_enumeration(rho: list[float]) -> None:
    value = np.array(rho)
    np.testing.assert_allclose(merit_prefixes(value, len(rho)), enumerated(value), atol=1e-14)
    np.testing.assert_allclose(merit_prefixes(value, 1), enumerated(value)[:, :1], atol=1e-14)


def test_merit_of_many() -> None:
    for rho in (np.full(1500, 0.3), np.linspace(0.0, 1.0, 800), np.repeat([0.0, 1.0], 300)):
        prefixes = merit_prefixes(rho, 200)
        np.testing.assert_allclose(prefixes.sum(axis=0), np.arange(1, 201), rtol=1e-11)
    np.testing.assert_allclose(prefixes[300:, 0], 1 / 300, rtol=1e-11)


@settings(max_examples=25)
@given(rho=RHO, phi=st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
@example(rho=[0.0, 1e-09, 0.3], phi=0.0)
def test_best_of_all_fair_policies_for_all_position_weights(rho: list[float], phi: float) -> None:
    value = np.sort(np.array(rho))[::-1]
    n = len(value)
    merit = merit_prefixes(value, n)
    prefixes = fair_prefixes(value, merit, phi)
    at_rank = np.diff(prefixes, axis=1, prepend=0.0)
    assert np.all(at_rank >= 0.0)
    np.testing.assert_allclose(at_rank.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(at_rank.sum(axis=1), 1.0, atol=1e-12)
    assert np.all(prefixes >= phi * merit - 1e-14)
    rank = np.arange(n)
    for weight in (1 / np.log2(rank + 2), 0.5**rank, (rank < 2).astype(float)):
        got, best = float(value @ at_rank @ weight), program(value, merit, phi, weight)
        assert got >= best - 1e-9
        assert got == pytest.approx(best, abs=1e-8)  # the solver takes relevances that differ by 1e-9 for equal


@settings(max_examples=40)
@given(rho=RHO, phi=st.sampled_from([0.3, 0.7, 1.0]), cutoff=st.integers(1, 6))
def test_rankings_have_the_probabilities(rho: list[float], phi: float, cutoff: int) -> None:
    value = np.sort(np.array(rho))[::-1]
    n = len(value)
    prefixes = fair_prefixes(value, merit_prefixes(value, min(cutoff, n)), phi)
    weight, rankings = mixed(prefixes)
    assert weight.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.all(weight > 0.0)
    reached = np.zeros_like(prefixes)
    for chance, ranking in zip(weight, rankings.tolist(), strict=True):
        assert sorted(ranking) == list(range(n))
        assert ranking[cutoff:] == sorted(ranking[cutoff:]), "the others by probability"
        for rank, d in enumerate(ranking[:cutoff]):
            reached[d, rank:] += chance
    np.testing.assert_allclose(reached, prefixes, atol=1e-12)


def test_a_hundred_documents() -> None:
    rho = np.sort(np.random.default_rng(2).beta(0.5, 3.0, 100))[::-1]
    part = block([rho.tolist()], {}, [rho.tolist()])
    policy, counts = PhiFair(0.8).counted(part)
    assert 20 < counts["rankings"] <= 100 * 21
    at_rank = np.array([exposure_by_rank(policy, (np.arange(100) == r).astype(float)) for r in range(20)])
    slack = np.cumsum(at_rank, axis=0).T - 0.8 * merit_prefixes(rho, 20)
    assert slack.min() >= -1e-10


def test_ends_of_phi_and_utility_between() -> None:
    rho = [0.9, 0.6, 0.5, 0.1]
    part = block([[1.0, 4.0, 3.0, 2.0]], {}, [rho])
    weight = 1 / np.log2(np.arange(4) + 2)
    assert rankings_of(PhiFair(0.0).policy(part)) == [[0, 1, 2, 3]]
    utility = [float(np.array(rho) @ exposure_by_rank(PhiFair(phi).policy(part), weight)) for phi in (0, 0.3, 0.7, 1)]
    assert np.all(np.diff(utility) < 0)
    thompson = np.diff(enumerated(np.array(rho)), axis=1, prepend=0.0) @ weight
    np.testing.assert_allclose(exposure_by_rank(PhiFair(1.0).policy(part), weight), thompson, atol=1e-12)
    merit = np.array([enumerated(np.array(rho))[d, 0] for d in range(4)])
    mixture = 0.5 * thompson + 0.5 * weight  # the published shortcut is fair as well, but not as useful
    assert float(np.array(rho) @ mixture) < float(np.array(rho) @ exposure_by_rank(PhiFair(0.5).policy(part), weight))
    assert merit.sum() == pytest.approx(1.0)
    for options in ({"phi": 1.1}, {"phi": math.nan}, {"cutoff": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            PhiFair(**options)


@pytest.mark.shared_data
def test_foeir_optima(shared: Path) -> None:
    names = {"parity": "demographic_parity", "treatment": "disparate_treatment", "impact": "disparate_impact"}
    solved = 0
    for case in json.loads((shared / "oracles" / "algorithms" / "foeir.json").read_text())["cases"]:
        labels = ["A" if group == 0 else "B" for group in case["group"]]
        model = Positions(tuple(case["v"]))
        part = block([case["u"]], {"g": alignment("g", labels, names="AB")}, [case["u"]], browsing=model)
        for constraint, name in names.items():
            optimum = case["optimum"].get(name)
            if optimum is None or "dcg" not in optimum:
                continue
            exposure = exposure_by_rank(Foeir(constraint).policy(part), np.array(case["v"]))
            assert float(np.array(case["u"]) @ exposure) == pytest.approx(optimum["dcg"], abs=1e-9)
            u, first = np.array(case["u"]), np.array(case["group"]) == 0
            worth = exposure * u if constraint == "impact" else exposure
            sides = [worth[own].mean() / (1.0 if constraint == "parity" else u[own].mean()) for own in (first, ~first)]
            assert sides[0] == pytest.approx(sides[1], abs=1e-9)
            solved += 1
    assert solved >= 10


def test_foeir_where_it_is_infeasible() -> None:
    groups = {"g": alignment("g", list("AAABBB"))}
    rho = [0.9, 0.9, 0.9, 0.001, 0.001, 0.001]
    part = block([rho], groups, [rho], browsing=DCG())
    with pytest.raises(InfeasibleError, match=r"row 0: .*exposure per merit of group 0.*method.infeasible=parity"):
        Foeir("treatment").policy(part)
    policy, counts = Foeir("treatment", infeasible="parity").counted(part)
    assert counts == {"rows_infeasible": 1}
    exposure = exposure_by_rank(policy, 1 / np.log2(np.arange(6) + 2))
    assert exposure[:3].mean() == pytest.approx(exposure[3:].mean(), abs=1e-12)
    nobody = block([rho], groups, [[0.9, 0.9, 0.9, 0.0, 0.0, 0.0]], browsing=DCG())
    with pytest.raises(InfeasibleError, match="without any expected relevance"):
        Foeir("impact").policy(nobody)
    assert Foeir("impact", infeasible="parity").counted(nobody)[1] == {"rows_infeasible": 1}


def test_foeir_groups() -> None:
    three = block([[3.0, 2.0, 1.0]], {"g": alignment("g", list("ABC"))}, browsing=RBP(0.8))
    with pytest.raises(ConfigError, match=r"method.group: found null; expected one of the groups A, B, C"):
        Foeir().policy(three)
    exposure = exposure_by_rank(Foeir(group="C").policy(three), 0.8 ** np.arange(3))
    assert exposure[2] == pytest.approx(exposure[:2].mean(), abs=1e-12)
    part = world([[4.0, 3.0, 2.0, 1.0], [1.0]], ["A", None, "B", "A"])
    policy, counts = Foeir().counted(part)
    assert counts == {"rows_of_one_group": 1, "documents_left_in_place": 1}
    assert all(ranking[1] == 1 for ranking in rankings_of(policy)), "unknown ones keep their ranks"
    exposure = exposure_by_rank(policy, 1 / np.log2(np.arange(4) + 2))
    assert exposure[[0, 3]].mean() == pytest.approx(exposure[2], abs=1e-12)
    exposure = exposure_by_rank(Foeir(group="A", unknown="other").policy(part), 1 / np.log2(np.arange(4) + 2))
    assert exposure[[0, 3]].mean() == pytest.approx(exposure[[1, 2]].mean(), abs=1e-12)
    with pytest.raises(ConfigError, match=r"method\.unknown: found other without"):
        Foeir(unknown="other")


def test_foeir_needs_positions() -> None:
    for model in (GERR(), ERR(max_grade=1), Cascade(np.array([0.5, 0.5]))):
        with pytest.raises(ConfigError, match=r"browsing: found .* ranks alone for method=foeir"):
            Foeir().policy(world([[2.0, 1.0]], ["A", "B"], browsing=model))
    with pytest.raises(ConfigError, match="browsing: found gerr"):
        Foeir().policy(world([[2.0, 1.0]], ["A", "B"], browsing=None))
    for model in (RBP(0.8), RBP(0.8, cutoff=2), DCG(), DCG(cutoff=3), TopKSet(2), Positions((1.0, 0.5))):
        bound = model.bind(None, np.array([0, 4]))
        weight = np.ones(4) if bound.position is None else bound.position
        plain = [weight[r] * math.prod(bound.continuation[:r]) for r in range(4)]
        np.testing.assert_allclose(positions(model, 4), plain, rtol=1e-15)
    assert positions(DCG(), 0).tolist() == []
