"""What paired comparisons over the queries of stored results can find."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError
from rerankers.stages.measured import values_of
from rerankers.stats.bootstrap import Interval
from rerankers.stats.components import variance_components
from rerankers.stats.power import detectable_difference, deviation_under, queries_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.grid import Grid

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairPower:
    """A paired comparison of two systems, or of one with another of assumed correlation.

    Attributes
    ----------
    measure, run, other
        which; ``other`` is None where the correlation is assumed.
    units
        queries that both have a value of.
    correlation
        between their values over queries; None where one of them is the same for all queries.
    difference
        the observed mean difference; None for an assumed other.
    deviation
        standard deviation of the paired differences with its interval.
    detectable
        the smallest true difference that is found with the asked power; None with fewer than two queries.
    queries
        difference -> queries needed to find it, None where it is more than a billion.
    """

    measure: str
    run: str
    other: str | None
    units: int
    correlation: float | None
    difference: float | None
    deviation: Interval
    detectable: float | None
    queries: Mapping[float, int | None]


def pair_powers(
    grids: Mapping[str, Grid], systems: Sequence[str], measure: str, how: Mapping[str, float], sought: Sequence[float]
) -> list[PairPower]:
    """Return what every pair of systems, or a single one, can find.

    Parameters
    ----------
    grids
        system -> values.
    systems
        those that are paired.
    measure
        key.
    how
        ``power``, ``alpha`` and ``correlation``.
    sought
        differences for which queries are counted.
    """
    units = sorted(set.intersection(*(set(grids[name].units) for name in systems)))
    own = {name: values_of(grids[name], measure, units) for name in systems}
    options = {"power": how["power"], "alpha": how["alpha"]}
    rows = []
    for run, other in combinations(systems, 2):
        both = ~np.isnan(own[run]) & ~np.isnan(own[other])
        one, two = own[run][both], own[other][both]
        if both.any():
            spread = _deviation(one - two, 1.0)
            rows.append(
                PairPower(
                    measure, run, other, len(one), _correlation(one, two), float(np.mean(one - two)), spread,
                    *_found(spread, len(one), options, sought),
                )
            )  # fmt: skip
    if len(systems) == 1 and not np.isnan(own[systems[0]]).all():
        one = own[systems[0]][~np.isnan(own[systems[0]])]
        spread = _deviation(one, deviation_under(1.0, how["correlation"]))
        found = _found(spread, len(one), options, sought)
        rows.append(PairPower(measure, systems[0], None, len(one), how["correlation"], None, spread, *found))
    return rows


def _deviation(differences: Floats, factor: float) -> Interval:
    """Return the standard deviation of differences, times a factor, with its interval."""
    if len(differences) < 2:
        return Interval(None, None, None, len(differences), "fewer_than_two_values")
    variance = variance_components(differences[:, None]).queries

    def root(value: float | None) -> float | None:
        return None if value is None else factor * math.sqrt(max(value, 0.0))

    return Interval(root(variance.mean), root(variance.low), root(variance.high), len(differences))


def _found(
    spread: Interval, units: int, options: Mapping[str, float], sought: Sequence[float]
) -> tuple[float | None, dict[float, int | None]]:
    if spread.mean is None:
        return None, dict.fromkeys(sought)
    needed: dict[float, int | None] = {}
    for difference in sought:
        try:
            needed[difference] = queries_needed(difference, spread.mean, **options)
        except InfeasibleError:
            needed[difference] = None  # more than anybody will ever have
    return detectable_difference(spread.mean, units, **options), needed


def _correlation(one: Floats, two: Floats) -> float | None:
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return None
    return float(np.corrcoef(one, two)[0, 1])
