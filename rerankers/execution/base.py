"""What every engine offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

B = TypeVar("B")
R = TypeVar("R")

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
"""The environment of workers: numerical libraries keep to one thread in each, or they would fight for the cores."""


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

    def map(
        self, function: Callable[[B], R], blocks: Iterable[B], name: Callable[[B], str] | None = None
    ) -> Iterator[R]:
        """Yield ``function(block)`` in the order of the blocks.

        Function and blocks must pickle. Blocks are read as they are needed, about two a worker ahead, so that memory
        is bounded by them. ``name`` says what a block is called in errors.

        Raises
        ------
        WorkerLostError
            naming the block whose worker is lost again and again.
        Exception
            of the function, with a note that names the block.
        """
        ...
