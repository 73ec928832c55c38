"""Blocks on workers that may get lost: results in block order, what is lost once more, and by itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rerankers._base.errors import WorkerLostError
from rerankers.execution.base import B, R

S = TypeVar("S", contravariant=True)
T = TypeVar("T", covariant=True)

RETRIES = 2
"""How often a block is done again after its worker was lost."""


class Engine(Protocol[S, T]):
    """A running engine."""

    @property
    def workers(self) -> int:
        """Blocks that can be worked on at once, at least 1."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """The exceptions of `result` that mean that a worker, or what it held, is gone."""
        ...

    def submit(self, block: S) -> Any:
        """Send a block off; may raise what `lost` names, where no worker takes it."""
        ...

    def result(self, handle: Any) -> T:
        """Wait for the result; raises what the function raised."""
        ...

    def cancel(self, handle: Any) -> None:
        """Give up a block that nobody waits for any more."""
        ...


@dataclass(slots=True)
class _Refused:
    """Stands for a block that no worker took."""

    error: BaseException


@dataclass(slots=True)
class _Sent(Generic[B]):
    number: int
    block: B
    handle: Any
    tries: int = 0


def in_order(
    engine: Engine[B, R], blocks: Iterable[B], name: Callable[[B], str] | None = None, retries: int = RETRIES
) -> Iterator[R]:
    """Yield the results in the order of the blocks, with at most two blocks a worker under way.

    A lost worker may take the blocks of others along (a pool of processes ends as a whole). Which block was to blame
    is not known then, so that all blocks under way are done again one after the other, until they are through.

    Parameters
    ----------
    engine
        where blocks go.
    blocks
        read no faster than they are worked on.
    name
        what a block is called in errors; None calls it by its number, from 1.
    retries
        how often a block may lose its worker and still be tried once more.

    Raises
    ------
    WorkerLostError
        for a block that lost its worker more often than that.
    Exception
        of the function, with a note that names the block.
    """
    under_way: deque[_Sent[B]] = deque()
    rest = enumerate(blocks, 1)
    alone = 0  # blocks at the head that are done by themselves
    try:
        while True:
            while not alone and len(under_way) < 2 * engine.workers:
                try:
                    number, block = next(rest)
                except StopIteration:
                    break
                under_way.append(_Sent(number, block, _submit(engine, block)))
            if not under_way:
                return
            first = under_way[0]
            if first.handle is None:
                first.handle = _submit(engine, first.block)
            try:
                result = _result(engine, first.handle)
            except engine.lost as error:
                if alone:
                    first.tries += 1
                if first.tries > retries:
                    raise WorkerLostError(_called(first, name), first.tries, error) from error
                _cancel(engine, under_way)
                alone = max(alone, len(under_way))
                continue
            except Exception as error:
                error.add_note(f"in {_called(first, name)}")
                raise
            under_way.popleft()
            alone = max(alone - 1, 0)
            yield result
    finally:
        _cancel(engine, under_way)


def _submit(engine: Engine[B, R], block: B) -> Any:
    try:
        return engine.submit(block)
    except engine.lost as error:
        return _Refused(error)


def _result(engine: Engine[B, R], handle: Any) -> R:
    if isinstance(handle, _Refused):
        raise handle.error
    return engine.result(handle)


def _cancel(engine: Engine[B, R], under_way: Iterable[_Sent[B]]) -> None:
    for sent in under_way:
        if sent.handle is not None and not isinstance(sent.handle, _Refused):
            engine.cancel(sent.handle)
        sent.handle = None


def _called(sent: _Sent[B], name: Callable[[B], str] | None) -> str:
    return f"block {sent.number}" + ("" if name is None else f": {name(sent.block)}")
