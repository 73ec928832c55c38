"""Small ragged values and rankings, empty rows and no rows included."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rerankers.values import Candidates, Ragged, Rankings

Pairs = dict[int, dict[int, int]]


def pairs(queries: int = 4, docs: int = 6) -> st.SearchStrategy[Pairs]:
    """Query -> document -> value: the plain twin of a ragged value with one column."""
    row = st.dictionaries(st.integers(0, docs - 1), st.integers(-3, 9), max_size=docs)
    return st.dictionaries(st.integers(0, queries - 1), row, max_size=queries)


def ragged_of(value: Pairs, cls: type[Ragged] = Ragged, column: str = "value", dtype: Any = np.float64) -> Ragged:
    """Return the ragged form of a twin, in its order."""
    lengths = [len(row) for row in value.values()]
    return cls(
        np.array(list(value), dtype=np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([doc for row in value.values() for doc in row], dtype=np.int32),
        {column: np.array([x for row in value.values() for x in row.values()], dtype=dtype)},
    )


def twin_of(ragged: Ragged, column: str = "value") -> Pairs:
    """Return the plain form, the opposite of `ragged_of`."""
    return {
        int(query): {
            int(ragged.doc[at]): int(ragged.columns[column][at]) for at in range(*ragged.row(row).indices(ragged.nnz))
        }
        for row, query in enumerate(ragged.query)
    }


@st.composite
def rankings(draw: st.DrawFn, cls: type[Ragged] = Candidates) -> Rankings:
    """Any number of weighted rankings a row, of any length."""
    over = ragged_of(draw(pairs()), cls)
    orders = [
        draw(st.lists(st.lists(st.integers(0, max(int(n) - 1, 0)), unique=True, max_size=int(n)), max_size=3))
        for n in over.lengths
    ]
    flat = [order for row in orders for order in row]
    counts = [len(row) for row in orders]
    lengths = [len(order) for order in flat]
    return Rankings(
        over,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([item for order in flat for item in order], dtype=np.int32),
        np.array([(index + 1) / (n * (n + 1) / 2) for n in counts for index in range(n)]),
        np.array([index for n in counts for index in range(n)], dtype=np.int32),
    )
