"""Which measures of stored results are compared, and their values by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers.report.keys import Key, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.grid import Grid

USUAL = ("utility", "nDCG", "AWRF", "score", "unfairness", "EEL")
"""Measures of the family unless others are named; of EEL over groups also what it would be without the groups."""
USUAL_PARTS = ("", "placebo", "excess")


def chosen_keys(values: Mapping[str, Grid], asked: Sequence[str] | None) -> list[Key]:
    """Return the measures asked for; where none are, those of `USUAL` that there are, in reading order.

    Raises
    ------
    ConfigError
        for one that is not there.
    """
    there = list(dict.fromkeys(key for grid in values.values() for key in grid.keys))
    if asked is not None:
        return [parse(choose("measures", name, there)) for name in dict.fromkeys(asked)]
    keys = _usual(parse(text) for text in there)
    return sorted(keys, key=lambda key: (USUAL.index(key.base), key.attribute or "", USUAL_PARTS.index(key.part)))


def _usual(keys: Iterable[Key]) -> list[Key]:
    return [key for key in keys if key.base in USUAL and key.part in USUAL_PARTS]


def values_of(grid: Grid, key: str, units: Sequence[str]) -> NDArray[np.float64]:
    """Return a measure of some units, float64 (units,), NaN where there is no finite value."""
    if key not in grid.keys:
        return np.full(len(units), np.nan)
    row = {unit: place for place, unit in enumerate(grid.units)}
    found: NDArray[np.float64] = grid.value[[row[unit] for unit in units], grid.keys.index(key)]
    return np.where(np.isfinite(found), found, np.nan)
