"""Exposure of given rankings against the plain loop."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, plain_exposure, pointers
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.exposure import DCG, GERR, RBP, Browsing, Cascade, Positions, TopKSet, ranking_exposure
from rerankers.exposure.rankings import exposure_of, item_exposure, seen
from rerankers.values import Ragged, Rankings

RNG = np.random.default_rng(3)


def world(lengths: list[int], counts: list[int], seed: int) -> Rankings:
    """Return rankings of random lengths and weights."""
    rng = np.random.default_rng(seed)
    rows = pointers(lengths)
    over = Ragged(np.arange(len(lengths)), rows, np.concatenate([np.arange(n) for n in [0, *lengths]]))
    orders = [
        [rng.permutation(n)[: rng.integers(0, n + 1)] for _ in range(count)]
        for n, count in zip(lengths, counts, strict=True)
    ]
    weights = [rng.dirichlet(np.ones(count)) for count in counts if count]
    flat = [order for row in orders for order in row]
    return Rankings(
        over,
        pointers(counts),
        pointers([len(order) for order in flat]),
        np.concatenate([np.empty(0, np.int64), *flat]).astype(np.int32),
        np.concatenate([np.empty(0), *weights]),
        np.concatenate([np.empty(0), *[np.arange(count) for count in counts]]).astype(np.int32),
    )


WORLDS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4)), max_size=5)


@settings(deadline=None)
@given(WORLDS, SPECS, st.integers(0, 2**32 - 1))
def test_agrees_with_the_plain_loop(shape: list[tuple[int, int]], spec: object, seed: int) -> None:
    rankings = world([n for n, _ in shape], [count for _, count in shape], seed)
    over = rankings.over
    grades = np.random.default_rng(seed).integers(-1, 4, over.nnz)
    browsing = bound(spec, grades, over.indptr)
    value, square, items = np.zeros(over.nnz), np.zeros(len(over)), np.empty(len(rankings.item))
    for ranking, row in enumerate(rankings.row_of_ranking):
        place = slice(rankings.item_ptr[ranking], rankings.item_ptr[ranking + 1])
        order, part = rankings.item[place].tolist(), over.row(row)
        seen = plain_exposure(order, browsing.position, browsing.continuation[part])
        items[place] = seen[order]
        value[part] += rankings.weight[ranking] * seen
        square[row] += rankings.weight[ranking] * np.sum(seen**2)
    np.testing.assert_allclose(item_exposure(rankings, browsing), items, rtol=1e-14)
    found = exposure_of(rankings, browsing)
    np.testing.assert_allclose(found.value, value, rtol=1e-13)
    np.testing.assert_allclose(found.square, square, rtol=1e-13)
    np.testing.assert_array_equal(found.draws, rankings.counts)
    assert found.over is over


def test_long_rankings_that_stop_for_certain() -> None:
    n = 3000
    over = Ragged(np.zeros(1), one_row(n), np.arange(n))
    rankings = Rankings.of_matrix(over, [np.arange(n)[None]])
    browsing = Cascade(np.where(np.arange(n) == 7, 0.0, 0.5)).bind(None, one_row(n))
    expected = np.where(np.arange(n) <= 7, 0.5 ** np.arange(n), 0.0)
    np.testing.assert_array_equal(exposure_of(rankings, browsing).value, expected)


def test_long_rankings_run_out_of_small_numbers() -> None:
    n = 3000
    over = Ragged(np.zeros(1), one_row(n), np.arange(n))
    rankings = Rankings.of_matrix(over, [np.arange(n)[None]])
    for patience, rest in ((0.5, 1022), (0.9, 6724)):
        browsing = RBP(patience).bind(None, one_row(n))
        found = exposure_of(rankings, browsing)
        expected = np.concatenate([[1.0], np.cumprod(np.full(n - 1, patience))])
        expected[expected < np.finfo(np.float64).tiny] = 0.0
        np.testing.assert_array_equal(found.value, expected)
        np.testing.assert_array_equal(item_exposure(rankings, browsing), expected)
        assert np.count_nonzero(expected) == min(n, rest + 1)
        assert found.square[0] == pytest.approx(1 / (1 - patience**2), rel=1e-13)


def test_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.exposure import _walk

    rankings = world(RNG.integers(0, 20, 70).tolist(), RNG.integers(0, 30, 70).tolist(), 8)
    browsing = bound(GERR(), RNG.integers(0, 3, rankings.over.nnz), rankings.over.indptr)
    before, items = exposure_of(rankings, browsing), item_exposure(rankings, browsing)
    monkeypatch.setattr(_walk, "WORTH_THREADS", 1)
    for threads in ("2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        after = exposure_of(rankings, browsing)
        np.testing.assert_array_equal(before.value, after.value)
        np.testing.assert_array_equal(before.square, after.square)
        np.testing.assert_array_equal(items, item_exposure(rankings, browsing))


def test_the_two_loops_agree_to_the_bit() -> None:
    rankings = world([40, 0, 7], [30, 2, 5], 9)
    for spec in (GERR(0.9, 0.5), DCG(5), TopKSet(3), RBP(0.0)):
        browsing = bound(spec, RNG.integers(0, 3, rankings.over.nnz), rankings.over.indptr)
        weighted = item_exposure(rankings, browsing) * rankings.weight[rankings.ranking_of_item]
        sums = np.bincount(rankings.flat, weights=weighted, minlength=rankings.over.nnz)
        np.testing.assert_array_equal(exposure_of(rankings, browsing).value, sums)


def test_memory_does_not_grow_with_the_draws() -> None:
    peaks = []
    for draws in (10, 1000):
        rankings = Rankings.of_matrix(
            Ragged(np.arange(4), np.arange(5) * 200, np.tile(np.arange(200), 4)),
            [np.tile(np.arange(200, dtype=np.int32), (draws, 1))] * 4,
        )
        browsing = DCG().bind(None, rankings.over.indptr)
        exposure_of(rankings, browsing)
        tracemalloc.start()
        exposure_of(rankings, browsing)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 100_000


def test_positions_of_one_array() -> None:
    browsing = Cascade(np.array([0.5, 0.25, 1.0])).bind(None, one_row(3))
    np.testing.assert_array_equal(seen(np.array([[2, 0], [0, 1]]), browsing), [[1, 1], [1, 0.5]])
    assert seen(np.empty((2, 0), np.int64), browsing).shape == (2, 0)
    assert seen(np.empty((0, 2), np.int64), browsing).shape == (0, 2)


@pytest.mark.parametrize("item", [[0, 3], [-1, 0], [0, 1, 2, 0], [2**31 - 1]])
def test_documents_that_a_row_does_not_have(item: list[int]) -> None:
    over = Ragged(np.arange(2), pointers([2, 3]), np.arange(5))
    order = np.array(item, dtype=np.int32)
    ptr, one = np.array([0, 0, len(order)]), np.ones(1)
    rankings = Rankings(over, np.array([0, 0, 1]), ptr[1:], order, one, np.zeros(1, np.int32))
    for work in (exposure_of, item_exposure):
        with pytest.raises(InputError, match="rankings: found ranking 0 with a document that its row does not have"):
            work(rankings, RBP().bind(None, over.indptr))
        with pytest.raises(InputError, match="browsing: found a model bound to 2 documents"):
            work(rankings, RBP().bind(None, one_row(2)))
    with pytest.raises(InputError, match="too many"):
        exposure_of(
            Rankings.of_matrix(over, [np.empty((1, 0), int), np.array([[0, 1, 2]])]),
            Browsing(np.ones(2), np.ones(5), np.ones(5)),
        )


def test_bits_do_not_depend_on_the_block() -> None:
    lengths = RNG.integers(0, 40, 50).tolist()
    counts = RNG.integers(1, 60, 50).tolist()
    rankings = world(lengths, counts, 4)
    over = rankings.over
    grades = RNG.integers(0, 3, over.nnz)
    for spec in (GERR(), DCG()):
        whole = exposure_of(rankings, bound(spec, grades, over.indptr))
        for low, high in ((0, 1), (20, 23)):
            first, last = rankings.query_ptr[low], rankings.query_ptr[high]
            begin, end = rankings.item_ptr[first], rankings.item_ptr[last]
            part = slice(over.indptr[low], over.indptr[high])
            piece = Rankings(
                over.rows(low, high),
                rankings.query_ptr[low : high + 1] - first,
                rankings.item_ptr[first : last + 1] - begin,
                rankings.item[begin:end],
                rankings.weight[first:last],
                rankings.label[first:last],
            )
            alone = exposure_of(piece, bound(spec, grades[part], piece.over.indptr))
            np.testing.assert_array_equal(alone.value, whole.value[part])
            np.testing.assert_array_equal(alone.square, whole.square[low:high])


def test_one_ranking() -> None:
    np.testing.assert_array_equal(ranking_exposure([2, 0, 1], RBP(0.5)), [0.5, 0.25, 1])
    np.testing.assert_array_equal(ranking_exposure([2, 0], GERR(), grades=[1, 0, 1, 0]), [0.25, 0, 1, 0])
    np.testing.assert_array_equal(ranking_exposure([1], RBP(0.5), grades=[0, 0]), [0, 1])
    np.testing.assert_array_equal(ranking_exposure([1, 0], Cascade([0.1, 0.2, 0.3])), [0.2, 1, 0])
    np.testing.assert_array_equal(ranking_exposure([3, 1, 2, 0], TopKSet(2)), [0, 1, 0, 1])
    np.testing.assert_array_equal(ranking_exposure([0, 1, 2], Positions([1, 0.5])), [1, 0.5, 0])
    assert ranking_exposure([], RBP()).shape == (0,)
    np.testing.assert_array_equal(ranking_exposure([], RBP(), grades=[1, 0]), [0, 0])


@pytest.mark.parametrize("order", [[0, 0], [-1, 0], [0, 3], [0.0, 1.0], [[0, 1]]])
def test_wrong_orders(order: list) -> None:
    with pytest.raises(ValueError, match="order: found"):
        ranking_exposure(order, RBP(), grades=[0, 0, 0])
    with pytest.raises(ValueError, match="grades: found none"):
        ranking_exposure([0, 1], GERR())
