"""Threads inside one process, for numpy work that lets other threads run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from rerankers.execution.base import B, R


def thread_count() -> int:
    """Return how many threads this process may use: OMP_NUM_THREADS if it says so, else its cores.

    Engines set that variable to 1 in their workers, which share the cores already.
    """
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdigit() and int(told) > 0:
        return int(told)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def thread_map(function: Callable[[B], R], items: Iterable[B], threads: int) -> list[R]:
    """Return ``function(item)`` of every item, in their order."""
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
