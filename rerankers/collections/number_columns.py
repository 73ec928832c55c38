"""Numeric facts met record by record, gathered into columns with NaN where there is none."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NumberColumns:
    """Columns by name; a name that first appears in a late record is NaN before it."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}

    def put(self, name: str, row: int, value: float) -> None:
        """Set a value of row ``row``; rows come in ascending order."""
        column = self._columns.setdefault(name, array("d"))
        _pad(column, row)
        column.append(_as_float(value))

    def arrays(self, rows: int) -> Mapping[str, NDArray[np.float64]]:
        """Return the columns as float64 (rows,)."""
        for column in self._columns.values():
            _pad(column, rows)
        return {name: np.array(column) for name, column in self._columns.items()}


def _pad(column: array[float], rows: int) -> None:
    missing = rows - len(column)
    if missing > 0:
        column.extend([np.nan] * missing)


def _as_float(value: float) -> float:
    # JSON allows whole numbers of any size.
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
