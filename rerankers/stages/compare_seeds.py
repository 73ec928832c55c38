"""Several seeds as one system: means over seeds of every query, their intervals over queries, and the spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.grid import Grid
from rerankers.report.keys import parse
from rerankers.stats.paired import paired_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.report.data import Interval

NO_MEAN_OVER_SEEDS = frozenset({"excess_p", "systematic_share"})
"""Parts whose mean over seeds says nothing: a p-value, and a ratio of means."""


def number(value: Any) -> float | None:
    """Return a value as a number, None where it is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def mean_grid(parts: Sequence[Grid]) -> Grid:
    """Return the mean over grids of every query and measure, over those that have a value."""
    if len(parts) == 1:
        return parts[0]
    units = list(dict.fromkeys(unit for part in parts for unit in part.units))
    keys = list(dict.fromkeys(key for part in parts for key in part.keys))
    row = {unit: place for place, unit in enumerate(units)}
    total, count = np.zeros((len(units), len(keys))), np.zeros((len(units), len(keys)))
    for part in parts:
        at = np.ix_([row[unit] for unit in part.units], [keys.index(key) for key in part.keys])
        there = ~np.isnan(part.value)
        total[at] += np.where(there, part.value, 0.0)
        count[at] += there
    return Grid(units, keys, np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))


def seed_intervals(
    pooled: Sequence[Grid], level: float, resamples: int
) -> list[tuple[dict[str, float | None], dict[str, Interval]]]:
    """Return means and intervals of grids, those with the same queries on the same resamples.

    Parameters
    ----------
    pooled
        means over seeds.
    level, resamples
        of the intervals.
    """
    if not pooled:
        return []
    out: dict[int, tuple[dict[str, float | None], dict[str, Interval]]] = {}
    by_units: dict[tuple[str, ...], list[int]] = {}
    for place, grid in enumerate(pooled):
        by_units.setdefault(tuple(sorted(grid.units)), []).append(place)
    for units, places in by_units.items():
        sorted_values: list[NDArray[np.float64]] = []
        for place in places:
            row = {unit: at for at, unit in enumerate(pooled[place].units)}
            sorted_values.append(pooled[place].value[[row[unit] for unit in units]])
        spans = iter(paired_intervals(np.hstack(sorted_values), resamples=resamples, level=level))
        for place in places:
            own = list(islice(spans, len(pooled[place].keys)))
            keys = pooled[place].keys
            out[place] = (
                {key: span.mean for key, span in zip(keys, own, strict=True)},
                {
                    key: None if span.low is None or span.high is None else (span.low, span.high)
                    for key, span in zip(keys, own, strict=True)
                },
            )
    return [out[place] for place in range(len(pooled))]


def beside(group: Sequence[Mapping[str, Any]], known: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the means over seeds of what jobs tell beside the queries' values; None where that says nothing."""
    out: dict[str, float | None] = {}
    for key in dict.fromkeys(key for means in group for key in means if key not in known):
        values = [number(means.get(key)) for means in group]
        told = [value for value in values if value is not None]
        whole = len(told) == len(group) and parse(key).part not in NO_MEAN_OVER_SEEDS
        out[key] = float(np.mean(told)) if whole else None
    return out


def spread(group: Sequence[Mapping[str, Any]], grids: Sequence[Grid]) -> dict[str, float]:
    """Return the standard deviation of the means over seeds, measures that all seeds have and whose mean is told.

    Of a measure that lacks the values of different queries in different seeds, the means are over the queries that all
    seeds have: other queries are no spread of seeds.

    Parameters
    ----------
    group
        means as each seed tells them.
    grids
        values of the queries in each seed.
    """
    out = {}
    for key in group[0]:
        values = _common(key, grids) or [number(means.get(key)) for means in group]
        told = [value for value in values if value is not None]
        if len(told) == len(group) and parse(key).part not in NO_MEAN_OVER_SEEDS:
            out[key] = float(np.std(told, ddof=1))
    return out


def _common(key: str, grids: Sequence[Grid]) -> list[float | None] | None:
    """Return the mean of each seed over the queries that all have; None where all have the same, or none are told."""
    if not all(key in grid.keys for grid in grids):
        return None
    values = [dict(zip(grid.units, grid.value[:, grid.keys.index(key)], strict=True)) for grid in grids]
    there = [{unit for unit, value in own.items() if not np.isnan(value)} for own in values]
    if all(units == there[0] for units in there):
        return None
    common = sorted(set.intersection(*there))
    return [float(np.mean([own[unit] for unit in common])) if common else None for own in values]
