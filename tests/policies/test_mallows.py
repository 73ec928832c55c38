"""Mallows policies: enumeration, recursions against twins, limits, wrong arguments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mallows_worlds import LENGTHS, chances, mallows
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet, pl_exposure
from rerankers.exposure.rankings import exposure_of
from rerankers.policies._insertion import mallows_rank_marginals
from rerankers.policies.mallows import Mallows
from rerankers.values import Rankings

RNG = np.random.default_rng(17)
DISPERSIONS = st.sampled_from([0.0, 1e-300, 1e-18, 1e-9, 0.03, 0.5, 1.0, 3.0, 40.0, 800.0, np.inf])


@given(st.integers(1, 5), DISPERSIONS)
def test_log_prob_is_the_definition(n: int, dispersion: float) -> None:
    policy = mallows([n], dispersion)
    chance = chances(policy)
    np.testing.assert_allclose(np.exp(policy.log_prob(every_ranking(n))), chance, rtol=1e-12, atol=1e-300)
    whole = matrices(every_ranking(n))[0]
    for k in range(n):  # of a beginning, that of all rankings with it
        begun = [
            sum(c for c, o in zip(chance, whole, strict=True) if o[:k] == b) for b in matrices(every_ranking(n, k))[0]
        ]
        np.testing.assert_allclose(np.exp(policy.log_prob(every_ranking(n, k))), begun, rtol=1e-12, atol=1e-300)


SPECS = st.one_of(
    st.sampled_from([RBP(0.0), RBP(0.7), RBP(1.0), RBP(0.9, cutoff=3), DCG(), DCG(2), TopKSet(2), ERR(max_grade=2)]),
    st.sampled_from([GERR(0.9, 0.5), GERR(0.9, 0.5, cutoff=3), Positions((1.0, 0.9, 0.0)), Positions((0.0,))]),
)


@given(st.integers(1, 6), DISPERSIONS, SPECS, st.integers(0, 2**32 - 1))
def test_exposure_is_that_of_all_rankings(n: int, dispersion: float, spec: object, seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = mallows([n], dispersion)
    weighted = replace(every_ranking(n), weight=chances(policy))
    browsing = spec.bind(rng.integers(0, 3, n), policy.over.indptr)  # type: ignore[attr-defined]
    exposure = policy.exposure(browsing)
    assert exposure.exact
    assert exposure.over is policy.over
    np.testing.assert_allclose(exposure.value, exposure_of(weighted, browsing).value, rtol=0, atol=2e-14)


@given(st.integers(1, 6), DISPERSIONS, st.integers(0, 2**32 - 1), st.booleans())
def test_unequal_continuations_are_exact_too(n: int, dispersion: float, seed: int, weighted_ranks: bool) -> None:
    rng = np.random.default_rng(seed)
    continuation = rng.choice([0, 1, 0.25, 1e-12, rng.random()], size=n)
    position = np.sort(rng.random(n))[::-1] if weighted_ranks else None
    policy = mallows([n], dispersion)
    browsing = Cascade(continuation, position).bind(None, policy.over.indptr)
    weighted = replace(every_ranking(n), weight=chances(policy))
    expected = exposure_of(weighted, browsing).value
    np.testing.assert_allclose(policy.exposure(browsing).value, expected, rtol=0, atol=2e-14)


def plain_insertion_exposure(continuation: np.ndarray, position: np.ndarray, dispersion: float) -> np.ndarray:
    """Follow one document through the insertions of the others, with the exposure it will have: O(n^3)."""
    n, q = len(continuation), np.exp(-dispersion)
    chance = [
        q ** (m - np.arange(m + 1.0)) / np.sum(q ** np.arange(m + 1.0)) for m in range(n)
    ]  # of rank a among m + 1
    exposure = np.zeros(n)
    for doc in range(n):
        passed = np.zeros(n + 1)  # by the number of documents above: their continuations, times the chance of it
        passed[0] = 1.0
        for m in range(doc):  # above the slot where the document will be put
            upto = np.cumsum(chance[m])
            before = passed.copy()
            for a in range(1, m + 2):
                passed[a] = before[a] * (1 - upto[a - 1]) + before[a - 1] * continuation[m] * upto[a - 1]
        at = passed[: doc + 1] * chance[doc]
        for m in range(doc + 1, n):
            upto = np.cumsum(chance[m])[:m]
            at = np.append(at * (1 - upto), 0) + np.append(0, at * continuation[m] * upto)
        exposure[doc] = at @ position
    return exposure


@pytest.mark.parametrize("dispersion", [0.0, 0.01, 0.2, 2.0])
def test_longer_rows_against_the_plain_recursion(dispersion: float) -> None:
    n = 90
    continuation, position = RNG.uniform(0.5, 1, n), np.sort(RNG.random(n))[::-1]
    policy = Mallows(rows([n]), np.arange(n, dtype=np.int32), np.array([dispersion]), streams(1))
    for weight in (position, np.ones(n)):
        found = policy.exposure(Cascade(continuation, weight).bind(None, policy.over.indptr)).value
        np.testing.assert_allclose(found, plain_insertion_exposure(continuation, weight, dispersion), rtol=1e-11)


@settings(max_examples=30)
@given(st.integers(1, 150), DISPERSIONS, st.integers(0, 2**32 - 1))
def test_identities(n: int, dispersion: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = mallows([n], dispersion)
    continuation = rng.choice([0, 1, 0.9, rng.random()], size=n)

    def value(spec: object) -> np.ndarray:
        return policy.exposure(spec.bind(None, policy.over.indptr)).value  # type: ignore[attr-defined]

    total = np.sum((1 - continuation) * value(Cascade(continuation)))
    assert total == pytest.approx(1 - np.prod(continuation), abs=1e-13)
    np.testing.assert_allclose(value(Cascade(np.ones(n))), 1, rtol=1e-12)
    assert value(DCG()).sum() == pytest.approx(np.sum(1 / np.log2(np.arange(n) + 2)), rel=1e-12)
    place = np.exp(-(dispersion if np.isfinite(dispersion) else 1e3) * np.arange(n))
    np.testing.assert_allclose(value(TopKSet(1))[policy.order], place / place.sum(), rtol=1e-12, atol=1e-300)
    geometric = Positions(tuple(0.8 ** np.arange(n)))
    np.testing.assert_allclose(value(geometric), value(RBP(0.8)), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(value(Cascade(np.full(n, 0.9), cutoff=5)), value(RBP(0.9, cutoff=5)), rtol=1e-12)


def test_limits_of_the_dispersion() -> None:
    n = 30
    for spec in (RBP(0.8), GERR(0.9, 0.5), DCG(5)):
        for dispersion, logit in ((0.0, np.zeros(n)), (np.inf, None)):
            policy = mallows([n], dispersion)
            grade = RNG.integers(0, 2, n)
            logit = -5000.0 * np.argsort(policy.order) if logit is None else logit
            found = policy.exposure(spec.bind(grade, policy.over.indptr)).value
            np.testing.assert_allclose(found, pl_exposure(logit, spec, grade), rtol=1e-12, atol=1e-16)
    static = mallows(LENGTHS, np.inf)
    drawn = static.sample(3, seed=0)
    np.testing.assert_array_equal(drawn.item.reshape(-1)[:4], static.order[:4])
    np.testing.assert_array_equal(static.log_prob(drawn), np.zeros(15))
    other = Rankings.of_matrix(static.over, [static.order[[[1, 0, 2, 3]]], *[np.empty((0, 1), int)] * 4])
    assert static.log_prob(other)[0] == -np.inf
    assert matrices(static.schedule(3, seed=0)) == matrices(drawn)


@pytest.mark.parametrize(("n", "dispersion"), [(1, 0.0), (5, 0.7), (40, 0.1), (40, 1e-300), (40, np.inf)])
def test_rank_marginals(n: int, dispersion: float) -> None:
    marginals = mallows_rank_marginals(n, dispersion, n + 2)
    np.testing.assert_array_equal(marginals[:, n:], 0)
    inside = marginals[:, :n]
    np.testing.assert_allclose(inside.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(inside.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(inside, inside[::-1, ::-1], rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(inside, inside.T, rtol=1e-11, atol=1e-300)  # the distance is that of the inverses
    if n == 5:
        policy = Mallows(rows([5]), np.arange(5, dtype=np.int32), np.array([dispersion]), streams(1))
        orders, chance = np.array(matrices(every_ranking(5))[0]), chances(policy)
        expected = [[chance[orders[:, rank] == doc].sum() for rank in range(5)] for doc in range(5)]
        np.testing.assert_allclose(inside, expected, rtol=1e-13)
    with pytest.raises(ValueError, match="dispersion: found nan"):
        mallows_rank_marginals(3, np.nan, 1)
    with pytest.raises(ValueError, match="k: found 0"):
        mallows_rank_marginals(3, 1.0, 0)


def test_by_score() -> None:
    over, score = rows([3, 0, 2]), np.array([1.0, 3.0, 1.0, 0.0, np.inf])
    policy = Mallows.by_score(over, score, 0.5, streams(3))
    assert policy.order.tolist() == [1, 0, 2, 1, 0]
    assert policy.dispersion.tolist() == [0.5] * 3
    assert Mallows.by_score(over, score, [0, 1, 2], streams(3)).dispersion.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="score: found"):
        Mallows.by_score(over, np.array([1.0, np.nan, 1.0, 0.0, 5.0]), 0.5, streams(3))


def test_wrong_arguments() -> None:
    over, order, theta = rows([2, 1]), np.array([1, 0, 0]), np.ones(2)
    for wrong in ([0, 0, 0], [0, 2, 0], [-1, 1, 0]):
        with pytest.raises(ValueError, match="no permutation in row 0"):
            Mallows(over, np.array(wrong), theta, streams(2))
    with pytest.raises(ValueError, match="one value a document"):
        Mallows(over, np.arange(2), theta, streams(2))
    with pytest.raises(ValueError, match="float64; expected whole numbers"):
        Mallows(over, np.zeros(3), theta, streams(2))
    with pytest.raises(ValueError, match="one a row"):
        Mallows(over, order, np.ones(3), streams(2))
    with pytest.raises(ValueError, match="one digest a row"):
        Mallows(over, order, theta, streams(1))
    for value in (-1.0, np.nan):
        with pytest.raises(ValueError, match=f"dispersion: found {value}"):
            Mallows(over, order, np.array([1.0, value]), streams(2))
    policy = Mallows(over, order, theta, streams(2))
    with pytest.raises(ValueError, match=r"(n|first|depth): found"):
        policy.sample(-1, seed=0)
    with pytest.raises(ValueError, match="twice"):
        policy.log_prob(Rankings.of_matrix(over, [np.array([[0, 0]]), np.empty((0, 1), int)]))
    with pytest.raises(ValueError, match="other rows"):
        policy.log_prob(Rankings.of_matrix(rows([2]), [np.array([[0, 1]])]))
