"""A Dask cluster: one that is there already, or one of this machine's cores."""

from __future__ import annotations

import atexit
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

import rerankers
from rerankers._base.errors import ConfigError, MissingError
from rerankers.execution.base import ONE_THREAD, B, R
from rerankers.execution.blocks import check_pool
from rerankers.execution.in_order import in_order

PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Seconds before a block is sent again that a dying worker did not take."""
INSTALL = "execution=dask needs Dask. Type: pip install 'fair-rerankers[dask]'"


@dataclass(frozen=True, slots=True)
class Dask:
    """Run blocks on a Dask cluster.

    What all blocks need travels once to each worker, blocks travel straight to the worker that has time.

    Attributes
    ----------
    workers
        processes of a cluster on this machine, -1 for all cores; of one that is there already, all its threads are
        used (-1) or no more than this many blocks at once.
    block
        queries a block; None chooses by the work in them.
    address
        of the scheduler of a cluster that is there already, for instance ``tcp://10.0.0.1:8786``; None starts one here.
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
        yield from in_order(_Cluster(function, cluster_client(self), self.workers), blocks, name)


class _Cluster(Generic[B, R]):
    def __init__(self, function: Callable[[B], R], client: Any, workers: int) -> None:
        self._client, self._function, self._most = client, function, workers
        self._shared: Any = None

    @property
    def workers(self) -> int:
        threads = int(sum(self._client.nthreads().values()))
        return max(1, threads if self._most < 0 else min(threads, self._most))

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        from concurrent.futures import CancelledError as Cancelled

        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError
        from distributed.scheduler import NoValidWorkerError

        return CancelledError, Cancelled, KilledWorker, CommClosedError, NoValidWorkerError

    def submit(self, block: B) -> Any:
        # Data may be sent to a worker whose end the scheduler has not noticed yet.
        for seconds in PAUSES:
            try:
                return self._submit(block)
            except (OSError, TimeoutError):
                time.sleep(seconds)
        return self._submit(block)

    def _submit(self, block: B) -> Any:
        if self._shared is None or self._shared.cancelled():  # gone with the workers that held it
            self._shared = self._client.scatter(_Shared(self._function), broadcast=True, hash=False)
        held = self._client.scatter(_Shared(block), hash=False)
        # Not pure: a block that is sent again must be worked on again. Dask itself retries none: `in_order` does.
        return self._client.submit(_apply, self._shared, held, pure=False, retries=0)

    def result(self, handle: Any) -> R:
        found: R = handle.result()
        return found

    def cancel(self, handle: Any) -> None:
        handle.cancel()


@dataclass(frozen=True, slots=True)
class _Shared:
    """Holds what Dask would look into otherwise: it takes lists and mappings apart."""

    value: Any


def _apply(function: _Shared, block: _Shared) -> Any:
    return function.value(block.value)


_clients: dict[tuple[str | None, int], Any] = {}


def cluster_client(engine: Dask) -> Any:
    """Return the client of an engine, which stays for later jobs of this process.

    Raises
    ------
    MissingError
        without Dask, or where nobody answers.
    ConfigError
        where the workers have another version of this package.
    """
    key = (engine.address, -1 if engine.address else engine.workers)
    known = _clients.get(key)
    if known is not None and known.status == "running":
        return known
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingError(INSTALL) from error
    if engine.address is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        cluster = LocalCluster(
            n_workers=cores if engine.workers < 0 else engine.workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            env=ONE_THREAD,
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster, set_as_default=False)
        atexit.register(cluster.close, timeout=5)
    else:
        try:
            client = Client(engine.address, timeout=20, set_as_default=False)
        except (OSError, ValueError) as error:
            raise MissingError(
                f"execution.address: nobody answers at {engine.address} ({error}). Start it with: dask scheduler"
            ) from error
        _check_versions(client, engine.address)
    atexit.register(client.close, timeout=5)
    _clients[key] = client
    return client


def _check_versions(client: Any, address: str) -> None:
    found = client.run(_version)
    others = {worker: version for worker, version in found.items() if version != rerankers.__version__}
    if others or not found:
        told = ", ".join(f"{worker}: {version}" for worker, version in sorted(others.items())) or "no worker"
        raise ConfigError(
            f"execution.address: {address} has {told}; expected workers with fair-rerankers {rerankers.__version__}, "
            "or results would not be the same bits"
        )


def _version() -> str:
    return rerankers.__version__
