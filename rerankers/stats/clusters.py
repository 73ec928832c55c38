"""Bootstrap intervals of statistics that are no means over queries: ratios of sums, and what else resamples give.

Whole clusters (queries, or topics with all their variants) are drawn, since pairs of one query are not independent
(Davison and Hinkley 1997, §3.8). The resamples are those of `mean_intervals` with the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.stats.batches import in_batches
from rerankers.stats.bootstrap import METHODS, Interval, resample_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

Finish = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]
"""From sums over clusters, float64 (R, M), to statistics, float64 (R, K); NaN where one is not defined."""


def cluster_index(rows: int, cluster: NDArray[np.integer] | None) -> tuple[NDArray[np.int64], int]:
    """Return (int64 (rows,), C): the clusters of rows, numbered from 0 by ascending code; None: each row is one.

    Raises
    ------
    InputError
        when there is not one code a row.
    """
    if cluster is None:
        return np.arange(rows, dtype=np.int64), rows
    if np.shape(cluster) != (rows,):
        raise InputError.one("cluster", f"shape {np.shape(cluster)}", f"shape ({rows},), one entry a query")
    codes, index = np.unique(cluster, return_inverse=True)
    return index.astype(np.int64), len(codes)


def check_bootstrap(resamples: int, level: float, method: str) -> None:
    """Raise unless the options of a bootstrap are in their ranges.

    Raises
    ------
    InputError
        for fewer than one resample and a level that is not strictly between 0 and 1.
    ConfigError
        for an unknown method.
    """
    choose("bootstrap method", method, METHODS)
    if resamples < 1:
        raise InputError.one("resamples", str(resamples), "at least 1")
    if not 0 < level < 1:
        raise InputError.one("level", str(level), "a number between 0 and 1")


def ratio_intervals(
    cells: NDArray[np.float64],
    finish: Finish,
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
    method: str = "bca",
) -> list[Interval]:
    """Return each statistic with its interval; all of them on the same resamples.

    Parameters
    ----------
    cells
        float64 (C, M), sums of each cluster. The order of the rows decides which resample a cluster falls into. More
        than 20,000 are drawn in batches (`rerankers.stats.batches`).
    finish
        from sums of sums to statistics, for instance a ratio of two columns; of rows independently.
    seed, resamples, level, method
        as of `mean_intervals`.

    Returns
    -------
    list of Interval, length K
        ``mean`` is the statistic of all clusters.
    """
    check_bootstrap(resamples, level, method)
    clusters = len(cells)
    total = cells.sum(axis=0)
    estimate = finish(total[None])[0]
    if clusters < 2:
        return [interval_of(float(value), np.empty(0), np.empty(0), clusters, level, method) for value in estimate]
    cells = in_batches(cells)
    # einsum adds in one fixed order whatever the number of threads; BLAS does not promise it.
    drawn = [np.einsum("rc,cm->rm", times, cells) for times in resample_counts(len(cells), seed, resamples)]
    resampled = finish(np.concatenate(drawn))
    left_out = finish(total - cells)
    return [
        interval_of(float(value), resampled[:, k], left_out[:, k], clusters, level, method)
        for k, value in enumerate(estimate)
    ]


def interval_of(
    estimate: float,
    resampled: NDArray[np.float64],
    left_out: NDArray[np.float64],
    clusters: int,
    level: float,
    method: str,
) -> Interval:
    """Return the interval of a statistic from its resamples.

    Parameters
    ----------
    estimate
        of all clusters; NaN where it is not defined.
    resampled
        float64 (R,), of resamples; NaN is left out.
    left_out
        float64 (C,), of all clusters but one each, for the acceleration of ``bca``; NaN is left out.
    clusters
        C.
    level, method
        as of `mean_intervals`.
    """
    if np.isnan(estimate):
        return Interval(None, None, None, clusters, "no_value")
    if clusters < 2:
        return Interval(estimate, None, None, clusters, "fewer_than_two_values")
    kept = resampled[~np.isnan(resampled)]
    if not len(kept):
        return Interval(estimate, None, None, clusters, "no_resample_with_a_value")
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _bca_tails(kept, estimate, left_out[~np.isnan(left_out)], tails)
    low, high = np.quantile(kept, tails)
    return Interval(estimate, float(low), float(high), clusters)


def _bca_tails(
    resampled: NDArray[np.float64], estimate: float, left_out: NDArray[np.float64], tails: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Move the tails by the median bias and the acceleration (Efron and Tibshirani 1993, §14.3).

    Without resamples on one side of the estimate the correction is infinite; the bias is then kept within one
    resample of the edge.
    """
    from scipy.special import ndtr, ndtri

    below = (np.sum(resampled < estimate) + np.sum(resampled <= estimate)) / (2 * len(resampled))
    edge = 0.5 / len(resampled)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    deviation = left_out.mean() - left_out if len(left_out) else np.zeros(1)
    largest = np.abs(deviation).max()
    acceleration = 0.0
    if largest > 0:
        deviation = deviation / largest  # cubes neither overflow nor vanish
        acceleration = np.sum(deviation**3) / (6 * np.sum(deviation**2) ** 1.5)
    moved = bias + ndtri(tails)
    shifted: NDArray[np.float64] = ndtr(bias + moved / (1 - acceleration * moved))
    return shifted
