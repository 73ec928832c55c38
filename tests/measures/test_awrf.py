"""AWRF, the track's discount, work needed, sparse cells, background mixing: against dense twins and rules."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from cell_twins import dense_cells, dense_js, dense_mix, dense_of, dense_of_mixed, memberships
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures import cells as cells_module
from rerankers.measures.cell_distance import cell_divergence, cell_exposure
from rerankers.measures.cells import Cells, weighted_cells
from rerankers.measures.mixing import Mixed, background_alone, mix_background
from rerankers.measures.rank_discount import binary_ndcg, rank_discount
from rerankers.measures.rank_fairness import awrf, fairness_of, js_divergence
from rerankers.measures.work_needed import work_needed_exposure


def test_the_discount_gives_the_first_two_ranks_the_same():
    assert rank_discount(6) == pytest.approx(
        [1, 1, 1 / math.log2(3), 0.5, 1 / math.log2(5), 1 / math.log2(6)], rel=1e-15
    )
    assert rank_discount(0).shape == (0,)
    single = rank_discount(50, "float32")
    assert single.dtype == np.float64
    assert np.array_equal(single, single.astype(np.float32))
    assert single == pytest.approx(rank_discount(50), rel=1e-6)
    assert not np.array_equal(single, rank_discount(50))
    with pytest.raises(InputError, match="found -1"):
        rank_discount(-1)
    with pytest.raises(ConfigError, match="float32"):
        rank_discount(3, "float16")


def test_binary_ndcg_by_hand():
    relevant = np.array([True, False, True, False])
    assert binary_ndcg(relevant, 2) == pytest.approx((1 + 1 / math.log2(3)) / 2, rel=1e-15)
    assert binary_ndcg(np.ones(3, bool), 1) > 1  # three hits where one is all there is
    assert binary_ndcg(np.zeros(0, bool), 5) == 0
    with pytest.raises(InputError, match="at least one relevant"):
        binary_ndcg(relevant, 0)
    with pytest.raises(InputError, match="shape"):
        binary_ndcg(np.ones((2, 2), bool), 1)


def test_awrf_by_hand_and_its_range():
    assert awrf([1], [[1, 0]], [0.5, 0.5]) == pytest.approx(0.7842384456611643, rel=1e-12)
    assert awrf([1], [[1, 0]], [0, 3]) == pytest.approx(1 - math.log(2), rel=1e-15)
    assert awrf([2, 1], [[1, 0], [0, 4]], [1, 2]) == 1.0
    assert fairness_of(math.log(2), "unit") == 0
    with pytest.raises(ConfigError, match="unit"):
        fairness_of(0.1, "bits")


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_awrf_is_the_twin_whatever_the_scale(n, groups, seed):
    draw = np.random.default_rng(seed)
    weights, target = draw.random(n) + 0.1, draw.random(groups)
    alignment = draw.random((n, groups)) * (draw.random((n, groups)) < 0.7) + np.eye(n, groups)
    expected = 1 - dense_js(weights @ alignment, target)
    assert awrf(weights, alignment, target) == pytest.approx(expected, abs=1e-13)
    assert awrf(weights * 1e300, alignment, target * 1e-300) == pytest.approx(expected, abs=1e-13)
    assert js_divergence(target, weights @ alignment) == pytest.approx(1 - expected, abs=1e-13)
    assert 1 - jensenshannon(weights @ alignment, target) ** 2 == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 1], [[1, 0]], [1, 1]), r"alignment: found shape \(1, 2\); expected \(2, 2\)"),
        (([1], [[1, 0]], [0, 0]), "target: found zeros only"),
        (([1], [[0, 0]], [1, 1]), "weights @ alignment: found zeros only"),
        (([], np.zeros((0, 2)), [1, 1]), "weights @ alignment: found zeros only"),
        (([-1], [[1, 0]], [1, 1]), r"weights: found the value -1\.0"),
        (([1], [[math.nan, 0]], [1, 1]), "alignment: found the value nan"),
        (([1], [[1, 0]], [[1, 1]]), "target: found shape"),
    ],
)
def test_awrf_says_what_is_wrong(arguments, message):
    with pytest.raises(InputError, match=message):
        awrf(*arguments)


@given(st.lists(st.integers(0, 5), max_size=6))
def test_work_needed_is_the_mean_over_all_orders(levels):
    level = np.array(levels, dtype=np.int64)
    orders = [
        order for order in permutations(range(len(levels))) if sorted(level[list(order)]) == list(level[list(order)])
    ]
    expected = np.zeros(len(levels))
    for order in orders:
        expected[list(order)] += rank_discount(len(levels)) / len(orders)
    assert work_needed_exposure(level) == pytest.approx(expected, rel=1e-12)


def test_work_needed_refuses_what_is_no_level():
    with pytest.raises(InputError, match="whole numbers"):
        work_needed_exposure(np.array([0.5]))


WORLDS = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 6), st.integers(0, 2**32 - 1))


def world(averaged, plain, pages, seed):
    """Return sparse and dense memberships of some pages, and backgrounds of the first dimensions."""
    draw = np.random.default_rng(seed)
    sizes = [int(size) for size in draw.integers(2, 5, averaged + plain)] or [3]
    matrices = []
    for size in sizes:
        rows = draw.random((pages, size)) * (draw.random((pages, size)) < 0.4)
        rows[np.arange(pages), draw.integers(0, size, pages)] = 1
        matrices.append(rows.tolist())
    backgrounds = []
    for size in sizes[:averaged]:
        share = draw.random(size - 1) + 0.01
        backgrounds.append(share / share.sum())
    return draw, matrices, [memberships(rows) for rows in matrices], backgrounds


@given(WORLDS)
def test_cells_mixing_and_distances_are_those_of_the_dense_array(parameters):
    draw, matrices, sparse, backgrounds = world(*parameters)
    pages = parameters[2]
    page = draw.integers(0, pages, 4)
    weight = draw.random(4) + 0.1
    cells = weighted_cells(sparse, page, weight)
    dense = dense_cells(matrices, page, weight)
    assert dense_of(cells) == pytest.approx(dense.ravel(), rel=1e-12, abs=1e-15)
    share = cells.scaled(1 / cells.total)
    mixed = mix_background(share, backgrounds)
    full = dense_mix(dense / dense.sum(), backgrounds)
    assert dense_of_mixed(mixed) == pytest.approx(full.ravel(), rel=1e-12, abs=1e-15)
    assert mixed.total == pytest.approx(1, rel=1e-12)
    other = weighted_cells(sparse, draw.integers(0, pages, 3), draw.random(3))
    aim, seen = full.ravel() * 7, dense_of(other)
    loss = cell_exposure(other, mixed.scaled(7))
    expected = (seen @ seen, seen @ aim, aim @ aim, (seen - aim) @ (seen - aim))
    assert tuple(loss) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert cell_divergence(other, mixed) == pytest.approx(dense_js(seen, full), abs=1e-13)
    assert mixed.beyond(other.cell) == pytest.approx(np.delete(full.ravel(), other.cell).sum(), rel=1e-12, abs=1e-15)
    nothing = Cells(other.sizes, np.zeros(0, np.int64), np.zeros(0))
    norm = cell_exposure(nothing, mixed).EEL
    assert norm == pytest.approx(float(full.ravel() @ full.ravel()), rel=1e-12)


@given(WORLDS, st.integers(1, 40))
def test_cells_do_not_depend_on_how_many_are_held_at_once(parameters, entries):
    _, _, sparse, _ = world(*parameters)
    page = np.arange(parameters[2])
    whole = weighted_cells(sparse, page, np.ones(len(page)))
    before = cells_module._ENTRIES
    cells_module._ENTRIES = entries
    try:
        split = weighted_cells(sparse, page, np.ones(len(page)))
    finally:
        cells_module._ENTRIES = before
    assert np.array_equal(whole.cell, split.cell)
    assert whole.value == pytest.approx(split.value, rel=1e-14)


def test_cells_edges():
    one = memberships([[0.0, 0.0], [2.0, 2.0]])
    assert weighted_cells([one], np.array([0, 0]), np.ones(2)).cell.tolist() == []
    assert weighted_cells([one], np.array([], dtype=int), np.ones(0)).total == 0
    assert one.normalised().weight.tolist() == [0.5, 0.5]
    assert weighted_cells([one, one], np.array([1]), np.ones(1)).without(0).cell.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="one for each page"):
        weighted_cells([one], np.array([0]), np.ones(2))
    with pytest.raises(InputError, match="one or more"):
        weighted_cells([], np.array([0]), np.ones(1))
    empty = Cells((2,), np.zeros(0, np.int64), np.zeros(0))
    with pytest.raises(InputError, match="no weight"):
        mix_background(empty, [np.ones(1)])
    full = Cells((2,), np.array([1]), np.ones(1))
    with pytest.raises(InputError, match="known group"):
        mix_background(full, [np.ones(2) / 2])
    with pytest.raises(InputError, match="from 0 to 1"):
        mix_background(full, [np.ones(1)], share=2)
    with pytest.raises(InputError, match="dimensions of sizes"):
        cell_exposure(full, Mixed.of(Cells((3,), np.array([1]), np.ones(1))))
    with pytest.raises(InputError, match="exposure: found zeros only"):
        cell_divergence(empty, Mixed.of(full))
    with pytest.raises(InputError, match="target: found zeros only"):
        cell_divergence(full, Mixed.of(empty))


def test_mixing_keeps_what_is_unknown_and_spreads_what_is_known():
    background = np.array([0.2, 0.8])
    unknown = mix_background(Cells((3, 2), np.array([0, 1]), np.array([0.25, 0.75])), [background])
    assert dense_of_mixed(unknown).tolist() == [0.25, 0.75, 0, 0, 0, 0]
    known = mix_background(Cells((3, 2), np.array([2]), np.ones(1)), [background])
    assert dense_of_mixed(known) == pytest.approx([0, 0, 0.6, 0, 0.4, 0])
    alone = background_alone((3, 2), [background])
    assert dense_of_mixed(alone) == pytest.approx([0, 0, 0.1, 0.1, 0.4, 0.4])
