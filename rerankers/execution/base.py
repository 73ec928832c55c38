"""What every engine offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

B = TypeVar("B")
R = TypeVar("R")


class Executor(Protocol):
    """An engine; its dataclass fields are the options of ``conf/execution/<name>.yaml``."""

    @property
    def workers(self) -> int:
        """Number of worker processes; 1 means this process."""
        ...

    @property
    def block(self) -> int | None:
        """Queries a block, or None to choose by the work in them."""
        ...

    def map(self, function: Callable[[B], R], blocks: Iterable[B]) -> Iterator[R]:
        """Yield ``function(block)`` in the order of the blocks. Function and blocks must pickle."""
        ...
