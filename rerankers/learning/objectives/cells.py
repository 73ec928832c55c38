"""Documents as parts of cells, the things whose exposure has a target: documents themselves, or groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rerankers.exposure.rows import row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.groups import GroupAlignment
    from rerankers.values.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of B rows.

    Attributes
    ----------
    entry_ptr
        int64 (nnz + 1,): pair d has the entries entry_ptr[d]:entry_ptr[d + 1].
    item
        int64 (entries,), the pair of each entry.
    code
        int64 (entries,), the cell of each entry, numbered over all rows.
    part
        float64 (entries,), which part of the pair's exposure is the cell's.
    cell_ptr
        int64 (B + 1,): row i has the cells cell_ptr[i]:cell_ptr[i + 1].
    local
        int64 (entries,), the cell of each entry, numbered from 0 in its row.
    single
        whether every cell is one pair.
    """

    entry_ptr: NDArray[np.int64]
    item: NDArray[np.int64]
    code: NDArray[np.int64]
    part: NDArray[np.float64]
    cell_ptr: NDArray[np.int64]
    local: NDArray[np.int64]
    single: bool = False

    @classmethod
    def documents(cls, indptr: NDArray[np.int64]) -> Self:
        """Return the cells that are the pairs themselves."""
        pair = np.arange(indptr[-1], dtype=np.int64)
        start = np.repeat(indptr[:-1], np.diff(indptr))
        return cls(np.arange(len(pair) + 1), pair, pair, np.ones(len(pair)), indptr, pair - start, True)

    @classmethod
    def groups(cls, over: Ragged, alignment: GroupAlignment) -> Self:
        """Return the cells that are the groups which a row's documents belong to, by a resolved alignment."""
        item, group, part = alignment.entries(over.doc)
        row = over.row_index[item]
        key, code = np.unique(row * max(1, len(alignment.groups)) + group, return_inverse=True)
        cell_ptr = np.searchsorted(key, np.arange(len(over) + 1) * max(1, len(alignment.groups))).astype(np.int64)
        entry_ptr = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=over.nnz))]).astype(np.int64)
        code = code.astype(np.int64).ravel()
        return cls(entry_ptr, item, code, part, cell_ptr, code - cell_ptr[row])

    @property
    def widths(self) -> NDArray[np.int64]:
        """int64 (B,), cells a row."""
        return np.diff(self.cell_ptr)

    def totals(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of pairs (nnz,) by cell: float64 (cells,)."""
        weights = value[self.item] * self.part
        return np.bincount(self.code, weights=weights, minlength=int(self.cell_ptr[-1])).astype(np.float64)

    def back(self, slope: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return derivatives by cells (cells,) as those by pairs: float64 (nnz,)."""
        weights = slope[self.code] * self.part
        return np.bincount(self.item, weights=weights, minlength=len(self.entry_ptr) - 1).astype(np.float64)

    def by_row(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of cells (cells,) by row: float64 (B,)."""
        return row_sums(value, self.cell_ptr)
