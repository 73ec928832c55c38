"""Weights on the cells of several dimensions at once, kept sparse: what pages that belong to few groups fill.

A cell is one group in each of the dimensions. Its code is the row-major index over their sizes, so the last dimension
moves fastest. The eight dimensions of the TREC Fair Ranking track of 2022 have 11,176,704 cells; a page fills a few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENTRIES = 1 << 20  # page cells held at once: about 50 MB with what sorting them needs


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """How much each page belongs to each group of one dimension, sparse by page.

    Attributes
    ----------
    size
        number of groups.
    indptr
        int64 (P + 1,), page p has the entries indptr[p]:indptr[p + 1]. A page without any belongs to no cell.
    group
        int (entries,), 0..size - 1, each group of a page once.
    weight
        float64 (entries,), at least 0.
    """

    size: int
    indptr: NDArray[np.int64]
    group: NDArray[np.integer]
    weight: NDArray[np.float64]

    def normalised(self) -> Memberships:
        """Return weights that sum to 1 for every page that has any."""
        lengths = np.diff(self.indptr)
        page = np.repeat(np.arange(len(lengths)), lengths)
        total = np.bincount(page, weights=self.weight, minlength=len(lengths))
        weight = np.zeros_like(self.weight)
        np.divide(self.weight, total[page], out=weight, where=total[page] > 0)
        return Memberships(self.size, self.indptr, self.group, weight)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Weights on some cells; all others hold 0.

    Attributes
    ----------
    sizes
        number of groups of each dimension.
    cell
        int64 (m,), row-major codes, ascending, each once.
    value
        float64 (m,), at least 0.
    """

    sizes: tuple[int, ...]
    cell: NDArray[np.int64]
    value: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.value.sum())

    def scaled(self, factor: float) -> Cells:
        """Return the weights times a factor."""
        return Cells(self.sizes, self.cell, self.value * factor)

    def without(self, cell: int) -> Cells:
        """Return the weights with that of one cell set to 0."""
        keep = self.cell != cell
        return Cells(self.sizes, self.cell[keep], self.value[keep])


def weighted_cells(dimensions: Sequence[Memberships], page: NDArray[np.integer], weight: NDArray[np.float64]) -> Cells:
    """Return Σ_i weight[i] · (⊗ over dimensions of the memberships of page[i]), without building the cells.

    Time and memory grow with the cells that pages fill, not with the cells that exist; at most about a million page
    cells (or those of one page) are held at once.

    Parameters
    ----------
    dimensions
        one or more, over the same pages.
    page
        int (n,), rows of the memberships; may repeat.
    weight
        float64 (n,), at least 0.

    Raises
    ------
    InputError
        when ``page`` and ``weight`` differ in length, or there are more cells than 64 bits can number.
    """
    if np.shape(page) != np.shape(weight) or np.ndim(page) != 1:
        raise InputError.one("weight", f"shape {np.shape(weight)}", f"one for each page, {np.shape(page)}")
    sizes = tuple(dimension.size for dimension in dimensions)
    if not sizes or math.prod(sizes) >= 2**63:
        raise InputError.one("dimensions", f"{len(sizes)} with sizes {sizes}", "one or more, with less than 2^63 cells")
    filled = np.ones(len(page), dtype=np.int64)
    for dimension in dimensions:
        filled *= dimension.indptr[page + 1] - dimension.indptr[page]
    parts = [_summed(*_outer(dimensions, page[rows], weight[rows])) for rows in _chunks(np.cumsum(filled), len(page))]
    cell = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    value = np.concatenate([np.zeros(0), *(part[1] for part in parts)])
    return Cells(sizes, *_summed(cell, value))


def _chunks(ends: NDArray[np.int64], n: int) -> list[slice]:
    """Split n pages so that each part but single pages fills at most `_ENTRIES` cells."""
    out, start = [], 0
    while start < n:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _ENTRIES, side="right")))
        out.append(slice(start, stop))
        start = stop
    return out


def _outer(
    dimensions: Sequence[Memberships], page: NDArray[np.integer], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the code and the value of every cell of every page, page by page."""
    row = np.arange(len(page))
    cell = np.zeros(len(page), dtype=np.int64)
    value = weight.astype(np.float64)
    for dimension in dimensions:
        start = dimension.indptr[page[row]]
        lengths = dimension.indptr[page[row] + 1] - start
        held = np.repeat(np.arange(len(row)), lengths)
        entry = np.arange(len(held)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + start[held]
        cell = cell[held] * dimension.size + dimension.group[entry]
        value = value[held] * dimension.weight[entry]
        row = row[held]
    return cell, value


def _summed(cell: NDArray[np.int64], value: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add up the values of each cell, in the order given; cells of 0 go."""
    unique, own = np.unique(cell, return_inverse=True)
    total = np.bincount(own, weights=value, minlength=len(unique)).astype(np.float64, copy=False)
    keep = total > 0
    return unique[keep], total[keep]
