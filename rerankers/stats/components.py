"""Where the variance of a measure comes from: queries, training seeds, and what a query and a seed have together.

A value of query q under seed s is mean + Q_q + S_s + E_qs, a two-way layout of random effects without repetitions; the
variances are the unbiased ones of the analysis of variance (Searle, Casella and McCulloch 1992, ch. 4; Cornfield and
Tukey 1956). They may come out below 0, where the truth is near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import RESAMPLES, Interval
from rerankers.stats.clusters import ratio_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of a value, with intervals.

    Attributes
    ----------
    queries
        between queries; of a single seed everything that differs between queries, noise included.
    seeds
        between seeds, which no number of queries averages out; None of a single seed.
    rest
        of a query and a seed together: interaction and noise of draws; None of a single seed.
    units, repetitions
        Q queries and K seeds.
    """

    queries: Interval
    seeds: Interval | None
    rest: Interval | None
    units: int
    repetitions: int


def variance_components(
    values: Floats, *, seed: int = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> Components:
    """Return the variances of queries, seeds and the rest.

    The intervals of queries and rest are BCa over resampled queries. That of seeds takes their mean square for a
    scaled chi-square with K - 1 degrees of freedom and the rest for known (Williams 1962): with few seeds it is wide,
    as it has to be.

    Parameters
    ----------
    values
        float64 (Q, K), a column a seed; queries with a NaN are left out.
    seed, resamples, level
        of the bootstrap.

    Raises
    ------
    InputError
        for no matrix, infinite values, no column, and fewer than two queries with all values.
    """
    if values.ndim != 2 or not values.shape[1] or np.any(np.isinf(values)):
        found = f"shape {values.shape}" if values.ndim != 2 or not values.shape[1] else "infinite numbers"
        raise InputError.one("values", found, "(queries, seeds) of numbers, NaN where there is none")
    kept = values[~np.isnan(values).any(axis=1)]
    units, repetitions = kept.shape
    if units < 2:
        raise InputError.one("values", f"{units} queries with a value under every seed", "at least two")
    centred = kept - kept.mean()  # squares do not lose digits
    mean = centred.mean(axis=1)
    cells = np.column_stack([centred, (centred**2).sum(axis=1), mean**2])
    variances = ratio_intervals(
        cells, lambda sums: _variances(sums, units, repetitions), seed=seed, resamples=resamples, level=level
    )
    if repetitions == 1:
        return Components(variances[0], None, None, units, 1)
    seeds = _of_seeds(centred, float(variances[2].mean or 0.0), level)
    return Components(variances[0], seeds, variances[2], units, repetitions)


def _variances(sums: Floats, units: int, repetitions: int) -> Floats:
    """Return the variances of queries, seeds and the rest from sums over queries, float64 (R, 3)."""
    of_seed, squares, of_mean = sums[:, :repetitions], sums[:, repetitions], sums[:, repetitions + 1]
    grand = of_seed.sum(axis=1) / (units * repetitions)
    queries = repetitions * (of_mean - units * grand**2)
    between = queries / (units - 1)
    if repetitions == 1:
        return np.column_stack([between, np.zeros_like(between), np.zeros_like(between)])
    seeds = (of_seed**2).sum(axis=1) / units - units * repetitions * grand**2
    total = squares - units * repetitions * grand**2
    rest = (total - queries - seeds) / ((units - 1) * (repetitions - 1))
    return np.column_stack([(between - rest) / repetitions, (seeds / (repetitions - 1) - rest) / units, rest])


def _of_seeds(values: Floats, rest: float, level: float) -> Interval:
    from scipy.stats import chi2

    units, repetitions = values.shape
    freedom = repetitions - 1
    square = units * float(np.sum((values.mean(axis=0) - values.mean()) ** 2)) / freedom
    upper, lower = (float(chi2.ppf(share, freedom)) for share in ((1 + level) / 2, (1 - level) / 2))
    low, high = (max((freedom * square / quantile - rest) / units, 0.0) for quantile in (upper, lower))
    return Interval((square - rest) / units, low, high, repetitions)
