"""The account of exposure against sums over all rankings, and that it adds up."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, ERR, GERR, RBP, Browsing, Positions, TopKSet
from rerankers.exposure.account import (
    RankAccount,
    by_ranks,
    plackett_luce_above,
    plackett_luce_pressure,
    rank_ends,
    unsatisfied,
)
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.policies import GradeShuffle, LabelShuffle, Mallows, Mixture, PlackettLuce, Transpositions
from rerankers.policies.account import above, account
from rerankers.policies.rows import take_rows
from rerankers.values import Ragged, Rankings

GRADES = np.array([1, 0, 2, 0, 1])
LOGITS = np.array([0.3, 1.2, -0.7, 0.0, 2.0])
MODELS = [
    RBP(0.8),
    GERR(0.6, 0.7),
    ERR(0.9, 2),
    DCG(),
    RBP(0.7, 3),
    GERR(0.8, 0.4, 2),
    Positions((1.0, 0.4)),
    TopKSet(3),
]
STREAM = query_streams(["q"])


def row(n: int) -> Ragged:
    return Ragged(np.zeros(1, np.int32), np.array([0, n]), np.arange(n, dtype=np.int32))


def mixture(n: int) -> Mixture:
    rng = np.random.default_rng(3)
    orders = [rng.permutation(n), rng.permutation(n)[: n - 1], rng.permutation(n)]
    item = np.concatenate(orders).astype(np.int32)
    ends = np.cumsum([0, *map(len, orders)])
    weight = np.array([0.5, 0.3, 0.2])
    return Mixture(Rankings(row(n), np.array([0, 3]), ends, item, weight, np.arange(3, dtype=np.int32)), STREAM)


def policies() -> dict[str, object]:
    over = row(5)
    return {
        "plackett_luce": PlackettLuce(over, LOGITS, STREAM),
        "with_last": PlackettLuce(over, np.array([0.3, -np.inf, 1.0, -np.inf, 0.0]), STREAM),
        "shuffle": GradeShuffle(over, np.array([1, 0, 1, 0, 0]), STREAM),
        "labels": LabelShuffle(over, np.array([0.2, 0.9, 0.5, 0.0, 0.4]), STREAM),
        "mallows": Mallows.by_score(over, LOGITS, 0.7, STREAM),
        "mixture": mixture(5),
    }


def every_ranking(policy: object, n: int) -> list[tuple[tuple[int, ...], float]]:
    """Return all rankings with their probabilities."""
    if isinstance(policy, Mixture):
        given, ptr = policy.rankings, policy.rankings.item_ptr
        return [(tuple(given.item[ptr[r] : ptr[r + 1]].tolist()), float(given.weight[r])) for r in range(len(given))]
    orders = list(permutations(range(n)))
    rankings = Rankings.of_matrix(policy.over, [np.array(orders)])  # type: ignore[attr-defined]
    return list(zip(orders, np.exp(policy.log_prob(rankings)).tolist(), strict=True))  # type: ignore[attr-defined]


def by_hand(policy: object, browsing: Browsing, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return chance and exposure by rank (n, n), and how often a document is above another (n, n)."""
    chance, part, higher = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for order, weight in every_ranking(policy, n):
        going = 1.0
        for rank, doc in enumerate(order):
            chance[doc, rank] += weight
            part[doc, rank] += weight * going * (1.0 if browsing.position is None else browsing.position[rank])
            going *= browsing.continuation[doc]
        for doc in range(n):
            ahead = order[: order.index(doc)] if doc in order else order
            higher[doc, list(ahead)] += weight
    return chance, part, higher


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("name", list(policies()))
def test_ranks_and_stopping_are_those_of_all_rankings(name: str, model: object) -> None:
    policy, n = policies()[name], 5
    browsing, calm = model.bind(GRADES, np.array([0, n])), unsatisfied(model, n)  # type: ignore[attr-defined,arg-type]
    found = account(policy, browsing, calm, 10, 0)  # type: ignore[arg-type]
    chance, part, higher = by_hand(policy, browsing, n)
    np.testing.assert_allclose(found.ranks.probability, chance, atol=1e-12)
    np.testing.assert_allclose(found.ranks.part, part, atol=1e-12)
    np.testing.assert_allclose(found.ranks.part.sum(axis=1), found.exposure, atol=1e-12)
    np.testing.assert_allclose(found.unsatisfied, by_hand(policy, calm, n)[1].sum(axis=1), atol=1e-12)
    assert found.draws is None
    assert not found.error.any()
    for doc in range(n):
        ahead, draws = above(policy, doc, 4000, 0)  # type: ignore[arg-type]
        loose = 1e-12 if draws is None else 0.05
        np.testing.assert_allclose(ahead, higher[doc], atol=loose)


@settings(max_examples=40, deadline=None)
@given(
    logits=st.lists(st.floats(-8, 8), min_size=2, max_size=6),
    patience=st.floats(0.05, 1.0),
    stop=st.floats(0.0, 1.0),
    cutoff=st.one_of(st.none(), st.integers(1, 7)),
    data=st.data(),
)
def test_the_account_adds_up(
    logits: list[float], patience: float, stop: float, cutoff: int | None, data: st.DataObject
) -> None:
    n = len(logits)
    grades = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    model = GERR(patience, stop, cutoff)
    policy = PlackettLuce(row(n), np.array(logits), STREAM)
    browsing = model.bind(grades, np.array([0, n]))
    found = account(policy, browsing, unsatisfied(model, n), 1, 0)
    chance, part, _ = by_hand(policy, browsing, n)
    np.testing.assert_allclose(found.ranks.probability, chance, atol=1e-12)
    np.testing.assert_allclose(found.ranks.part, part, atol=1e-12)
    np.testing.assert_allclose(found.ranks.part.sum(axis=1), found.exposure, atol=1e-12)
    np.testing.assert_allclose(found.ranks.probability.sum(axis=1), 1.0, atol=1e-12)
    assert np.all(found.exposure <= found.unsatisfied + 1e-12)


def test_pressure_is_the_derivative_and_adds_up_to_nothing() -> None:
    n, step = 5, 1e-6
    browsing = GERR(0.8, 0.6).bind(GRADES, np.array([0, n]))
    for doc in range(n):
        found = plackett_luce_pressure(LOGITS, browsing, doc)
        for other in range(n):
            low, high = LOGITS.copy(), LOGITS.copy()
            low[other] -= step
            high[other] += step
            slope = [plackett_luce_exposure(np.array([0, n]), one, browsing)[doc] for one in (high, low)]
            assert found[other] == pytest.approx((slope[0] - slope[1]) / (2 * step), abs=1e-8)
        assert found.sum() == pytest.approx(0.0, abs=1e-12)
        assert found[doc] > 0


def test_pressure_under_patience_alone_only_takes() -> None:
    found = plackett_luce_pressure(LOGITS, RBP(0.8).bind(None, np.array([0, 5])), 1)
    assert found[1] > 0
    assert np.all(np.delete(found, 1) < 0)


def test_above_at_minus_infinity() -> None:
    np.testing.assert_allclose(plackett_luce_above([0.0, -np.inf, -np.inf, 0.0], 1), [1.0, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(plackett_luce_above([800.0, -800.0], 0), [0.0, 0.0])


@pytest.mark.parametrize(("n", "last"), [(0, []), (1, [1]), (50, [49, 50]), (51, [50, 51]), (100, [50, 100])])
def test_ends_of_ranges(n: int, last: list[int]) -> None:
    ends = rank_ends(n)
    assert ends.tolist()[-2:] == last[-2:]
    assert np.all(np.diff(ends) > 0)


def test_ends_of_long_rows() -> None:
    assert rank_ends(3000).tolist() == [*range(1, 11), 20, 50, 100, 200, 500, 1000, 2000, 3000]


def test_long_rows_add_up_by_range() -> None:
    n = 700
    rng = np.random.default_rng(1)
    logit, grades = rng.normal(size=n), (rng.random(n) < 0.1).astype(int)
    model = GERR(0.95, 0.5)
    browsing = model.bind(grades, np.array([0, n]))
    found = account(PlackettLuce(row(n), logit, STREAM), browsing, unsatisfied(model, n), 1, 0)
    np.testing.assert_allclose(found.ranks.part.sum(axis=1), found.exposure, atol=1e-12)
    np.testing.assert_allclose(found.ranks.probability.sum(axis=1), 1.0, atol=1e-10)
    first, last = found.ranks.median(int(np.argmax(logit)))  # type: ignore[misc]
    assert 1 <= first <= last < n / 2


def test_a_median_needs_half_of_the_rankings() -> None:
    half = RankAccount(np.array([1, 2]), np.array([[0.2, 0.2], [0.5, 0.5], [0.1, 0.9]]), np.zeros((3, 2)))
    assert [half.median(doc) for doc in range(3)] == [None, (1, 1), (2, 2)]
    np.testing.assert_allclose(half.within(1), [0.2, 0.5, 0.1])
    np.testing.assert_allclose(half.within(10), [0.4, 1.0, 1.0])


def test_without_a_closed_form_draws_stand_in_with_their_error() -> None:
    over = row(3)
    model = GERR(0.9, 0.9)
    policy = Transpositions.of_exposure(over, [0.9, 0.6, 0.3], [1.0, 0.6, 0.2], STREAM)
    browsing = model.bind([1, 0, 0], np.array([0, 3]))
    found = account(policy, browsing, unsatisfied(model, 3), 4000, 7)
    part = by_hand(policy, browsing, 3)[1].sum(axis=1)
    assert found.draws == 4000
    assert np.all(np.abs(found.exposure - part) < 5 * found.error + 1e-12)
    assert np.all(found.error < 0.02)
    assert found.error.max() > 0
    np.testing.assert_allclose(found.ranks.part.sum(axis=1), found.exposure, atol=1e-12)
    assert np.all(np.isnan(account(policy, browsing, unsatisfied(model, 3), 1, 7).error))


@pytest.mark.parametrize("name", list(policies()))
def test_one_row_is_the_policy_of_that_row(name: str) -> None:
    pair = Ragged(np.arange(2, dtype=np.int32), np.array([0, 2, 7]), np.array([0, 1, 0, 1, 2, 3, 4], np.int32))
    stream = query_streams(["a", "b"])
    dispersion = np.array([0.5, 0.9])
    both = {
        "plackett_luce": PlackettLuce(pair, np.arange(7.0), stream),
        "with_last": PlackettLuce(pair, np.array([-np.inf, 0, 1, -np.inf, 2, 3, 4]), stream),
        "shuffle": GradeShuffle(pair, np.array([1, 0, 1, 0, 0, 2, 2]), stream),
        "labels": LabelShuffle(pair, np.linspace(0.1, 0.7, 7), stream, at_least_one=True),
        "mallows": Mallows.by_score(pair, np.arange(7.0), dispersion, stream),
        "mixture": Mixture(PlackettLuce(pair, np.arange(7.0), stream).sample(4, 1), stream),
    }[name]
    alone = take_rows(both, np.array([1]))
    browsing = RBP(0.8).bind(None, np.array([0, 5]))
    whole = both.exposure(RBP(0.8).bind(None, pair.indptr))
    np.testing.assert_array_equal(alone.exposure(browsing).value, whole.value[2:])
    drawn = both.sample(5, 3).take(np.array([1]))
    np.testing.assert_array_equal(alone.sample(5, 3).item, drawn.item)


def test_one_row_of_transpositions() -> None:
    pair = Ragged(np.arange(2, dtype=np.int32), np.array([0, 3, 6]), np.tile(np.arange(3, dtype=np.int32), 2))
    goal = [0.9, 0.6, 0.3, 0.6, 0.6, 0.6]
    both = Transpositions.of_exposure(pair, goal, [1.0, 0.6, 0.2], query_streams(["a", "b"]))
    alone = take_rows(both, np.array([1]))
    np.testing.assert_array_equal(alone.sample(9, 3).item, both.sample(9, 3).take(np.array([1])).item)


def test_only_policies_with_a_stored_form_are_taken_apart() -> None:
    with pytest.raises(TypeError, match="cannot be taken apart"):
        take_rows(object(), np.array([0]))


def test_ranges_of_an_empty_row() -> None:
    found = by_ranks(lambda browsing: np.zeros(0), RBP(0.5).bind(None, np.array([0, 0])), rank_ends(0))
    assert found.probability.shape == (0, 0)
