"""What holds for every policy: draws by key, labels, depth, closed form against draws, log probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, TopKSet
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import GradeShuffle, Mallows, Mixture, PlackettLuce, Policy
from rerankers.values import Ragged, Rankings

RNG = np.random.default_rng(8)
LENGTHS = [4, 0, 1, 7, 300]
SCORES = np.random.default_rng(1).normal(size=sum(LENGTHS)) * 2
LEVELS = np.random.default_rng(2).integers(0, 3, sum(LENGTHS))
Make = Callable[[Ragged, np.ndarray, slice], Policy]


def plackett_luce(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return PlackettLuce(over, SCORES[part], stream)


def grade_shuffle(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return GradeShuffle(over, LEVELS[part], stream)


def mixture(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    orders = [np.array([np.random.default_rng([n, i]).permutation(n) for i in range(3)]) for n in over.lengths]
    rankings = Rankings.of_matrix(over, [order.reshape(3, -1) for order in orders])
    return Mixture(replace(rankings, weight=np.tile([0.5, 0.3, 0.2], len(over))), stream)


def mallows(over: Ragged, stream: np.ndarray, part: slice) -> Policy:
    return Mallows.by_score(over, SCORES[part], np.full(len(over), 0.4), stream)


KINDS = pytest.mark.parametrize("make", [plackett_luce, grade_shuffle, mixture, mallows])
WHOLE = slice(0, sum(LENGTHS))


@KINDS
def test_draws_are_rankings_with_labels(make: Make) -> None:
    over = rows(LENGTHS)
    drawn = make(over, streams(5), WHOLE).sample(6, seed=3, first=10)
    assert drawn.over is over
    assert drawn.counts.tolist() == [6] * 5
    assert drawn.label.tolist() == list(range(10, 16)) * 5
    np.testing.assert_allclose(drawn.weight, 1 / 6)
    for size, orders in zip(LENGTHS, matrices(drawn), strict=True):
        assert all(sorted(order) == list(range(size)) for order in orders)


@KINDS
def test_a_draw_depends_on_seed_query_and_number_only(make: Make) -> None:
    policy = make(rows(LENGTHS), streams(5), WHOLE)
    whole = matrices(policy.sample(700, seed=3))
    later = matrices(policy.sample(5, seed=3, first=640))
    assert later == [orders[640:645] for orders in whole]
    assert matrices(policy.sample(5, seed=4, first=640))[4] != later[4]
    part = slice(5, WHOLE.stop)  # rows 3 and 4 alone
    alone = make(rows(LENGTHS[3:], 3), streams(2, 3), part).sample(5, seed=3, first=640)
    assert matrices(alone) == later[3:]
    assert matrices(make(rows(LENGTHS), streams(5, 1), WHOLE).sample(5, seed=3, first=640))[4] != later[4]


@KINDS
def test_depth_keeps_the_first_ranks_unchanged(make: Make) -> None:
    policy = make(rows(LENGTHS), streams(5), WHOLE)
    whole = matrices(policy.sample(50, seed=1))
    for depth in (1, 3, 20, 150, 1000):
        cut = matrices(policy.sample(50, seed=1, depth=depth))
        assert cut == [[order[:depth] for order in orders] for orders in whole]


@KINDS
def test_no_draws_and_wrong_numbers(make: Make) -> None:
    policy = make(rows(LENGTHS), streams(5), WHOLE)
    nothing = policy.sample(0, seed=1)
    assert len(nothing) == 0
    assert nothing.counts.tolist() == [0] * 5
    for wrong in ({"n": -1}, {"n": 1, "first": -1}, {"n": 1, "depth": 0}):
        with pytest.raises(ValueError, match=r"(n|first|depth): found"):
            policy.sample(seed=0, **wrong)  # type: ignore[arg-type]


@KINDS
@pytest.mark.parametrize(
    "spec", [RBP(0.7), GERR(0.9, 0.5), GERR(0.9, 0.5, cutoff=3), DCG(), ERR(max_grade=2), TopKSet(2)]
)
def test_closed_form_agrees_with_draws(make: Make, spec: object) -> None:
    lengths = [4, 7, 60]
    over, part = rows(lengths), slice(0, sum(lengths))
    policy = make(over, streams(3), part)
    browsing = spec.bind(LEVELS[part], over.indptr)  # type: ignore[attr-defined]
    exact = policy.exposure(browsing)
    assert exact is not None
    assert exact.exact
    assert exact.over is over
    # The second moment is the exposure under squared continuations and weights.
    squared = replace(
        browsing,
        position=None if browsing.position is None else browsing.position**2,
        continuation=browsing.continuation**2,
    )
    deviation = np.sqrt(np.maximum(policy.exposure(squared).value - exact.value**2, 0) / 4000)
    drawn = exposure_of(policy.sample(4000, seed=5), browsing).value
    assert np.all(np.abs(drawn - exact.value) < 5 * deviation + 0.001)  # Bernstein: exposure is at most 1


@KINDS
@pytest.mark.parametrize("k", [None, 0, 2])
def test_probabilities_of_all_rankings_sum_to_one(make: Make, k: int | None) -> None:
    over = rows([4])
    policy = make(over, streams(1), slice(0, 4))
    found = policy.log_prob(every_ranking(4, k))
    assert np.exp(found).sum() == pytest.approx(1, abs=1e-14)
    if k is None:
        weighted = replace(every_ranking(4), weight=np.exp(found))
        browsing = GERR(0.9, 0.4, cutoff=3).bind(LEVELS[:4], over.indptr)
        exact = policy.exposure(browsing)
        assert exact is not None
        np.testing.assert_allclose(exposure_of(weighted, browsing).value, exact.value, atol=2e-15)


@KINDS
def test_log_probabilities_of_draws_by_row(make: Make) -> None:
    policy = make(rows(LENGTHS), streams(5), WHOLE)
    drawn = policy.sample(20, seed=2)
    together = policy.log_prob(drawn)
    assert together.shape == (100,)
    assert np.all(np.isfinite(together))
    assert np.all(together[20:60] == 0)  # no document, or one
    alone = make(rows(LENGTHS[3:], 3), streams(2, 3), slice(5, WHOLE.stop))
    np.testing.assert_array_equal(alone.log_prob(alone.sample(20, seed=2)), together[60:])


@KINDS
def test_log_prob_refuses_what_is_no_ranking(make: Make) -> None:
    over = rows([3])
    policy = make(over, streams(1), slice(0, 3))
    with pytest.raises(ValueError, match="twice"):
        policy.log_prob(Rankings.of_matrix(over, [np.array([[0, 0]])]))
    with pytest.raises(ValueError, match="does not have"):
        policy.log_prob(Rankings.of_matrix(over, [np.array([[0, 3]])]))
    with pytest.raises(ValueError, match="other rows"):
        policy.log_prob(Rankings.of_matrix(rows([2]), [np.array([[0, 1]])]))


def test_purposes_do_not_share_noise() -> None:
    over = rows([50])
    race = PlackettLuce(over, np.zeros(50), streams(1)).sample(20, seed=0)
    shuffle = GradeShuffle(over, np.zeros(50), streams(1)).sample(20, seed=0)
    assert matrices(race) != matrices(shuffle)


def test_cascade_with_any_continuation_is_exact_under_a_shuffle() -> None:
    n, level = 6, np.array([0, 1, 1, 0, 0, 0])
    over = rows([n])
    policy = GradeShuffle(over, level, streams(1))
    weighted = every_ranking(n)
    weighted = replace(weighted, weight=np.exp(policy.log_prob(weighted)))
    for position in (None, [1, 0.9, 0.9, 0.3]):
        browsing = Cascade([0.1, 1, 0.5, 0, 0.7, 0.2], position).bind(None, over.indptr)
        np.testing.assert_allclose(policy.exposure(browsing).value, exposure_of(weighted, browsing).value, atol=3e-15)


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [40, 0, 7, 300, 1]
    over = Ragged(
        np.arange(5), np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([np.arange(n) for n in lengths])
    )
    policy = PlackettLuce(over, np.linspace(0, 3, over.nnz), query_streams("abcde"))
    monkeypatch.setattr("rerankers.policies.base.WORTH_THREADS", 0)
    drawn = {}
    for threads in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        drawn[threads] = policy.sample(30, 5)
    np.testing.assert_array_equal(drawn["1"].item, drawn["4"].item)
