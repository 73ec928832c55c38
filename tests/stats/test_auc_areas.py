"""AUC: every contest counted one by one, scipy's bootstrap on the same resamples, DeLong's formula, odd data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import generator
from rerankers.stats.auc import per_query_auc, pooled_auc, roc_auc
from rerankers.stats.contests import Contests

RNG = np.random.default_rng(11)


def brute(score: np.ndarray, relevant: np.ndarray) -> float:
    """Return the share of contests won, each of them looked at."""
    good, rest = score[relevant][:, None], score[~relevant]
    won = (good > rest) + (good == rest) / 2
    return float(np.mean(won)) if won.size else float("nan")


def world(rows: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    lengths = draw.integers(max(size - 3, 0), size + 4, rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    level = np.repeat(draw.normal(size=rows), lengths)
    score = np.round(draw.normal(size=indptr[-1]) + 0.7 * level, 1)
    return score, draw.random(indptr[-1]) < 1 / (1 + np.exp(-score)), indptr


rows_of_pairs = st.lists(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), max_size=7), min_size=0, max_size=6)


@settings(max_examples=150)
@given(rows_of_pairs, st.randoms(use_true_random=False))
def test_areas_are_shares_of_contests(rows: list[list[tuple[int, bool]]], shuffle) -> None:  # type: ignore[no-untyped-def]
    flat = [pair for row in rows for pair in row]
    score = np.array([pair[0] for pair in flat], dtype=float)
    relevant = np.array([pair[1] for pair in flat], dtype=bool)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    np.testing.assert_allclose(pooled_auc(score, relevant), brute(score, relevant), rtol=1e-14)
    expected = [brute(score[a:b], relevant[a:b]) for a, b in itertools.pairwise(indptr)]
    np.testing.assert_allclose(per_query_auc(score, relevant, indptr), expected, rtol=1e-14)
    order = list(range(len(flat)))
    shuffle.shuffle(order)
    assert pooled_auc(score[order], relevant[order]) == pytest.approx(brute(score, relevant), rel=1e-14, nan_ok=True)
    found = roc_auc(score, relevant, indptr, resamples=20)
    for interval in (found.pooled, found.within):
        assert (interval.mean is None) == (interval.reason == "no_value")
        assert interval.low is None or 0 <= interval.low <= interval.high <= 1


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scipy_on_the_same_resamples(method: str, name: str, seed: int) -> None:
    score, relevant, indptr = world(14, 9, seed)

    def area(rows: np.ndarray) -> float:
        pick = np.concatenate([np.arange(indptr[row], indptr[row + 1]) for row in rows])
        return brute(score[pick], relevant[pick])

    expected = stats.bootstrap(
        (np.arange(14),), area, n_resamples=150, method=name, rng=generator(3, "bootstrap"), vectorized=False
    ).confidence_interval
    found = roc_auc(score, relevant, indptr, seed=3, resamples=150, method=method)
    assert (found.pooled.low, found.pooled.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    each = per_query_auc(score, relevant, indptr)
    assert not np.isnan(each).any()
    expected = stats.bootstrap(
        (each,), np.mean, n_resamples=150, method=name, rng=generator(3, "bootstrap"), vectorized=True
    ).confidence_interval
    assert (found.within.low, found.within.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert found.within.mean == pytest.approx(each.mean(), rel=1e-14)


def test_left_out_and_weighted_areas_are_those_of_the_pairs() -> None:
    score, relevant, indptr = world(9, 5)
    row = np.repeat(np.arange(9), np.diff(indptr))
    rank = np.unique(score, return_inverse=True)[1]
    pairs = Contests.of(rank, relevant, row, 9)
    expected = [brute(score[row != out], relevant[row != out]) for out in range(9)]
    np.testing.assert_allclose(pairs.left_out(), expected, rtol=1e-14)
    times = RNG.integers(0, 3, (30, 9)).astype(float)
    copies = [np.repeat(np.arange(len(score)), count[row].astype(int)) for count in times]
    expected = [brute(score[pick], relevant[pick]) for pick in copies]
    np.testing.assert_allclose(pairs.areas(times), expected, rtol=1e-14)


def test_standard_error_of_single_pairs_is_delong() -> None:
    score, relevant, _ = world(1, 80)
    good, rest = score[relevant], score[~relevant]
    wins = (good[:, None] > rest) + (good[:, None] == rest) / 2
    expected = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(good) + wins.mean(axis=0).var(ddof=1) / len(rest))
    found = roc_auc(score, relevant, np.arange(len(score) + 1), resamples=10)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_standard_error_of_clusters_by_loops_and_near_the_spread_of_samples() -> None:
    score, relevant, indptr = world(12, 6)
    row, theta = np.repeat(np.arange(12), np.diff(indptr)), brute(score, relevant)
    good, rest = relevant.sum(), (~relevant).sum()
    x, y = np.zeros(12), np.zeros(12)
    for i in range(len(score)):
        others = score[~relevant] if relevant[i] else score[relevant]
        share = np.mean(np.where(relevant[i], score[i] > others, score[i] < others) + (score[i] == others) / 2)
        (x if relevant[i] else y)[row[i]] += share - theta
    has = [len(set(row[relevant])), len(set(row[~relevant])), len(set(row))]
    s10, s01, s11 = (
        count / (count - 1) * part
        for count, part in zip(has, (np.sum(x * x), np.sum(y * y), np.sum(x * y)), strict=True)
    )
    expected = np.sqrt(s10 / good**2 + s01 / rest**2 + 2 * s11 / (good * rest))
    assert roc_auc(score, relevant, indptr, resamples=10).standard_error == pytest.approx(expected, rel=1e-12)

    # Queries have levels of their own, so pairs are far from independent: the formula must see that.
    samples = [world(60, 10, seed) for seed in range(100, 180)]
    spread = np.std([pooled_auc(score, relevant) for score, relevant, _ in samples], ddof=1)
    errors = [roc_auc(*sample, resamples=1).standard_error for sample in samples]
    assert np.mean(errors) == pytest.approx(spread, rel=0.2)


def test_variants_are_drawn_together() -> None:
    score, relevant, indptr = world(10, 8)
    twice = np.concatenate([score, score]), np.concatenate([relevant, relevant])
    bounds = np.concatenate([indptr, indptr[-1] + indptr[1:]])
    alone = roc_auc(score, relevant, indptr, seed=1, resamples=300)
    both = roc_auc(*twice, bounds, cluster=np.tile(np.arange(10), 2), seed=1, resamples=300)
    blind = roc_auc(*twice, bounds, seed=1, resamples=300)
    assert both.pooled == alone.pooled
    assert (both.within.low, both.within.high) == pytest.approx((alone.within.low, alone.within.high), rel=1e-14)
    assert both.standard_error == pytest.approx(alone.standard_error, rel=1e-12)
    assert blind.pooled.high - blind.pooled.low < 0.85 * (both.pooled.high - both.pooled.low)


def test_queries_of_one_kind_are_left_out_and_counted() -> None:
    score = np.array([1.0, 2, 1, 2, 3, 1, 5])
    relevant = np.array([0, 1, 0, 0, 1, 1, 0], dtype=bool)
    found = roc_auc(score, relevant, np.array([0, 2, 4, 6, 6, 7]), resamples=50)
    np.testing.assert_array_equal(found.per_query, [1.0, np.nan, np.nan, np.nan, np.nan])
    assert found.counts == {"queries_without_relevant": 3, "queries_of_relevant_only": 1}
    assert (found.within.mean, found.within.low, found.within.units) == (1.0, None, 1)
    assert found.within.reason == "fewer_than_two_values"
    assert found.pooled.units == 5


def test_nothing_to_compare() -> None:
    for score, relevant, indptr in (
        (np.empty(0), np.empty(0, bool), np.array([0])),
        (np.empty(0), np.empty(0, bool), np.array([0, 0, 0])),
        (np.ones(3), np.ones(3, bool), np.array([0, 1, 3])),
        (np.ones(3), np.zeros(3, bool), np.array([0, 1, 3])),
    ):
        found = roc_auc(score, relevant, indptr)
        assert found.pooled.mean is None
        assert found.within.mean is None
        assert found.standard_error is None
        assert np.isnan(found.per_query).all()


def test_ties_infinities_and_perfect_scores() -> None:
    y = np.array([0, 1, 0, 1, 1, 0], dtype=bool)
    indptr = np.array([0, 3, 6])
    tied = roc_auc(np.zeros(6), y, indptr, resamples=100)
    assert (tied.pooled.mean, tied.pooled.low, tied.pooled.high) == (0.5, 0.5, 0.5)
    assert tied.standard_error == 0
    perfect = roc_auc(np.where(y, np.inf, -np.inf), y, indptr, resamples=100)
    assert (perfect.pooled.mean, perfect.within.mean, perfect.pooled.low) == (1.0, 1.0, 1.0)


def test_same_seed_same_bits_in_any_order_of_pairs() -> None:
    score, relevant, indptr = world(20, 8)
    shuffled = np.concatenate([RNG.permutation(np.arange(a, b)) for a, b in itertools.pairwise(indptr)])
    first = roc_auc(score, relevant, indptr, seed=2, resamples=200)
    assert roc_auc(score[shuffled], relevant[shuffled], indptr, seed=2, resamples=200).pooled == first.pooled
    assert roc_auc(score, relevant, indptr, seed=3, resamples=200).pooled != first.pooled


def test_auc_problems() -> None:
    score, relevant, indptr = world(3, 4)
    for change, error, message in (
        ({"relevant": relevant.astype(float)}, InputError, "relevant: found float64; expected bool"),
        ({"relevant": relevant[1:]}, InputError, "score and relevant"),
        ({"score": np.where(score > 0, np.nan, score)}, InputError, "of NaN"),
        ({"indptr": indptr[:-1]}, InputError, "indptr"),
        ({"cluster": np.zeros(2, int)}, InputError, r"cluster: found shape \(2,\); expected shape \(3,\)"),
        ({"resamples": 0}, InputError, "resamples: found 0"),
        ({"level": 1.0}, InputError, "level: found 1.0"),
        ({"method": "bcaa"}, ConfigError, "Did you mean 'bca'"),
    ):
        with pytest.raises(error, match=message):
            roc_auc(**{"score": score, "relevant": relevant, "indptr": indptr, **change})
