"""Arrays in parts that lie on the workers of a Dask cluster, for libraries that train there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.execution.dask_cluster import Dask, cluster_client

if TYPE_CHECKING:
    from numpy.typing import NDArray


def query_safe_parts(indptr: NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Cut rows into parts of about equally many documents, none of them within a row.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows: queries with their documents.
    parts
        how many at most, at least 1; fewer where there are fewer rows with documents.

    Returns
    -------
    list of (start, stop)
        ranges of rows, in order, that cover 0..B; each holds a document, where there is any.
    """
    rows = len(indptr) - 1
    wanted = indptr[-1] * np.arange(1, parts) / parts
    behind = np.searchsorted(indptr, wanted, side="left")  # the first end of a row at or behind each cut
    before = np.maximum(behind - 1, 0)
    inner = np.where(wanted - indptr[before] < indptr[behind] - wanted, before, behind)
    cuts = np.unique(np.concatenate([[0], inner, [rows]])).tolist()
    found: list[tuple[int, int]] = []
    for start, stop in pairwise(cuts):
        if found and (indptr[stop] == indptr[start] or indptr[found[-1][1]] == indptr[found[-1][0]]):
            start = found.pop()[0]  # a part without a document goes with its neighbour
        found.append((start, stop))
    return found


def on_workers(engine: Dask, indptr: NDArray[np.int64], *columns: NDArray[Any]) -> tuple[Any, list[Any], int]:
    """Send rows to the workers of a cluster, a part to each, and say how long the rows of each part are.

    Parameters
    ----------
    engine
        whose cluster is used.
    indptr
        int64 (B + 1,), the rows.
    columns
        (nnz, …), what belongs to each document.

    Returns
    -------
    client, arrays, parts
        the client; a Dask array for each column and, last, one of the lengths of rows, all with the same parts; and
        how many parts there are.

    Raises
    ------
    MissingError, ConfigError
        as `rerankers.execution.dask_cluster.cluster_client`.
    """
    client = cluster_client(engine)
    from dask import array, delayed

    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    workers = workers if engine.workers < 0 else workers[: engine.workers]
    bounds = query_safe_parts(indptr, len(workers))

    def sent(parts: Sequence[NDArray[Any]]) -> Any:
        held = [
            client.scatter(np.ascontiguousarray(part), workers=[worker], hash=False)
            for part, worker in zip(parts, workers, strict=False)
        ]
        return array.concatenate(
            [
                array.from_delayed(delayed(one), part.shape, dtype=part.dtype)
                for one, part in zip(held, parts, strict=True)
            ]
        )

    arrays = [sent([column[indptr[start] : indptr[stop]] for start, stop in bounds]) for column in columns]
    lengths = np.diff(indptr)
    return client, [*arrays, sent([lengths[start:stop] for start, stop in bounds])], len(bounds)
