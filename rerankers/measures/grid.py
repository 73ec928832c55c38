"""The result table of a system as a matrix of units by measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Values of one system.

    Attributes
    ----------
    units, keys
        in order of first appearance.
    value
        float64 (units, keys), the mean over the seeds that have a value; NaN where none has.
    """

    units: list[str]
    keys: list[str]
    value: NDArray[np.float64]


def grids(table: pa.Table) -> dict[str, Grid]:
    """Return system -> `Grid`, in order of first appearance."""
    return {
        system: grid(table.filter(pc.equal(table["system"], pa.scalar(system, pa.string()))))
        for system in pc.unique(table["system"]).to_pylist()
    }


def grid(rows: pa.Table) -> Grid:
    """Return the rows of one system as a matrix."""
    units, row = _coded(rows["unit"])
    keys, column = _coded(rows["measure"])
    value = rows["value"].to_numpy(zero_copy_only=False)
    order = np.argsort(rows["seed"].to_numpy(), kind="stable")  # seeds add up in their own order
    order = order[~np.isnan(value[order])]
    cell = (row * len(keys) + column)[order]
    size = len(units) * len(keys)
    total = np.bincount(cell, weights=value[order], minlength=size)
    count = np.bincount(cell, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return Grid(units, keys, mean.reshape(len(units), len(keys)))


def _coded(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names: list[str] = encoded.dictionary.to_pylist()
    return names, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
