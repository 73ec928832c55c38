"""Rankings over ragged rows against nested lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from values_strategies import Pairs, pairs, ragged_of, rankings

from rerankers.values import Rankings


@given(rankings())
def test_positions_of_items(value: Rankings) -> None:
    row, ranking, rank, flat = [], [], [], []
    for index in range(len(value.over)):
        for at in range(value.query_ptr[index], value.query_ptr[index + 1]):
            row.append(index)
            for place, item in enumerate(value.item[value.item_ptr[at] : value.item_ptr[at + 1]].tolist()):
                ranking.append(at)
                rank.append(place)
                flat.append(int(value.over.indptr[index]) + item)
    assert value.row_of_ranking.tolist() == row
    assert value.ranking_of_item.tolist() == ranking
    assert value.rank.tolist() == rank
    assert value.flat.tolist() == flat
    assert len(value) == len(row)
    assert value.counts.sum() == len(value)


@given(pairs(), st.integers(0, 3), st.integers(0, 50))
def test_of_matrix(value: Pairs, draws: int, first: int) -> None:
    over = ragged_of(value)
    rng = np.random.default_rng(0)
    orders = [np.array([rng.permutation(n) for _ in range(draws)]).reshape(draws, n) for n in over.lengths]
    made = Rankings.of_matrix(over, orders, first)
    assert made.counts.tolist() == [draws] * len(over)
    lists = [made.item[made.item_ptr[r] : made.item_ptr[r + 1]].tolist() for r in range(len(made))]
    assert lists == [order.tolist() for matrix in orders for order in matrix]
    assert made.weight.tolist() == [1 / draws for _ in range(draws * len(over))]
    assert made.label.tolist() == [*range(first, first + draws)] * len(over)
    assert (made.item.dtype, made.label.dtype) == (np.int32, np.int32)


def test_of_matrix_wants_one_matrix_a_row() -> None:
    with pytest.raises(ValueError, match="0 matrices for 1 rows"):
        Rankings.of_matrix(ragged_of({0: {1: 1}}), [])
