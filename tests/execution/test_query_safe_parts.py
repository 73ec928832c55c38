"""Parts of training rows for workers: whole queries, all of them, about equally many documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rerankers.execution.dask_parts import query_safe_parts


@given(lengths=st.lists(st.integers(0, 30), max_size=40), parts=st.integers(1, 8))
def test_no_query_is_cut_none_is_lost_and_all_parts_hold_documents(lengths: list[int], parts: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = query_safe_parts(indptr, parts)
    assert [row for start, stop in found for row in range(start, stop)] == list(range(len(lengths)))
    assert len(found) <= parts
    sizes = [int(indptr[stop] - indptr[start]) for start, stop in found]
    if sum(lengths):
        assert min(sizes) > 0
        assert max(sizes) <= -(-sum(lengths) // parts) + 2 * max(lengths)


def test_parts_are_as_equal_as_queries_allow() -> None:
    indptr = np.arange(0, 101, 10)
    assert query_safe_parts(indptr, 2) == [(0, 5), (5, 10)]
    assert query_safe_parts(indptr, 3) == [(0, 3), (3, 7), (7, 10)]
    assert query_safe_parts(np.array([0, 50, 60]), 4) == [(0, 1), (1, 2)]
