"""Ray: a cluster that is there already, or the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

from rerankers._base.errors import MissingError
from rerankers.execution.base import ONE_THREAD, B, R
from rerankers.execution.blocks import check_pool
from rerankers.execution.in_order import in_order

INSTALL = "execution=ray needs Ray. Type: pip install 'fair-rerankers[ray]'"


@dataclass(frozen=True, slots=True)
class Ray:
    """Run blocks as tasks of Ray.

    What all blocks need, and each block, is put into Ray's object store once and travels as a reference.

    Attributes
    ----------
    workers
        blocks at once; -1: one for each core of the cluster.
    block
        queries a block; None chooses by the work in them.
    address
        of a cluster that is there already (``auto`` finds the one of this machine); None starts one here.
    """

    workers: int = -1
    block: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        check_pool(self.workers, self.block)

    def map(
        self, function: Callable[[B], R], blocks: Iterable[B], name: Callable[[B], str] | None = None
    ) -> Iterator[R]:
        """Yield results in block order; see `rerankers.execution.base.Executor.map`."""
        yield from in_order(_Tasks(function, self), blocks, name)


class _Tasks(Generic[B, R]):
    def __init__(self, function: Callable[[B], R], engine: Ray) -> None:
        self._ray = _started(engine)
        self._most = engine.workers
        self._function = self._ray.put(function)
        self._given_up: list[Any] = []
        # Ray itself retries none: `in_order` does, and names what is lost again.
        self._task = self._ray.remote(_apply).options(max_retries=0, runtime_env={"env_vars": ONE_THREAD})

    @property
    def workers(self) -> int:
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return cores if self._most < 0 else min(cores, self._most)

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        errors = self._ray.exceptions
        return (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
            errors.TaskCancelledError,
            errors.LocalRayletDiedError,
        )

    def submit(self, block: B) -> Any:
        if self._given_up:  # blocks that are done again have the workers for themselves
            self._ray.wait(self._given_up, num_returns=len(self._given_up), fetch_local=False)
            self._given_up.clear()
        return self._task.remote(self._function, self._ray.put(block))

    def result(self, handle: Any) -> R:
        try:
            found: R = self._ray.get(handle)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        return found

    def cancel(self, handle: Any) -> None:
        # Left to end by itself: `ray.cancel` of a task that ends at that moment aborts the whole process ("Tried to
        # complete task that was not pending"). At most two blocks a worker are under way.
        self._given_up.append(handle)


def _apply(function: Any, block: Any) -> Any:
    return function(block)


def _started(engine: Ray) -> Any:
    """Return the module of Ray, connected; the connection stays for later jobs of this process.

    Raises
    ------
    MissingError
        without Ray, or where no cluster is found.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingError(INSTALL) from error
    if ray.is_initialized():
        return ray
    if engine.address is None:
        # A cluster of this process alone, which nobody else reaches: no token file in the user's home for it.
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")
        cores = None if engine.workers < 0 else engine.workers
        ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="error")
        return ray
    try:
        ray.init(address=engine.address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise MissingError(
            f"execution.address: no Ray cluster at {engine.address} ({error}). Start one with: ray start --head"
        ) from error
    return ray
