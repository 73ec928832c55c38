"""The cores of one machine, by the worker processes of joblib (loky)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from rerankers.execution.base import ONE_THREAD, B, R
from rerankers.execution.blocks import check_pool
from rerankers.execution.in_order import in_order
from rerankers.execution.serial import Serial

WATCH = 2.0
"""Seconds between looks whether the parent of a worker is still there."""


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
        check_pool(self.workers, self.block)

    def map(
        self, function: Callable[[B], R], blocks: Iterable[B], name: Callable[[B], str] | None = None
    ) -> Iterator[R]:
        """Yield results in block order; see `rerankers.execution.base.Executor.map`."""
        if self.workers == 1:
            yield from Serial().map(function, blocks, name)
            return
        processes, home = _Processes(function, self.workers), threading.get_ident()
        try:
            yield from in_order(processes, blocks, name)
        except BaseException:
            # A generator that nobody closed may be collected in a thread of the pool itself, which cannot end the pool.
            if threading.get_ident() == home:
                processes.end()
            raise


class _Processes(Generic[B, R]):
    """Sends blocks to the pool of processes that joblib keeps; a pool that broke is replaced."""

    def __init__(self, function: Callable[[B], R], workers: int) -> None:
        self._function, self._workers = function, workers
        self._known: Any = None

    @cached_property
    def workers(self) -> int:
        import joblib

        return int(joblib.cpu_count()) if self._workers < 0 else self._workers

    @cached_property
    def lost(self) -> tuple[type[BaseException], ...]:
        from concurrent.futures import CancelledError

        from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

        return BrokenProcessPool, ShutdownExecutorError, CancelledError

    def _pool(self) -> Any:
        from joblib.externals.loky import get_reusable_executor

        self._known = get_reusable_executor(
            max_workers=self.workers, env=ONE_THREAD, timeout=300, initializer=_end_with, initargs=(os.getpid(),)
        )
        return self._known

    def submit(self, block: B) -> Any:
        return self._pool().submit(self._function, block)

    def result(self, handle: Any) -> R:
        found: R = handle.result()
        return found

    def cancel(self, handle: Any) -> None:
        handle.cancel()

    def end(self) -> None:
        """Stop the processes, whatever they are at: nobody waits for it any more."""
        if self._known is not None:
            self._known.shutdown(wait=False, kill_workers=True)


def _end_with(parent: int) -> None:
    """Let a worker end soon after its parent, which may be killed: its memory is wanted by whoever goes on."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
