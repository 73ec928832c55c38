"""A worker that is lost takes no result along; a block that ends every worker is named."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import WorkerLostError
from rerankers.execution import Dask, Joblib, Ray, Serial
from rerankers.execution.in_order import in_order


def dies_once(marks: Path, value: int) -> int:
    mark = marks / str(value)
    if value in (3, 4) and not mark.exists():
        mark.write_text("")
        os._exit(9)
    return value


def dies_always(value: int) -> int:
    if value == 3:
        os._exit(9)
    return value


def reciprocal(value: int) -> float:
    return 1 / value


def threads(_: int) -> str:
    return os.environ["OMP_NUM_THREADS"]


def number(value: int) -> str:
    return f"number {value}"


def test_joblib_does_lost_blocks_again(tmp_path: Path) -> None:
    assert list(Joblib(workers=2).map(partial(dies_once, tmp_path), range(8))) == list(range(8))


def test_joblib_names_what_ends_every_worker() -> None:
    blocks = Joblib(workers=2).map(dies_always, range(8), number)
    assert [next(blocks) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerLostError, match="block 4: number 3: its worker was lost 3 times"):
        next(blocks)
    assert set(Joblib(workers=2).map(threads, range(4))) == {"1"}


@pytest.mark.parametrize("engine", [Serial(), Joblib(workers=2)])
def test_errors_name_their_block(engine: Serial | Joblib) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(engine.map(reciprocal, [1, 0, 2], number))
    assert caught.value.__notes__ == ["in block 2: number 0"]


def test_the_error_travels() -> None:
    error = pickle.loads(pickle.dumps(WorkerLostError("block 1", 3, "killed\n by 9")))
    assert str(error) == str(WorkerLostError("block 1", 3, "killed by 9"))
    assert error.exit_code == 3


@pytest.mark.parametrize("kind", [Dask, Ray])
def test_clusters_say_what_to_install(kind: type[Dask] | type[Ray], monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers._base.errors import ConfigError, MissingError

    for package in ("distributed", "ray"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingError, match="pip install 'fair-rerankers"):
        list(kind().map(reciprocal, [1]))
    with pytest.raises(ConfigError, match="workers"):
        kind(workers=0)


class GoneError(Exception):
    """A worker is lost."""


class Unreliable:
    """Loses workers as told: what was under way then is lost as well."""

    lost = (GoneError,)

    def __init__(self, workers: int, losses: dict[int, int]) -> None:
        self.workers, self.losses, self.open = workers, dict(losses), dict[int, Any]()
        self.sent = 0
        self.most_open = 0

    def submit(self, block: int) -> list[Any]:
        handle = [block, "open"]
        self.open[id(handle)] = handle
        self.most_open = max(self.most_open, len(self.open))
        return handle

    def result(self, handle: list[Any]) -> int:
        block, state = handle
        if state == "gone":
            self.open.pop(id(handle), None)
            raise GoneError
        if self.losses.get(block, 0):
            self.losses[block] -= 1
            for other in self.open.values():
                other[1] = "gone"
            self.open.pop(id(handle))
            raise GoneError
        self.open.pop(id(handle))
        return -block

    def cancel(self, handle: list[Any] | None) -> None:
        if handle is not None:
            self.open.pop(id(handle), None)


@given(
    st.integers(0, 12),
    st.integers(1, 4),
    st.dictionaries(st.integers(0, 11), st.integers(0, 2), max_size=5),
)
def test_every_result_once_and_in_order(blocks: int, workers: int, losses: dict[int, int]) -> None:
    """At most two losses of a block are made good, whoever else they take along."""
    engine = Unreliable(workers, losses)
    assert list(in_order(engine, range(blocks))) == [-block for block in range(blocks)]
    assert not engine.open
    assert engine.most_open <= 2 * workers


def test_blocks_are_read_as_they_are_needed() -> None:
    taken: list[int] = []

    def read() -> Iterator[int]:
        for block in range(100):
            taken.append(block)
            yield block

    found = in_order(Unreliable(2, {}), read())
    assert next(found) == 0
    assert len(taken) == 4
    found.close()  # type: ignore[attr-defined]
    with pytest.raises(WorkerLostError, match=r"block 3: its worker was lost 3 times"):
        list(in_order(Unreliable(2, {2: 9}), range(5)))
