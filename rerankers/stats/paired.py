"""Intervals of means and mean differences over queries, or over clusters of queries, that hold for few of them too.

The studentized bootstrap (Efron 1982, §10.9; Hall 1988) resamples the mean divided by its own standard error, and so
allows for the error of that one and for skewness. Of 20 to 50 queries its 95 % intervals of skewed losses cover 93 to
95 %, those of BCa 88 to 94 %: BCa is second-order correct as well, but its tails are those of a known variance.

Of fewer than five queries, resamples of one value and of nearly equal ones make the ratios: the interval is then
Student's t interval. Where one or two queries make up nearly all of the spread, the resamples without them do the same,
and a quantile may be anything: the interval is then that of BCa, which stays within the values.

Queries that share a topic, an author or a user are not independent; whole clusters are then drawn (Davison and
Hinkley 1997, §3.8), and the mean stays that of queries, a ratio of cluster sums with the standard error of a ratio.
More than 20,000 queries are drawn in batches (`rerankers.stats.batches`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.stats.batches import batch_of
from rerankers.stats.bootstrap import METHODS, RESAMPLES, Interval, mean_intervals, resample_counts
from rerankers.stats.clusters import check_bootstrap, cluster_index, ratio_intervals
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STUDENTIZED = "studentized"
FEW_UNITS = 30
"""Fewer independent topics than this call for a caution: tails are then a matter of a few queries."""
FEWEST_RESAMPLED = 5
"""Fewer than this are not resampled: two queries would get an interval of no width, three or four one of any width."""
LEAST_ERROR = 0.1
"""A resample whose standard error is a smaller part than this of the sample's lacks the queries that make it up."""


class _Sums(NamedTuple):
    """One column: the sum of differences and the number of queries of every cluster that has any, float64 (C,)."""

    total: Floats
    queries: Floats


def paired_intervals(
    differences: Floats,
    *,
    cluster: NDArray[np.integer] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: str = STUDENTIZED,
) -> list[Interval]:
    """Return the mean of every column with its interval, columns with the same queries on the same resamples.

    Parameters
    ----------
    differences
        float64 (Q, C), NaN where a query has no value: it is no part of the column's sample.
    cluster
        int (Q,), queries of one code are drawn together; None: each by itself.
    seed, resamples, level
        as of `mean_intervals`.
    method
        ``studentized``, or ``bca`` and ``percentile`` as of `mean_intervals`.

    Returns
    -------
    list of Interval, length C
        ``units`` counts the queries with a value, or the clusters that have any. A column whose values are all equal
        to v has the interval [v, v]. Fewer than `FEWEST_RESAMPLED` units get the t interval for ``studentized``; those
        whose spread very few units make up (more resamples than lie beyond the interval are below `LEAST_ERROR`) get
        that of ``bca``.

    Raises
    ------
    InputError, ConfigError
        for no matrix, and as `mean_intervals` and `cluster_index`.
    """
    choose("interval method", method, (STUDENTIZED, *METHODS))
    check_bootstrap(resamples, level, METHODS[0])
    if differences.ndim != 2 or np.any(np.isinf(differences)):
        found = "infinite numbers" if differences.ndim == 2 else f"shape {differences.shape}"
        raise InputError.one("differences", found, "(queries, comparisons) of numbers, NaN where there is none")
    batch = batch_of(len(differences)) if cluster is None else None
    if batch is not None:
        dealt = paired_intervals(differences, cluster=batch, seed=seed, resamples=resamples, level=level, method=method)
        present = np.count_nonzero(~np.isnan(differences), axis=0).tolist()
        return [replace(one, units=queries) for one, queries in zip(dealt, present, strict=True)]
    if method != STUDENTIZED and cluster is None:
        return mean_intervals(differences, seed=seed, resamples=resamples, level=level, method=method)
    columns = [_sums(values, cluster) for values in differences.T]
    if method != STUDENTIZED:
        how = {"seed": seed, "resamples": resamples, "level": level, "method": method}
        return [ratio_intervals(np.column_stack(one), _quotient, **how)[0] for one in columns]  # type: ignore[arg-type]
    means = [_mean(values) for values in differences.T]
    return _studentized(columns, means, seed, resamples, level)


def mean_draws(
    differences: Floats, *, cluster: NDArray[np.integer] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Floats:
    """Return resampled means of one column, float64 (resamples,).

    Parameters
    ----------
    differences
        float64 (Q,), NaN is left out; at least one value.
    cluster, seed, resamples
        as in `paired_intervals`.
    """
    check_bootstrap(resamples, 0.95, METHODS[0])
    cells = np.column_stack(_sums(differences, batch_of(len(differences)) if cluster is None else cluster))
    # einsum adds in one fixed order whatever the number of threads; BLAS does not promise it
    drawn = [np.einsum("rc,cm->rm", times, cells) for times in resample_counts(len(cells), seed, resamples)]
    return _quotient(np.concatenate(drawn))[:, 0]


def ratio_error(total: Floats, count: Floats) -> float:
    """Return the standard error of the mean of queries, sum(total) / sum(count), from C clusters of them.

    Parameters
    ----------
    total, count
        float64 (C,), sums and numbers of queries of the clusters, C at least 2; with ``count`` 1 throughout it is
        sd / sqrt(C).
    """
    clusters = len(total)
    residual = total - total.sum() / count.sum() * count
    return float(math.sqrt(np.sum(residual**2) * clusters / (clusters - 1)) / count.sum())


def _mean(values: Floats) -> float | None:
    """Return the mean; that of equal values is their value, to the bit."""
    present = values[~np.isnan(values)]
    return float(present[0]) if len(present) and np.ptp(present) == 0 else exact_mean(values)


def _sums(values: Floats, cluster: NDArray[np.integer] | None) -> _Sums:
    index, clusters = cluster_index(len(values), cluster)
    present = ~np.isnan(values)
    count = np.bincount(index[present], minlength=clusters)
    total = np.bincount(index[present], weights=values[present], minlength=clusters)
    return _Sums(total[count > 0].astype(np.float64), count[count > 0].astype(np.float64))


def _studentized(
    columns: Sequence[_Sums], means: Sequence[float | None], seed: int, resamples: int, level: float
) -> list[Interval]:
    out = [_without_resamples(one, mean, level) for one, mean in zip(columns, means, strict=True)]
    alike: dict[bytes, list[int]] = {}  # columns of the same queries are resampled in one pass
    for place, found in enumerate(out):
        if found is None:
            alike.setdefault(columns[place].queries.tobytes(), []).append(place)
    for places in alike.values():
        queries = columns[places[0]].queries
        residual = np.stack([columns[place].total - (means[place] or 0.0) * queries for place in places])
        scale = np.abs(residual).max(axis=1)
        residual /= scale[:, None]  # squares neither overflow nor vanish
        drawn = [_ratios(times, residual, queries) for times in resample_counts(len(queries), seed, resamples)]
        ratios, settled = (np.concatenate(part, axis=1) for part in zip(*drawn, strict=True))
        error = scale * np.sqrt(np.sum(residual**2, axis=1)) / queries.sum()
        for row, place in enumerate(places):
            if np.mean(settled[row]) < (1 + level) / 2:
                out[place] = _by_bca(columns[place], seed, resamples, level)
            else:
                out[place] = _turned(means[place] or 0.0, float(error[row]), ratios[row], len(queries), level)
    return [found for found in out if found is not None]


def _without_resamples(sums: _Sums, mean: float | None, level: float) -> Interval | None:
    """Return what is told without resampling; None where there is something to resample."""
    units = len(sums.total)
    if mean is None:
        return Interval(None, None, None, 0, "no_value")
    if units < 2:
        return Interval(mean, None, None, units, "fewer_than_two_values")
    equal = np.abs(sums.total - mean * sums.queries).max() <= 1e-14 * abs(mean)
    if equal:
        return Interval(mean, mean, mean, units)
    return _of_few(sums, mean, level) if units < FEWEST_RESAMPLED else None


def _of_few(sums: _Sums, mean: float, level: float) -> Interval:
    """Return Student's t interval."""
    from scipy.special import stdtrit

    units = len(sums.total)
    scale = np.abs(sums.total).max()  # squares neither overflow nor vanish
    reach = float(stdtrit(units - 1, (1 + level) / 2) * scale * ratio_error(sums.total / scale, sums.queries))
    return Interval(mean, mean - reach, mean + reach, units)


def _by_bca(sums: _Sums, seed: int, resamples: int, level: float) -> Interval:
    how = {"seed": seed, "resamples": resamples, "level": level, "method": METHODS[0]}
    return ratio_intervals(np.column_stack(sums), _quotient, **how)[0]  # type: ignore[arg-type]


def _turned(mean: float, error: float, ratios: Floats, units: int, level: float) -> Interval:
    """Return the interval that the ratios' quantiles leave, turned round."""
    ratios = ratios[~np.isnan(ratios)]
    if not len(ratios):
        return Interval(mean, None, None, units, "no_resample_with_a_value")
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, mean - float(high) * error, mean - float(low) * error, units)


def _ratios(times: Floats, residual: Floats, queries: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return how far each resample's mean is from the mean, in its own standard errors, and where these are told.

    Returns
    -------
    ratios, settled
        float64 and bool (C, R): NaN where the standard error is 0; False where it is below `LEAST_ERROR` of that of the
        sample.
    """
    number, weight = (np.einsum("rc,c->r", times, one) for one in (queries, queries**2))
    moved, square, mixed = (np.einsum("rc,mc->mr", times, one) for one in (residual, residual**2, residual * queries))
    shift = moved / number
    spread = square - 2 * shift * mixed + shift**2 * weight
    out: Floats = np.full(spread.shape, np.nan)
    known = spread > 1e-12 * square  # what rounding leaves of equal values is no spread
    np.divide(shift * number, np.sqrt(np.where(known, spread, 1.0)), out=out, where=known)
    return out, spread * np.square(queries.sum() / number) >= LEAST_ERROR**2 * np.sum(residual**2, axis=1)[:, None]


def _quotient(sums: Floats) -> Floats:
    """Return the first column over the second, float64 (R, 1)."""
    return sums[:, :1] / sums[:, 1:]
