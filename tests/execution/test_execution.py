"""Every engine gives the same results in the same order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.execution import Joblib, Serial, block_bounds, thread_count, thread_map


def square(value: int) -> int:
    return value * value


@pytest.mark.parametrize("make", [Serial, lambda: Joblib(workers=2), lambda: Joblib(workers=1)])
def test_results_in_block_order(make: Callable[[], Serial | Joblib]) -> None:
    assert list(make().map(square, range(20))) == [value * value for value in range(20)]


def test_a_failing_block_raises_its_error() -> None:
    with pytest.raises(ZeroDivisionError):
        list(Joblib(workers=2).map(reciprocal, [1, 0, 2]))


def reciprocal(value: int) -> float:
    return 1 / value


def test_threads_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 3):
        assert thread_map(square, range(20), threads) == [value * value for value in range(20)]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert thread_count() >= 1


def test_no_workers_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"execution\.workers"):
        Joblib(workers=0)


@given(
    st.lists(st.integers(0, 3_000_000), max_size=30),
    st.integers(0, 50),
    st.one_of(st.none(), st.integers(1, 7)),
)
def test_blocks_cover_all_rows_once(lengths: list[int], draws: int, block: int | None) -> None:
    bounds = block_bounds(np.array(lengths, dtype=np.int64), draws, block)
    assert [row for start, stop in bounds for row in range(start, stop)] == list(range(len(lengths)))
    if block is not None:
        assert all(stop - start <= block for start, stop in bounds)
