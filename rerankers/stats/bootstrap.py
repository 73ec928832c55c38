"""Bootstrap intervals of means over queries, all measures on the same resamples.

`scipy.stats.bootstrap` draws anew for every call, so that two measures of one run would be judged on different
resamples, and it has no missing values. Here one seeded set of resamples serves every column; the interval of a
complete column equals scipy's on the same indices (a test compares them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers._base.streams import generator
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

METHODS = ("bca", "percentile")
RESAMPLES = 1000
_CELLS = 1 << 22  # resampled indices held at once: 32 MB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval.

    Attributes
    ----------
    mean
        None where no query has a value.
    low, high
        None where fewer than two queries have one.
    units
        queries with a value.
    reason
        ``no_value`` or ``fewer_than_two_values`` where something is None, else None.
    """

    mean: float | None
    low: float | None
    high: float | None
    units: int
    reason: str | None = None


def mean_intervals(
    values: NDArray[np.float64],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: str = "bca",
) -> list[Interval]:
    """Return the mean of every column with its bootstrap interval.

    Queries are resampled with replacement (Efron & Tibshirani 1993, ch. 13 and 14). NaN is left out of every mean;
    a resample in which a column has no value is left out for that column.

    Parameters
    ----------
    values
        float64 (Q, M), queries by measures, NaN where there is no value. The order of the rows decides which
        resample a query falls into: sort them by query id.
    seed
        of the resamples, shared by all columns.
    resamples
        number of resamples, at least 1.
    level
        coverage strictly between 0 and 1.
    method
        ``bca`` (bias-corrected and accelerated) or ``percentile``.

    Returns
    -------
    list of Interval, length M
        A column whose values are all equal to v has the interval [v, v].

    Raises
    ------
    ValueError
        when ``values`` is not a matrix, or ``resamples`` or ``level`` is out of range.
    ConfigError
        for an unknown method.
    """
    choose("interval method", method, METHODS)
    if values.ndim != 2 or resamples < 1 or not 0 < level < 1:
        raise ValueError(
            f"found values of shape {values.shape}, {resamples} resamples, level {level}; "
            "expected a matrix (queries, measures), at least 1 resample and a level between 0 and 1"
        )
    present = ~np.isnan(values)
    filled = np.asfortranarray(np.where(present, values, 0.0))
    spread = [m for m in range(values.shape[1]) if len(np.unique(values[present[:, m], m])) > 1]
    means = _resampled_means(filled[:, spread], present[:, spread], seed, resamples)
    out = [_constant(values[present[:, m], m]) for m in range(values.shape[1])]
    for column, m in enumerate(spread):
        kept = means[~np.isnan(means[:, column]), column]
        low, high = _bounds(kept, values[present[:, m], m], level, method)
        out[m] = Interval(exact_mean(values[:, m]), low, high, int(present[:, m].sum()))
    return out


def _constant(values: NDArray[np.float64]) -> Interval:
    mean = float(values[0]) if len(values) else None
    if len(values) < 2:
        return Interval(mean, None, None, len(values), "fewer_than_two_values" if len(values) else "no_value")
    return Interval(mean, mean, mean, len(values))


def _resampled_means(
    filled: NDArray[np.float64], present: NDArray[np.bool_], seed: int, resamples: int
) -> NDArray[np.float64]:
    """Return float64 (resamples, M), NaN where a resample holds no value of a column."""
    units, columns = filled.shape
    means = np.full((resamples, columns), np.nan)
    if not columns:
        return means
    weights: dict[bytes, NDArray[np.float64]] = {}  # columns mostly lack the same queries
    pattern = [present[:, column].tobytes() for column in range(columns)]
    for column, key in enumerate(pattern):
        weights.setdefault(key, present[:, column].astype(np.float64))
    at = 0
    for times in resample_counts(units, seed, resamples):
        # einsum adds in one fixed order whatever the number of threads and of columns; BLAS does not promise it.
        counts = {key: np.einsum("ru,u->r", times, weight) for key, weight in weights.items()}
        for column in range(columns):
            count = counts[pattern[column]]
            total = np.einsum("ru,u->r", times, filled[:, column])
            np.divide(total, count, out=means[at : at + len(times), column], where=count > 0)
        at += len(times)
    return means


def resample_counts(units: int, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each unit is drawn, float64 (some resamples, units), until there are ``resamples`` rows."""
    draw = generator(seed, "bootstrap")
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        picked = draw.integers(0, units, size=(count, units)) + np.arange(count)[:, None] * units
        yield np.bincount(picked.ravel(), minlength=count * units).reshape(count, units).astype(np.float64)


def _bounds(means: NDArray[np.float64], values: NDArray[np.float64], level: float, method: str) -> tuple[float, float]:
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _bca_tails(means, values, tails)
    low, high = np.quantile(means, tails)
    return float(low), float(high)


def _bca_tails(
    means: NDArray[np.float64], values: NDArray[np.float64], tails: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Move the tails by the median bias and the acceleration.

    The jackknife of a mean leaves deviations proportional to v - mean(v), so that the acceleration is
    Σ(v - mean)³ / (6 (Σ(v - mean)²)^1.5). Without resamples on one side of the mean the correction is infinite;
    the bias is then kept within one resample of the edge.
    """
    from scipy.special import ndtr, ndtri

    estimate = values.mean()
    below = (np.sum(means < estimate) + np.sum(means <= estimate)) / (2 * len(means))
    edge = 0.5 / len(means)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    deviation = values - estimate
    deviation = deviation / np.abs(deviation).max()  # cubes neither overflow nor vanish
    acceleration = np.sum(deviation**3) / (6 * np.sum(deviation**2) ** 1.5)
    moved = bias + ndtri(tails)
    shifted: NDArray[np.float64] = ndtr(bias + moved / (1 - acceleration * moved))
    return shifted
