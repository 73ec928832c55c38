"""Policies of logits, chances and dispersions of any size: probabilities, draws and estimates against exact numbers."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, GERR, RBP
from rerankers.exposure.estimators import estimate
from rerankers.exposure.objectives import expected_exposure
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import (
    GradeShuffle,
    LabelShuffle,
    Mallows,
    Mixture,
    PlackettLuce,
    pl_gradient,
    sample_plackett_luce,
    static,
    zscore,
)
from rerankers.values import Ragged, Rankings

TINY = 5e-324
LOGITS = [
    [1e300, 1e300, -1e300],
    [1.7e308, -1.7e308, -1.7e308],
    [1e6, 1e6 + 0.5, 1e6 - 2000],
    [1e6, -2e6, -2e6 + 1.0],
    [0.0, -9e5, -9e5 - 0.25],
    [0.0, -2000.0, -1000.0],
    [TINY, -0.0, 1e-310],
    [-np.inf, 1e300, -np.inf],
    [-np.inf, -np.inf, -np.inf],
    [np.log(0.5), np.log(0.3), np.log(0.2)],
]


def row(n: int) -> Ragged:
    return Ragged(np.zeros(1, np.int64), np.array([0, n]), np.arange(n))


STREAM = query_streams(["q"])


def given(over: Ragged, orders: list[tuple[int, ...]]) -> Rankings:
    return Rankings.of_matrix(over, [np.array(orders)])


def exact_log(scores: list[float], order: tuple[int, ...]) -> float:
    """The log probability with hundreds of digits; minus infinity stands for a weight of nothing."""
    left, total = list(range(len(scores))), Decimal(0)
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 700, -(10**9), 10**9
        for doc in order:
            best = max(scores[other] for other in left)
            if best == -np.inf:
                total -= Decimal(len(left)).ln()
            elif scores[doc] == -np.inf:
                return -np.inf
            else:
                gaps = [Decimal(scores[other]) - Decimal(best) for other in left if scores[other] > -np.inf]
                mass = sum(gap.exp() for gap in gaps if gap > -10000)
                total += Decimal(scores[doc]) - Decimal(best) - mass.ln()
            left.remove(doc)
        return float(total)


@pytest.mark.parametrize("scores", LOGITS, ids=str)
def test_log_probabilities_of_any_logits(scores: list[float]) -> None:
    over = row(3)
    policy = PlackettLuce(over, np.array(scores), STREAM)
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        for length in (0, 1, 2, 3):
            orders = list(permutations(range(3), length))
            found = policy.log_prob(given(over, orders))
            expected = [exact_log(scores, order) for order in orders]
            finite = np.isfinite(expected)
            np.testing.assert_array_equal(np.isfinite(found), finite)
            np.testing.assert_allclose(found[finite], np.array(expected)[finite], rtol=4e-15, atol=1e-15)


def test_log_probabilities_add_up_to_one() -> None:
    rng = np.random.default_rng(2)
    over, orders = row(6), list(permutations(range(6)))
    for spread in (0.0, 1.0, 30.0):
        scores = 1e6 + np.round(rng.uniform(-spread, spread, 6) * 1024) / 1024
        found = PlackettLuce(over, scores, STREAM).log_prob(given(over, orders))
        assert np.exp(found).sum() == pytest.approx(1.0, rel=1e-13)
        np.testing.assert_allclose(
            found, PlackettLuce(over, scores - 1e6, STREAM).log_prob(given(over, orders)), rtol=0, atol=1e-13
        )


def test_standardised_scores_of_any_size() -> None:
    indptr, values = np.array([0, 3, 3, 5, 6]), np.array([1.0, 2.0, 4.0, 7.0, 7.0, 3.0])
    plain = zscore(indptr, values)
    assert plain[3:].tolist() == [0.0, 0.0, 0.0]
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        for size in (TINY, 2.0**-1000, 2.0**1000):
            np.testing.assert_allclose(zscore(indptr, values * size), plain, rtol=1e-14)
        assert zscore(np.array([0, 2]), np.array([0.0, TINY])).tolist() == [-1.0, 1.0]
        assert zscore(np.array([0, 2]), np.array([1.7e308, -1.7e308])).tolist() == [1.0, -1.0]
        moved = zscore(np.array([0, 3]), np.array([1e6, 1e6 + 2.0**-20, 1e6]))
    np.testing.assert_allclose(moved, np.array([-1.0, 2.0, -1.0]) / np.sqrt(2), rtol=1e-14)


@pytest.mark.parametrize("chance", [[TINY, TINY, 0.0], [1e-310, 2e-310, 1e-312], [1e-200, 3e-200, 0.0], [1e-17] * 3])
def test_labels_that_hardly_any_document_has(chance: list[float]) -> None:
    """Given that one has the label, the document that has it comes first, the others follow in any order."""
    over, share = row(3), np.array(chance) / sum(chance)
    policy = LabelShuffle(over, np.array(chance), STREAM, at_least_one=True)
    browsing = RBP(0.5).bind(None, over.indptr)
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        np.testing.assert_allclose(policy.exposure(browsing).value, share + (1 - share) * 0.375, rtol=1e-11)
        drawn = exposure_of(policy.sample(4000, 1), browsing).value
        orders = list(permutations(range(3)))
        total = np.exp(policy.log_prob(given(over, orders)))
    np.testing.assert_allclose(drawn, share + (1 - share) * 0.375, atol=0.02)
    np.testing.assert_allclose(total, share[[order[0] for order in orders]] / 2, rtol=1e-11)


def test_labels_that_are_rare_beside_one_that_is_not() -> None:
    over, browsing = row(3), RBP(0.5).bind(None, np.array([0, 3]))
    for at_least_one in (False, True):
        policy = LabelShuffle(over, np.array([TINY, 1.0, 0.0]), STREAM, at_least_one)
        np.testing.assert_allclose(policy.exposure(browsing).value, [0.375, 1.0, 0.375], rtol=1e-14)


@pytest.mark.parametrize("level", [[2**53, 2**53 + 1, 2**53], [0, 2**63 - 1, 0]], ids=str)
def test_levels_that_floats_do_not_tell_apart(level: list[int]) -> None:
    over = row(3)
    policy, browsing = GradeShuffle(over, np.array(level), STREAM), RBP(0.5).bind(None, over.indptr)
    np.testing.assert_allclose(policy.exposure(browsing).value, [0.375, 1.0, 0.375], rtol=1e-15)
    assert np.all(policy.sample(20, 1).item[::3] == 1)


@pytest.mark.parametrize("dispersion", [0.0, TINY, 1e-21, 1e-19, 1e-8, 0.3, 5.0, 700.0, 1e300, np.inf])
def test_mallows_of_any_dispersion(dispersion: float) -> None:
    over, orders = row(4), list(permutations(range(4)))
    distance = np.array([sum(a > b for i, a in enumerate(order) for b in order[i + 1 :]) for order in orders])
    with np.errstate(invalid="ignore"):
        weight = np.exp(-np.where(distance > 0, dispersion * distance, 0.0))
    policy = Mallows.by_score(over, [4, 3, 2, 1], dispersion, STREAM)
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        log = policy.log_prob(given(over, orders))
        for model in (RBP(0.7), DCG()):
            browsing = model.bind(None, over.indptr)
            found = policy.exposure(browsing).value
            exact = np.zeros(4)
            for order, part in zip(orders, weight / weight.sum(), strict=True):
                chance = np.cumprod([1.0, *browsing.continuation[list(order[:3])]])
                exact[list(order)] += part * chance * (1.0 if browsing.position is None else browsing.position)
            np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-300)
        drawn = exposure_of(policy.sample(4000, 3), browsing).value
    np.testing.assert_allclose(np.exp(log), weight / weight.sum(), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(drawn, exact, atol=0.03)


def test_estimates_are_right_on_average_and_say_how_far_they_are() -> None:
    """2,000 estimates from 6 draws each: their mean is the truth within 4 of its standard errors."""
    rows, draws = 2000, 6
    score = np.array([1.0, 0.5, 0.0, -2000.0])
    indptr = np.arange(rows + 1) * 4
    over = Ragged(np.arange(rows), indptr, np.tile(np.arange(4), rows))
    policy = PlackettLuce(over, np.tile(score, rows), query_streams([f"q{number}" for number in range(rows)]))
    browsing = GERR().bind(np.tile([1.0, 0.0, 1.0, 0.0], rows), indptr)
    target = np.tile([0.9, 0.3, 0.6, 0.1], rows)
    exact = expected_exposure(policy.exposure(browsing).value, target, indptr)
    found = estimate(policy.sample(draws, 5), browsing, target)
    for name in ("EED", "EER", "EEL"):
        value = getattr(found, name)
        error = value.std(ddof=1) / np.sqrt(rows)
        assert abs(value.mean() - getattr(exact, name)[0]) < 4 * error
        assert np.sqrt(np.mean(np.square(getattr(found, f"se_{name}")))) == pytest.approx(value.std(ddof=1), rel=0.1)
    assert found.plug_in_EED.mean() - exact.EED[0] > 4 * found.plug_in_EED.std() / np.sqrt(rows)


@pytest.mark.parametrize("scores", [one for one in LOGITS if one[0] > -np.inf], ids=str)
@pytest.mark.parametrize("method", ["pl_rank_3", "reinforce"])
def test_estimated_gradients_of_any_logits(scores: list[float], method: str) -> None:
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        exact = pl_gradient(scores, [3.0, -1.0, 0.5], [1.0, 0.5])
        found = pl_gradient(scores, [3.0, -1.0, 0.5], [1.0, 0.5], method, 4000, 7)
    np.testing.assert_allclose(found, exact, atol=0.08)
    if method == "reinforce":  # the score function adds up to 0 in every draw
        assert abs(found.sum()) < 1e-12
    assert abs(exact.sum()) < 1e-14


@pytest.mark.parametrize("scores", LOGITS, ids=str)
def test_draws_of_any_logits(scores: list[float]) -> None:
    orders = list(permutations(range(3)))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        drawn = sample_plackett_luce(scores, 3, 6000, 11)
    share = np.array([np.mean(np.all(drawn == np.array(order), axis=1)) for order in orders])
    np.testing.assert_allclose(share, np.exp([exact_log(scores, order) for order in orders]), atol=0.025)


def test_mixtures_with_weights_that_hardly_count() -> None:
    over = row(2)
    rankings = Rankings(
        over, np.array([0, 3]), np.array([0, 2, 4, 6]), np.array([0, 1, 1, 0, 0, 1], np.int32),
        np.array([1.0, TINY, 0.0]), np.arange(3, dtype=np.int32),
    )  # fmt: skip
    policy = Mixture(rankings, STREAM)
    np.testing.assert_array_equal(policy.exposure(RBP(0.5).bind(None, over.indptr)).value, [1.0, 0.5])
    np.testing.assert_array_equal(policy.sample(1000, 1).item[::2], 0)
    np.testing.assert_allclose(policy.log_prob(given(over, [(0, 1), (1, 0)])), [0.0, np.log(TINY)], rtol=1e-15)


def test_rows_without_documents_and_with_one() -> None:
    over = Ragged(np.arange(3), np.array([0, 0, 1, 1]), np.zeros(1, np.int64))
    streams = query_streams(["a", "b", "c"])
    for policy in (
        PlackettLuce(over, np.array([1e300]), streams),
        GradeShuffle(over, np.array([-0.0]), streams),
        LabelShuffle(over, np.array([TINY]), streams, True),
        Mallows.by_score(over, [1e300], 0.0, streams),
        static(over, np.array([TINY]), streams),
    ):
        browsing = DCG().bind(None, over.indptr)
        assert policy.exposure(browsing).value.tolist() == [1.0]
        drawn = policy.sample(3, 1)
        assert drawn.item.tolist() == [0, 0, 0]
        assert policy.log_prob(drawn).tolist() == [0.0] * 9
        assert policy.schedule(2, 1).item.tolist() == [0, 0]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(wrong: float) -> None:
    over = row(2)
    for name, take in (
        ("level", lambda x: GradeShuffle(over, np.array([0.0, x]), STREAM)),
        ("chance", lambda x: LabelShuffle(over, np.array([0.0, x]), STREAM)),
        ("weights", lambda x: pl_gradient([0, 1], [0, x], [1.0])),
    ):
        with pytest.raises(InputError, match=f"^{name}: found"):
            take(wrong)
    if wrong != -np.inf:
        with pytest.raises(InputError, match=r"^logit: found"):
            PlackettLuce(over, np.array([0.0, wrong]), STREAM)
    if np.isnan(wrong):
        for take in (
            lambda: static(over, np.array([0.0, wrong])),
            lambda: Mallows.by_score(over, [0, wrong], 1, STREAM),
        ):
            with pytest.raises(InputError, match=r"^score: found"):
                take()
