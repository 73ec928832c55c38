"""The reliability curve: pairs in bins of equal mass, and how often they are relevant there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """K bins of ascending probability, each with pairs in it.

    Attributes
    ----------
    least, most
        float64 (K,), the smallest and the largest probability in a bin.
    predicted
        float64 (K,), weighted mean probability.
    rate
        float64 (K,), weighted share of relevant pairs.
    low, high
        float64 (K,), interval of the rate: Wilson's (1927) for the effective number of pairs, which is smaller than
        their number as far as pairs of one query are alike (Korn and Graubard 1998).
    pairs
        int64 (K,), pairs in a bin.
    weight
        float64 (K,), their weight.
    """

    least: NDArray[np.float64]
    most: NDArray[np.float64]
    predicted: NDArray[np.float64]
    rate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pairs: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pairs)


def reliability_curve(
    probability: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    weight: NDArray[np.float64],
    cluster: NDArray[np.int64],
    bins: int,
    level: float,
) -> tuple[Curve, NDArray[np.int64]]:
    """Return the curve, and the bin of each pair, int64 (n,).

    A probability goes into bin ⌊bins (F(p-) + F(p))/2⌋ of the weighted distribution function F, so that equal
    probabilities share a bin, whatever the order of pairs. Bins that stay empty, for instance since more than a share
    1/bins of all pairs have one probability, are left out.

    Parameters
    ----------
    probability, relevant, weight
        (n,): from 0 to 1; bool; positive.
    cluster
        int64 (n,), pairs of one code may depend on each other.
    bins
        at most this many.
    level
        coverage of the intervals.
    """
    values, place = np.unique(probability, return_inverse=True)
    mass = np.bincount(place, weights=weight, minlength=len(values))
    upto = np.cumsum(mass)
    total = upto[-1] if len(values) else 1.0
    raw = np.minimum((bins * ((upto - mass / 2) / total)).astype(np.int64), bins - 1)
    codes, of_value = np.unique(raw, return_inverse=True)
    member, size = of_value[place].astype(np.int64), len(codes)
    weights = np.bincount(member, weights=weight, minlength=size).astype(np.float64, copy=False)
    rate = np.bincount(member, weights=weight * relevant, minlength=size) / weights
    effective = _effective_pairs(relevant, weight, cluster, member, rate, weights)
    low, high = wilson_interval(rate, effective, level)
    first = np.searchsorted(of_value, np.arange(size))
    curve = Curve(
        least=values[first],
        most=values[np.append(first[1:], len(values))[:size] - 1],
        predicted=np.bincount(member, weights=weight * probability, minlength=size) / weights,
        rate=rate,
        low=low,
        high=high,
        pairs=np.bincount(member, minlength=size).astype(np.int64),
        weight=weights,
    )
    return curve, member


def wilson_interval(
    rate: NDArray[np.float64], trials: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's score interval (1927) of rates, float64 (K,) each; [0, 1] without trials."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    middle = (rate * trials + z2 / 2) / (trials + z2)
    half = np.sqrt(z2 * (trials * rate * (1 - rate) + z2 / 4)) / (trials + z2)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _effective_pairs(
    relevant: NDArray[np.bool_],
    weight: NDArray[np.float64],
    cluster: NDArray[np.int64],
    member: NDArray[np.int64],
    rate: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how many independent pairs would give the rate of each bin its variance, float64 (K,).

    That variance is estimated from clusters, C/(C - 1) Σ_c (Σ_{i in c} w_i (y_i - rate))² / (Σ w)². The number is at
    most (Σ w)²/Σ w² (Kish 1965), and the number of clusters where no variance is to be seen.
    """
    size = len(rate)
    kish = weights**2 / np.bincount(member, weights=weight**2, minlength=size)
    cells, at = np.unique(cluster * size + member, return_inverse=True)
    sums = np.bincount(at, weights=weight * (relevant - rate[member]), minlength=len(cells))
    clusters = np.bincount(cells % max(size, 1), minlength=size).astype(np.float64)
    squares = np.bincount(cells % max(size, 1), weights=sums**2, minlength=size)
    variance = clusters / np.maximum(clusters - 1, 1) * squares / weights**2
    spread = rate * (1 - rate)
    seen = (spread > 0) & (variance > 0) & (clusters > 1)
    effective = np.divide(spread, variance, out=clusters.copy(), where=seen)
    return np.minimum(effective, kish)
