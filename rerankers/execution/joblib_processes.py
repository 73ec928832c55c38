"""The cores of one machine, by joblib's worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.execution.base import B, R
from rerankers.execution.blocks import check_block


@dataclass(frozen=True, slots=True)
class Joblib:
    """Run blocks in processes that are started afresh, never forked: a Java virtual machine may be running here.

    Attributes
    ----------
    workers
        processes; -1 takes all cores.
    block
        queries a block; None chooses by the work in them.
    """

    workers: int = -1
    block: int | None = None

    def __post_init__(self) -> None:
        check_block(self.block)
        if self.workers == 0:
            raise ConfigError("execution.workers: found 0; expected at least 1, or -1 for all cores")

    def map(self, function: Callable[[B], R], blocks: Iterable[B]) -> Iterator[R]:
        """Yield results in block order, each as soon as it and all before it are done."""
        import joblib

        # Numerical libraries keep to one thread in each worker, or they would fight for the cores.
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(n_jobs=self.workers, return_as="generator", pre_dispatch="2*n_jobs")
            yield from parallel(joblib.delayed(function)(block) for block in blocks)
