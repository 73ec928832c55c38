"""Rows of different lengths, worked on as matrices of rows of equal length.

Every result of a row depends on that row alone, never on which rows share its block: rows are grouped by their
exact length, so the order of every sum is a function of the length only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def buckets(lengths: NDArray[np.integer]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield (length, the rows of that length ascending), lengths ascending, empty rows left out."""
    if len(lengths) and lengths.min() == lengths.max():  # the usual case, and quick for a single row
        if lengths[0] > 0:
            yield int(lengths[0]), np.arange(len(lengths), dtype=np.int64)
        return
    order = np.argsort(lengths, kind="stable").astype(np.int64, copy=False)
    order = order[lengths[order] > 0]
    distinct, first = np.unique(lengths[order], return_index=True)
    end = np.append(first, len(order))[1:]
    for length, low, high in zip(distinct.tolist(), first.tolist(), end.tolist(), strict=True):
        yield length, order[low:high]


def row_sums(values: NDArray[np.floating], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Add up ``values`` (nnz,) by row: float64 (B,), 0 for an empty row."""
    filled = np.diff(indptr) > 0
    sums = np.zeros(len(filled))
    if np.any(filled):
        sums[filled] = np.add.reduceat(values, indptr[:-1][filled])
    return sums


def row_maxima(values: NDArray[np.floating], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest of ``values`` (nnz,) of each row: float64 (B,), minus infinity for an empty row."""
    filled = np.diff(indptr) > 0
    largest = np.full(len(filled), -np.inf)
    if np.any(filled):
        largest[filled] = np.maximum.reduceat(values, indptr[:-1][filled])
    return largest


def exclusive_products(factors: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each entry the product of the entries before it in its row: float64 (nnz,), 1 for the first."""
    products = np.ones(len(factors))
    for length, rows in buckets(np.diff(indptr)):
        if length > 1:
            place = indptr[rows][:, None] + np.arange(length - 1)
            products[place + 1] = np.cumprod(factors[place], axis=1)
    return products
