"""Whether two systems are equal for practical purposes: two one-sided tests against a margin.

A difference that is not significant is no evidence of equality. Equivalence is claimed where the mean difference is
shown to lie above -margin and below +margin, each by a one-sided test of size alpha (TOST; Schuirmann 1987), which is
where the (1 - 2 alpha) interval lies inside; non-inferiority is the one side that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.clusters import cluster_index
from rerankers.stats.paired import mean_draws, paired_intervals, ratio_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known about a mean difference and a margin.

    Attributes
    ----------
    mean
        of the differences; None without a value.
    low, high
        the (1 - 2 alpha) interval; None with fewer than two values.
    not_lower, not_higher
        one-sided p-values of "the mean is at most -margin" and of "at least +margin": small ones speak for
        non-inferiority of what should be high and of what should be low.
    p
        the larger of both: that of the claim that they are equivalent.
    equivalent
        whether ``p`` is at most alpha.
    units
        queries with a value, clusters where there are.
    """

    mean: float | None
    low: float | None
    high: float | None
    not_lower: float | None
    not_higher: float | None
    p: float | None
    equivalent: bool
    units: int


def tost(
    differences: ArrayLike, margin: float, *, alpha: float = 0.05, cluster: NDArray[np.integer] | None = None
) -> Equivalence:
    """Return the two one-sided paired t tests of a mean difference (Schuirmann 1987).

    Parameters
    ----------
    differences
        float64 (Q,), NaN is left out.
    margin
        above 0, in the units of the measure: the largest difference that does not matter.
    alpha
        size of each one-sided test, between 0 and .5.
    cluster
        int (Q,), queries of one code count as one unit (the standard error is that of a ratio of cluster sums);
        None: each by itself.

    Raises
    ------
    InputError
        for differences that are no vector, a margin that is not above 0 and an alpha out of range.
    """
    from scipy.stats import t as student

    sums, count = _units(differences, margin, alpha, cluster)
    units = len(sums)
    if units < 2:
        return _unknown(sums, count)
    mean = float(sums.sum() / count.sum())
    error = ratio_error(sums, count)
    if error <= 1e-14 * max(abs(mean), margin):  # every query differs by as much: nothing is left to chance
        edge = margin * (1 - 1e-12)  # rounding does not bring a difference inside
        below, above = float(mean <= -edge), float(mean >= edge)
    else:
        below = float(student.sf((mean + margin) / error, units - 1))
        above = float(student.cdf((mean - margin) / error, units - 1))
    reach = float(student.ppf(1 - alpha, units - 1)) * error
    larger = max(below, above)
    return Equivalence(mean, mean - reach, mean + reach, below, above, larger, larger <= alpha, units)


def bootstrap_tost(
    differences: ArrayLike,
    margin: float,
    *,
    alpha: float = 0.05,
    cluster: NDArray[np.integer] | None = None,
    seed: int = 0,
    resamples: int = 9999,
) -> Equivalence:
    """Return the same from resampled queries, for differences far from normal.

    The interval is BCa. The p-values are those of the percentile interval turned round: the share (b + 1) / (m + 1)
    of resampled means on the wrong side of the margin. ``equivalent`` asks for both: p at most alpha, and the BCa
    interval inside the margin.

    Parameters
    ----------
    differences, margin, alpha, cluster
        as in `tost`.
    seed, resamples
        of the bootstrap.

    Raises
    ------
    InputError
        as `tost`, and for fewer than one resample.
    """
    sums, count = _units(differences, margin, alpha, cluster)
    if len(sums) < 2:
        return _unknown(sums, count)
    table = np.asarray(differences, dtype=np.float64)[:, None]
    how = {"cluster": cluster, "seed": seed, "resamples": resamples}
    (span,) = paired_intervals(table, level=1 - 2 * alpha, method="bca", **how)  # type: ignore[arg-type]
    drawn = mean_draws(table[:, 0], **how)  # type: ignore[arg-type]
    edge = margin * (1 - 1e-12)  # rounding does not bring a difference inside
    below, above = ((np.sum(wrong) + 1) / (len(drawn) + 1) for wrong in (drawn <= -edge, drawn >= edge))
    larger = float(max(below, above))
    inside = span.low is not None and span.high is not None and -edge < span.low and span.high < edge
    return Equivalence(
        span.mean, span.low, span.high, float(below), float(above), larger, inside and larger <= alpha, len(sums)
    )


def _units(
    differences: ArrayLike, margin: float, alpha: float, cluster: NDArray[np.integer] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum and the number of values of each unit that has one."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or np.any(np.isinf(values)):
        found = "infinite numbers" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError.one("differences", found, "(queries,) of numbers, NaN where there is none")
    if not (np.isfinite(margin) and margin > 0):
        raise InputError.one("margin", str(margin), "a number above 0")
    if not 0 < alpha < 0.5:
        raise InputError.one("alpha", str(alpha), "a number between 0 and .5")
    index, units = cluster_index(len(values), cluster)
    present = ~np.isnan(values)
    sums = np.bincount(index[present], weights=values[present], minlength=units).astype(np.float64)
    count = np.bincount(index[present], minlength=units).astype(np.float64)
    return sums[count > 0], count[count > 0]


def _unknown(sums: NDArray[np.float64], count: NDArray[np.float64]) -> Equivalence:
    mean = float(sums.sum() / count.sum()) if len(sums) else None
    return Equivalence(mean, None, None, None, None, None, False, len(sums))
