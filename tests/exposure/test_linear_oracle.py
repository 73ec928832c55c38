"""The ranking of the largest weighted exposure against all rankings."""

from __future__ import annotations

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, plain_exposure
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_optima import all_exposures

from rerankers.exposure import DCG, GERR, RBP, Browsing, Cascade, Positions, TopKSet
from rerankers.exposure.optimal.oracle import Oracle, best_ranking

GAIN = st.floats(-2, 2) | st.integers(-2, 2)
CONTINUATION = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])
DOCUMENTS = st.lists(st.tuples(GAIN, CONTINUATION), min_size=1, max_size=6)


def browsing_of(continuation: list[float], position: list[float] | None) -> Browsing:
    n = len(continuation)
    weight = None if position is None else np.array((position + [0.0] * n)[:n])
    return Browsing(weight, np.array(continuation, dtype=float), np.full(n, np.nan))


def check_best(gain: np.ndarray, browsing: Browsing) -> None:
    order = best_ranking(gain, browsing)
    assert sorted(order.tolist()) == list(range(len(gain)))
    found = plain_exposure(order.tolist(), browsing.position, browsing.continuation) @ gain
    assert found == pytest.approx(np.max(all_exposures(browsing) @ gain), abs=1e-13)


@settings(deadline=None)
@given(DOCUMENTS, st.integers(0, 7), st.sampled_from([1.0, 0.7]))
def test_cascades_with_and_without_cutoff(documents: list[tuple[float, float]], cutoff: int, height: float) -> None:
    gain = np.array([gain for gain, _ in documents], dtype=float)
    continuation = [c for _, c in documents]
    check_best(gain, browsing_of(continuation, None))
    check_best(gain, browsing_of(continuation, [height] * cutoff))


@settings(deadline=None)
@given(st.lists(GAIN, min_size=1, max_size=6), CONTINUATION, st.lists(st.floats(0, 2), max_size=7))
def test_weights_of_ranks_under_equal_continuation(gains: list[float], c: float, weights: list[float]) -> None:
    check_best(np.array(gains, dtype=float), browsing_of([c] * len(gains), sorted(weights, reverse=True)))


@settings(deadline=None, max_examples=40)
@given(SPECS, st.lists(st.integers(-1, 4), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_models(spec: object, grades: list[int], seed: int) -> None:
    browsing = bound(spec, np.array(grades), one_row(len(grades)))
    check_best(np.random.default_rng(seed).normal(size=len(grades)), browsing)


@pytest.mark.parametrize("position", [None, [1.0] * 3, [1.0] * 7])
def test_seven_documents(position: list[float] | None) -> None:
    rng = np.random.default_rng(4)
    for _ in range(3):
        check_best(rng.normal(size=7), browsing_of(rng.choice([0, 0.3, 0.9, 1], 7).tolist(), position))


def test_certain_continuation() -> None:
    # Gains that keep all attention come first, losses that do last; what neither gains nor loses stays in between.
    browsing = browsing_of([1.0, 1.0, 0.5, 1.0, 0.5], None)
    assert best_ranking([-1e-9, 0.0, 5.0, 1e-9, -5.0], browsing).tolist() == [3, 2, 1, 4, 0]


def test_ties_keep_the_order_of_the_row() -> None:
    for position in (None, [1.0] * 3):
        assert best_ranking(np.zeros(5), browsing_of([0.5, 0.2, 0.5, 0.9, 0.1], position)).tolist() == [0, 1, 2, 3, 4]
        assert best_ranking(np.ones(5), browsing_of([0.5] * 5, position)).tolist() == [0, 1, 2, 3, 4]


def test_a_cutoff_is_filled_with_losses_if_need_be() -> None:
    # The first two places are seen whoever stands there: the loss that ends the search first is the smaller evil.
    order = best_ranking([-1.0, -1.1, -5.0], browsing_of([1.0, 0.0, 0.5], [1.0, 1.0]))
    assert order.tolist() == [1, 0, 2]


def test_a_row_of_a_block() -> None:
    grades, rows = np.array([0, 1, 0, 2, 0, 0, 1]), np.array([0, 2, 7])
    block = GERR(0.9, 0.4, cutoff=4).bind(grades, rows)
    gain = np.array([0.3, -0.2, 0.9, 0.1, 0.35])
    alone = GERR(0.9, 0.4, cutoff=4).bind(grades[2:], one_row(5))
    oracle = Oracle(block, slice(2, 7))
    assert oracle.best(gain).tolist() == best_ranking(gain, alone).tolist()
    orders = np.array([[4, 2, 0, 1, 3], [0, 1, 2, 3, 4]])
    expected = [plain_exposure(order, alone.position, alone.continuation) for order in orders.tolist()]
    np.testing.assert_allclose(oracle.exposure(orders), expected, rtol=1e-15)


def test_one_document_and_none() -> None:
    assert best_ranking([-3.0], browsing_of([1.0], None)).tolist() == [0]
    assert best_ranking([], browsing_of([], None)).tolist() == []


def test_models_without_an_exact_oracle_are_refused() -> None:
    grades = np.array([1, 0, 0])
    Oracle(GERR(0.0).bind(grades, one_row(3)))  # continuations are equal after all
    for spec in (RBP(0.7), DCG(), TopKSet(2), Positions((1.0, 0.2)), GERR(cutoff=2)):
        Oracle(spec.bind(grades, one_row(3)))
    for position in ([1.0, 0.5, 0.5], [1.0, 1.0, 0.2]):
        spec = Cascade(np.array([0.2, 0.5, 0.5]), position=np.array(position))
        with pytest.raises(ValueError, match="unequal continuations with weights of ranks that are no plain cutoff"):
            Oracle(spec.bind(None, one_row(3)))


def test_gains_are_checked() -> None:
    browsing = browsing_of([0.5, 0.5], None)
    for wrong in ([1.0], [[1.0, 2.0]], [1.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(ValueError, match=r"^gain: found"):
            best_ranking(wrong, browsing)
