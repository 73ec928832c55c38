"""Sign-flip permutation tests of paired differences, one at a time and as a family.

Under the hypothesis that a query's difference is as likely to be d as -d, every pattern of signs is equally likely
(Fisher 1935; Smucker, Allan and Carterette 2007 for rankings). All comparisons of a family are flipped together, a
query's whole row with one sign, so that their dependence is kept: the step-down maximum (Westfall and Young 1993,
algorithm 4.1; Romano and Wolf 2005) controls the probability of any false finding without assuming anything about it.

`scipy.stats.permutation_test` tests one statistic at a time; a test compares the two where both apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import generator
from rerankers.stats.clusters import cluster_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

PERMUTATIONS = 9999
EXACT = 17
"""Units up to which all sign patterns are gone through: 2^16 of them up to a common sign, which changes nothing."""
_CELLS = 1 << 21
_TIE = 1e-10  # statistics that agree to so much are equal: sums of the same terms in another order


@dataclass(frozen=True, slots=True, eq=False)
class SignFlips:
    """Two-sided p-values of C comparisons.

    Attributes
    ----------
    mean
        float64 (C,), the mean differences; NaN without a value.
    p
        float64 (C,), each comparison by itself; NaN without a value.
    max_t
        float64 (C,), adjusted for the family by the step-down maximum.
    holm
        float64 (C,), adjusted by Holm's method, which knows nothing of the dependence.
    units
        int64 (C,), queries (or clusters of them) with a value.
    exact
        whether all sign patterns were gone through.
    patterns
        how many patterns were looked at, the observed one among them.
    """

    mean: Floats
    p: Floats
    max_t: Floats
    holm: Floats
    units: NDArray[np.int64]
    exact: bool
    patterns: int


def sign_flip_tests(
    differences: ArrayLike,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    cluster: NDArray[np.integer] | None = None,
) -> SignFlips:
    """Return the p-values of a family of paired comparisons.

    The statistic of a comparison is its sum of differences over the root of their sum of squares, which no flip
    changes; for a number of queries that all comparisons share it orders patterns as the t statistic does. Of at
    most `EXACT` units whose differences are not all 0 every pattern is gone through, so p is exact; otherwise the
    observed pattern counts as one of the drawn: p = (b + 1) / (m + 1) (Phipson and Smyth 2010), never 0.

    Parameters
    ----------
    differences
        float64 (Q, C) or (Q,) for one comparison; NaN where a query has no value. NaN is left out comparison by
        comparison; give common queries where comparisons are to be about the same ones.
    permutations
        m, drawn patterns, at least 1.
    seed
        of the draws.
    cluster
        int (Q,), queries of one code are flipped together; None: each by itself.

    Raises
    ------
    InputError
        for other shapes, infinite differences, and fewer than one permutation.
    """
    table = difference_table(differences, permutations)
    sums, count = cluster_sums(table, cluster)
    queries = count.sum(axis=0)
    mean = np.where(queries > 0, sums.sum(axis=0) / np.maximum(queries, 1), np.nan)
    sums = np.ldexp(sums, -np.frexp(np.abs(sums).max(axis=0, initial=0.0))[1])  # squares neither overflow nor vanish
    norm = np.sqrt((sums**2).sum(axis=0))
    scaled = np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)
    differing = np.any(scaled != 0, axis=1)
    if differing.sum() <= EXACT:  # a query that differs nowhere has no say
        scaled = scaled[differing]
    observed = np.abs(scaled.sum(axis=0))
    patterns, draws, exact = sign_patterns(len(scaled), permutations, seed)
    larger, larger_max, order = _exceedances(scaled, observed, patterns)
    # of all patterns the observed one is among those gone through, of drawn ones it is added
    extra = 0 if exact else 1
    p = np.where(queries > 0, (larger + extra) / (draws + extra), np.nan)
    stepped = np.maximum.accumulate((larger_max + extra) / (draws + extra))
    max_t = np.full(len(p), np.nan)
    max_t[order] = stepped
    units = (count > 0).sum(axis=0).astype(np.int64)
    return SignFlips(mean, p, np.where(queries > 0, max_t, np.nan), holm(p), units, exact, draws + extra)


def holm(p: ArrayLike) -> Floats:
    """Return p-values adjusted by Holm's step-down method (Holm 1979); NaN stays and does not count.

    Parameters
    ----------
    p
        float64 (C,), between 0 and 1 or NaN.
    """
    values = np.asarray(p, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factor = len(order) - np.arange(len(order))
    adjusted = np.full(values.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factor), 1.0)
    return adjusted


def difference_table(differences: ArrayLike, permutations: int) -> Floats:
    """Return differences as a matrix (Q, C), once they and the number of permutations are known to be fit for flips.

    Raises
    ------
    InputError
        as `sign_flip_tests`.
    """
    table = np.asarray(differences, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or np.any(np.isinf(table)):
        found = "infinite numbers" if table.ndim == 2 else f"shape {table.shape}"
        raise InputError.one("differences", found, "(queries, comparisons) of numbers, NaN where there is none")
    if permutations < 1:
        raise InputError.one("permutations", str(permutations), "at least 1")
    return table


def cluster_sums(table: Floats, cluster: NDArray[np.integer] | None) -> tuple[Floats, Floats]:
    """Return the sums of clusters with 0 for what is missing, and of how many queries: float64 (units, C) each."""
    index, units = cluster_index(len(table), cluster)
    present = ~np.isnan(table)
    sums, count = np.zeros((units, table.shape[1])), np.zeros((units, table.shape[1]))
    np.add.at(sums, index, np.where(present, table, 0.0))
    np.add.at(count, index, present.astype(np.float64))
    return sums, count


def sign_patterns(units: int, permutations: int, seed: int) -> tuple[Iterator[Floats], int, bool]:
    """Return patterns in parts, float64 (some, units) of 1 and -1, their number, and whether they are all there are.

    All are told up to a common sign, the pattern without flips first.
    """
    if units <= EXACT:
        return _all_signs(units), 2 ** max(units - 1, 0), True
    return _drawn_signs(units, permutations, seed), permutations, False


def _exceedances(
    scaled: Floats, observed: Floats, patterns: Iterator[Floats]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the patterns that reach each statistic, and those whose maximum over it and all smaller ones does.

    Returns
    -------
    counts by comparison; counts by place in the order from the largest statistic down; that order
    """
    order = np.argsort(-observed, kind="stable")
    bar = observed * (1 - _TIE) - _TIE
    alone = np.zeros(len(observed), dtype=np.int64)
    together = np.zeros(len(observed), dtype=np.int64)
    for signs in patterns:
        # the order in which BLAS adds does not matter: the bar is lower by more than rounding
        found = np.abs(signs @ scaled)
        alone += (found >= bar).sum(axis=0)
        successive = np.maximum.accumulate(found[:, order[::-1]], axis=1)[:, ::-1]
        together += (successive >= bar[order]).sum(axis=0)
    return alone, together, order


def _all_signs(units: int) -> Iterator[Floats]:
    """Yield every pattern in which the last unit keeps its sign, float64 (some, units)."""
    total = 2 ** max(units - 1, 0)
    rows = max(1, _CELLS // max(units, 1))
    bits = np.arange(units, dtype=np.int64)
    for start in range(0, total, rows):
        number = np.arange(start, min(start + rows, total), dtype=np.int64)
        signs: Floats = 1.0 - 2.0 * ((number[:, None] >> bits) & 1).astype(np.float64)
        yield signs


def _drawn_signs(units: int, draws: int, seed: int) -> Iterator[Floats]:
    draw = generator(seed, "sign flips")
    rows = max(1, _CELLS // max(units, 1))
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        signs: Floats = np.ones((count, units))
        signs[draw.integers(0, 2, size=(count, units), dtype=np.int8) == 1] = -1.0
        yield signs
