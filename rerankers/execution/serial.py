"""Everything in this process: the default, and the reference that other engines must equal bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.execution.base import B, R
from rerankers.execution.blocks import check_block


@dataclass(frozen=True, slots=True)
class Serial:
    """Run blocks one after the other.

    Attributes
    ----------
    workers
        must be 1 here (kept so that ``execution.workers`` is understood by every engine).
    block
        queries a block; None chooses by the work in them.
    """

    workers: int = 1
    block: int | None = None

    def __post_init__(self) -> None:
        check_block(self.block)
        if self.workers != 1:
            raise ConfigError(f"execution.workers: found {self.workers}; expected 1, or execution=joblib")

    def map(
        self, function: Callable[[B], R], blocks: Iterable[B], name: Callable[[B], str] | None = None
    ) -> Iterator[R]:
        """Yield results in block order; see `rerankers.execution.base.Executor.map`."""
        for number, block in enumerate(blocks, 1):
            try:
                result = function(block)
            except Exception as error:
                error.add_note(f"in block {number}" + ("" if name is None else f": {name(block)}"))
                raise
            yield result
