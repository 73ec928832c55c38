"""Features as they stand among the candidates of their query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers.features.base import Columns
from rerankers.features.gather import bounds_of, sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELATIVE = ("rank", "zscore")


def with_relative(columns: Columns, row: NDArray[np.int64], rows: int, kinds: Sequence[str]) -> Columns:
    """Return features with their within-query forms ``NAME.rank`` and ``NAME.zscore`` behind each.

    ``rank`` is 0 for the lowest and 1 for the highest known value of a query: (average rank among ties - 1) / (n - 1)
    of n, 0.5 where n = 1. ``zscore`` is (x - mean) / standard deviation (of the n values), 0 where all are equal. What
    is missing stays missing. Features that are equal for all candidates of a query have no such forms.

    Parameters
    ----------
    row
        int64 (nnz,), the query of each pair, ascending.
    rows
        how many there are.
    kinds
        of `RELATIVE`, in their order.
    """
    values: dict[str, NDArray[np.float64]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for name, column in columns.values.items():
        values[name], sources[name] = column, columns.sources[name]
        if name in columns.per_query or not kinds:
            continue
        for kind, form in within_query(column, row, rows, kinds).items():
            values[f"{name}.{kind}"], sources[f"{name}.{kind}"] = form, columns.sources[name]
    return Columns(values, sources, columns.per_query, columns.counts)


def within_query(
    column: NDArray[np.float64], row: NDArray[np.int64], rows: int, kinds: Sequence[str] = RELATIVE
) -> Mapping[str, NDArray[np.float64]]:
    """Return the forms of one feature, float64 (nnz,) each; the order of the candidates changes no bit."""
    known = np.flatnonzero(~np.isnan(column))
    order = known[np.lexsort((column[known], row[known]))]
    value, owner = column[order], row[order]
    indptr = bounds_of(owner, rows)
    out: dict[str, NDArray[np.float64]] = {}
    for kind in kinds:
        out[kind] = np.full(len(column), np.nan)
        out[kind][order] = (_ranks if kind == "rank" else _zscores)(value, owner, indptr)
    return out


def _ranks(value: NDArray[np.float64], owner: NDArray[np.int64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    new = np.ones(len(value), dtype=bool)
    new[1:] = (value[1:] != value[:-1]) | (owner[1:] != owner[:-1])
    first = np.flatnonzero(new)
    size = np.diff(np.append(first, len(value)))
    below = np.repeat(first + 0.5 * (size - 1), size) - indptr[owner]
    number = np.diff(indptr)[owner]
    return np.where(number > 1, below / np.maximum(number - 1, 1), 0.5)


def _zscores(value: NDArray[np.float64], owner: NDArray[np.int64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    number = np.diff(indptr)
    filled = np.flatnonzero(number)
    out = np.zeros(len(value))
    if not len(filled):
        return out
    low, high = np.zeros(len(number)), np.zeros(len(number))
    low[filled], high[filled] = value[indptr[filled]], value[indptr[filled + 1] - 1]
    # In units of the range and from its lower end, so that neither large nor tiny numbers lose anything.
    spread = high / 2 - low / 2
    usable = spread[owner] > 0
    safe = np.where(spread > 0, spread, 1.0)[owner]
    unit = np.where(usable, (value / 2 - low[owner] / 2) / safe, 0.0)
    number = np.maximum(number, 1)
    off = unit - (sums(unit, indptr) / number)[owner]
    deviation = np.sqrt(sums(off * off, indptr) / number)[owner]
    np.divide(off, deviation, out=out, where=usable & (deviation > 0))
    return out
