"""What holds for one kind of policy each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_worlds import every_ranking, matrices, rows, sequential_log_prob, streams

from rerankers.exposure import GERR, RBP, equal_exposure_target, pl_rank_marginals
from rerankers.exposure.objectives import expected_exposure
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import equal_exposure
from rerankers.policies import GradeShuffle, Mixture, PlackettLuce, sample_plackett_luce, static, zscore
from rerankers.policies.logits import bounded
from rerankers.values import Rankings

RNG = np.random.default_rng(9)
SCORES = st.lists(st.floats(-60, 60) | st.just(-np.inf) | st.floats(-2000, 2000), min_size=1, max_size=5)


@given(SCORES, st.integers(0, 5))
def test_log_prob_is_the_sequential_one(scores: list[float], k: int) -> None:
    score, k = np.array(scores), min(k, len(scores))
    rankings = every_ranking(len(score), k)
    expected = [sequential_log_prob(score, order) for order in matrices(rankings)[0]]
    found = PlackettLuce(rows([len(score)]), score, streams(1)).log_prob(rankings)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_long_shots_keep_their_log_probability() -> None:
    policy = PlackettLuce(rows([2]), np.array([0.0, -5000.0]), streams(1))
    np.testing.assert_allclose(policy.log_prob(every_ranking(2)), [0, -5000])


def test_marginals_of_draws() -> None:
    score = np.array([1.0, 0.0, -1.0, 3.0, 0.5, -np.inf, -np.inf])
    draws = 40_000
    order = sample_plackett_luce(score, 7, draws, seed=11)
    found = np.stack([(order == doc).mean(axis=0) for doc in range(7)])
    exact = pl_rank_marginals(score, 7)
    error = np.sqrt(exact * (1 - exact) / draws)
    assert np.abs((found - exact)[error > 0] / error[error > 0]).max() < 5
    np.testing.assert_allclose(found[error < 1e-12], exact[error < 1e-12], atol=1e-12)


def test_very_large_scores_still_shuffle_ties() -> None:
    order = sample_plackett_luce([1e18, 0.0, 0.0, -np.inf, -np.inf], 5, 400, seed=1)
    assert np.all(order[:, 0] == 0)
    assert 150 < np.sum(order[:, 1] == 1) < 250
    assert 150 < np.sum(order[:, 3] == 3) < 250
    assert set(order[:, 3]) == {3, 4}


@given(SCORES)
def test_bounded_logits_keep_what_can_happen(scores: list[float]) -> None:
    score = np.array(scores)
    found = bounded(score)
    assert found.max() == 0
    assert np.all(np.isfinite(found))
    order = np.argsort(-score, kind="stable")
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(-np.diff(score[order]), nan=0.0)
    kept = -np.diff(found[order])
    if score.min() >= score.max() - 700:
        np.testing.assert_allclose(kept, gap, atol=1e-9)
    else:
        np.testing.assert_allclose(kept, np.minimum(gap, 50), atol=1e-9)


def test_sample_plackett_luce() -> None:
    order = sample_plackett_luce([0.3, 2.0, 1.0], 2, 5, seed=7)
    assert order.shape == (5, 2)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(sample_plackett_luce([0.3, 2.0, 1.0], 3, 9, seed=7)[:5, :2], order)
    np.testing.assert_array_equal(sample_plackett_luce([0.0, 100.0, -100.0], 3, 2, seed=7), [[1, 0, 2]] * 2)
    for k in (0, 4):
        with pytest.raises(ValueError, match="k: found"):
            sample_plackett_luce([0.3, 2.0, 1.0], k, 5, seed=7)
    with pytest.raises(ValueError, match="scores: found nan"):
        sample_plackett_luce([np.nan], 1, 1, seed=7)


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_the_ideal_policy_meets_the_target(grades: list[int], p: float, u: float) -> None:
    over, level = rows([len(grades)]), np.maximum(grades, 0)
    policy = GradeShuffle(over, level, streams(1))
    for spec in (RBP(p), GERR(p, u), GERR(p, u, cutoff=5)):
        target = equal_exposure_target(grades, spec)
        value = policy.exposure(spec.bind(grades, over.indptr)).value
        assert expected_exposure(value, target, over.indptr).EEL[0] == 0


def test_the_worst_first_and_the_uniform_policy() -> None:
    over, grade = rows([5]), np.array([0, 2, 1, 0, 1])
    worst = GradeShuffle(over, -grade, streams(1))
    for order in matrices(worst.sample(50, seed=0))[0]:
        assert np.all(np.diff(grade[order]) >= 0)
    uniform = GradeShuffle(over, np.zeros(5), streams(1)).exposure(RBP(0.5).bind(None, over.indptr)).value
    np.testing.assert_allclose(uniform, 1.9375 / 5, rtol=1e-15)
    equal = PlackettLuce(over, np.full(5, 7.0), streams(1)).exposure(RBP(0.5).bind(None, over.indptr)).value
    np.testing.assert_allclose(equal, uniform, rtol=1e-14)


def test_levels_never_mix_even_when_there_are_many() -> None:
    n = 5000
    level = RNG.permutation(n) // 2
    order = np.array(matrices(GradeShuffle(rows([n]), level, streams(1)).sample(20, seed=0))[0])
    assert np.all(np.diff(level[order], axis=1) <= 0)
    swapped = (order[:, 0::2] < order[:, 1::2]).mean(axis=0)
    assert 0.4 < swapped.mean() < 0.6


def test_mixture_draws_by_weight() -> None:
    over = rows([3, 2])
    given_rankings = Rankings(
        over,
        np.array([0, 3, 4]),
        np.array([0, 3, 4, 6, 8]),
        np.array([0, 1, 2, 1, 2, 1, 1, 0], dtype=np.int32),
        np.array([0.2, 0.5, 0.3, 1.0]),
        np.array([0, 1, 2, 0], dtype=np.int32),
    )
    policy = Mixture(given_rankings, streams(2))
    drawn = matrices(policy.sample(20_000, seed=3))
    for order, weight in (([0, 1, 2], 0.2), ([1], 0.5), ([2, 1], 0.3)):
        share = sum(found == order for found in drawn[0]) / 20_000
        assert abs(share - weight) < 5 * np.sqrt(weight * (1 - weight) / 20_000)
    assert all(found == [1, 0] for found in drawn[1])
    asked = Rankings.of_matrix(over, [np.array([[1], [0], [2]]), np.array([[1], [0], [1]])])
    np.testing.assert_allclose(np.exp(policy.log_prob(asked)), [0.5, 0.2, 0.3, 1, 0, 1])
    browsing = RBP(0.5).bind(None, over.indptr)
    np.testing.assert_array_equal(policy.exposure(browsing).value, exposure_of(given_rankings, browsing).value)
    with pytest.raises(ValueError, match="one digest a row"):
        Mixture(given_rankings)
    with pytest.raises(ValueError, match="sum 1"):
        Mixture(replace(given_rankings, weight=np.array([0.2, 0.5, 0.2, 1.0])), streams(2))
    with pytest.raises(ValueError, match="none in row 1"):
        Mixture(Rankings.of_matrix(over, [np.array([[0, 1, 2]]), np.empty((0, 2), int)]), streams(2))


def test_static_rankings() -> None:
    over = rows([3, 0, 2])
    assert matrices(static(over).sample(2, seed=0)) == [[[0, 1, 2]] * 2, [[]] * 2, [[0, 1]] * 2]
    by_score = static(over, np.array([1.0, 3.0, 1.0, 0.0, 5.0]), streams(3))
    assert matrices(by_score.sample(1, seed=9, depth=2)) == [[[1, 0]], [[]], [[1, 0]]]
    np.testing.assert_array_equal(by_score.exposure(RBP(0.5).bind(None, over.indptr)).value, [0.5, 1, 0.25, 0.5, 1])
    np.testing.assert_array_equal(by_score.log_prob(by_score.sample(2, seed=1)), np.zeros(6))
    with pytest.raises(ValueError, match="score: found"):
        static(over, np.array([1.0, np.nan, 1.0, 0.0, 5.0]))


def test_zscore() -> None:
    over = rows([3, 0, 1, 4, 2])
    values = np.array([1.0, 2.0, 6.0, 9.0, 0.1, 0.1, 0.1, 0.1, 1e300, -1e300])
    found = zscore(over.indptr, values)
    np.testing.assert_allclose(found[:3], (values[:3] - 3) / np.std(values[:3]), rtol=1e-14)
    np.testing.assert_array_equal(found[3:], [0, 0, 0, 0, 0, 1, -1])
    np.testing.assert_allclose(zscore(over.indptr, values * 1e-9)[:3], found[:3], rtol=1e-14)
    assert zscore(np.array([0]), np.empty(0)).shape == (0,)


def test_wrong_policies() -> None:
    over = rows([2])
    with pytest.raises(ValueError, match="logit: found nan"):
        PlackettLuce(over, np.array([0, np.nan]), streams(1))
    with pytest.raises(ValueError, match="one value a document"):
        PlackettLuce(over, np.zeros(3), streams(1))
    with pytest.raises(ValueError, match="one digest a row"):
        PlackettLuce(over, np.zeros(2), streams(2))
    with pytest.raises(ValueError, match="not finite"):
        GradeShuffle(over, np.array([0, np.inf]), streams(1))


def test_blocks_agree_with_single_rows() -> None:
    over = rows([6, 9])
    score, grade = RNG.normal(size=15), RNG.integers(0, 2, 15)
    spec = GERR(0.8, 0.5)
    browsing = spec.bind(grade, over.indptr)
    exposure = PlackettLuce(over, score, streams(2)).exposure(browsing)
    assert exposure.exact
    assert exposure.square is None
    target = equal_exposure(over.indptr, grade, browsing)
    np.testing.assert_array_equal(target[:6], equal_exposure_target(grade[:6], spec))
