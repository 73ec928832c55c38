r"""Intervals of mean differences that agree with the sign-flip test: the differences that it does not reject.

A shift theta is kept where the test of "differences less theta are symmetric about 0" has p > alpha. Flip the queries
of a set F: the flipped sum of d - theta is as far from 0 as the unflipped one exactly where theta lies between the mean
of d over F and that over the other queries. Every pattern of signs is thus an interval around the mean difference, p of
theta is the share of patterns whose interval holds it, and the ends are quantiles (typical values; Hartigan 1969).
Where differences are symmetric the coverage is exact for any number of queries; where they are not, it is that of the
t interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import Interval
from rerankers.stats.means import exact_mean
from rerankers.stats.permutation import PERMUTATIONS, cluster_sums, difference_table, sign_patterns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_TOGETHER = 32  # comparisons whose ends are held at once
TOO_FEW = "too_few_queries_for_this_level"


def sign_flip_intervals(
    differences: ArrayLike,
    *,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    cluster: NDArray[np.integer] | None = None,
) -> list[Interval]:
    """Return the mean of every comparison with the interval of what its sign-flip test does not reject.

    Parameters
    ----------
    differences, permutations, seed, cluster
        as of `sign_flip_tests`; with the same ones p <= 1 - level exactly where the interval does not hold 0 (but for
        families in which so many differences are 0 that the test alone goes through all patterns).
    level
        coverage, between 0 and 1.

    Returns
    -------
    list of Interval, length C
        Without ends and with the reason ``too_few_queries_for_this_level`` where no number can be rejected: of 5
        queries at 95 %, for instance. Equal differences v give [v, v].

    Raises
    ------
    InputError
        as `sign_flip_tests`, and for a level out of range.
    """
    table = difference_table(differences, permutations)
    if not 0 < level < 1:
        raise InputError.one("level", str(level), "a number between 0 and 1")
    sums, count = cluster_sums(table, cluster)
    out: list[Interval] = []
    for start in range(0, table.shape[1], _TOGETHER):
        part = slice(start, start + _TOGETHER)
        low, high = _ends(sums[:, part], count[:, part], level, permutations, seed)
        for column in range(low.shape[0]):
            values = table[:, start + column]
            units = int((count[:, start + column] > 0).sum())
            out.append(_interval(values[~np.isnan(values)], float(low[column]), float(high[column]), units))
    return out


def _ends(
    sums: Floats, count: Floats, level: float, permutations: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of each comparison, float64 (C,), infinite where there are too few patterns."""
    patterns, draws, exact = sign_patterns(len(sums), permutations, seed)
    low, high = [], []
    for signs in patterns:
        flipped = (1.0 - signs) / 2
        inside, of_inside = flipped @ sums, flipped @ count
        outside, of_outside = sums.sum(axis=0) - inside, count.sum(axis=0) - of_inside
        whole = (of_inside < 0.5) | (of_outside < 0.5)  # nothing is flipped, or all: such a pattern rejects nothing
        one, two = (
            np.divide(total, number, out=np.zeros_like(total), where=~whole)
            for total, number in ((inside, of_inside), (outside, of_outside))
        )
        low.append(np.where(whole, -np.inf, np.minimum(one, two)))
        high.append(np.where(whole, np.inf, np.maximum(one, two)))
    total = draws if exact else draws + 1  # the observed pattern is among all, and added to those drawn
    place = math.floor((1 - level) * total + 1e-9) + (1 if exact else 0)
    if place < 1 or place > draws:
        infinite = np.full(sums.shape[1], np.inf)
        return -infinite, infinite
    lows, highs = np.concatenate(low), np.concatenate(high)
    return np.partition(lows, place - 1, axis=0)[place - 1], -np.partition(-highs, place - 1, axis=0)[place - 1]


def _interval(values: Floats, low: float, high: float, units: int) -> Interval:
    if not len(values):
        return Interval(None, None, None, 0, "no_value")
    if np.ptp(values) == 0 and units > 1:
        return Interval(float(values[0]), float(values[0]), float(values[0]), units)
    mean = exact_mean(values)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Interval(mean, None, None, units, TOO_FEW)
    return Interval(mean, low, high, units)
