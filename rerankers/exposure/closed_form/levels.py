"""Rows cut into levels: every document of a better level is ranked before every document of a worse one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rerankers.exposure.rows import buckets, exclusive_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)
_GAP = 40.0  # nats; e^-40 is 4e-18
_WHOLE = 2.0**53  # from here on float64 has not every whole number


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Rows in their order of levels, the best first.

    Attributes
    ----------
    order
        int64 (nnz,), positions of the documents, row by row and level by level.
    indptr
        int64 (S + 1,), level l has the documents ``order[indptr[l]:indptr[l + 1]]``; no level is empty.
    row_ptr
        int64 (B + 1,), row i has the levels row_ptr[i]:row_ptr[i + 1].
    rank
        int64 (S,), the rank at which a level begins in its row.
    """

    order: NDArray[np.int64]
    indptr: NDArray[np.int64]
    row_ptr: NDArray[np.int64]
    rank: NDArray[np.int64]

    @property
    def size(self) -> NDArray[np.int64]:
        """int64 (S,), documents a level."""
        return np.diff(self.indptr)

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """Repeat a value of each level (S,) for its documents: (nnz,), in the order of ``order``."""
        return np.repeat(values, self.size)

    def before(self, continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each level the product of the continuations in better levels of its row: float64 (S,).

        ``continuation`` (nnz,) is in the order of ``order``.
        """
        if len(self.rank) == len(self.row_ptr) - 1 and not np.any(self.rank):  # one level a row
            return np.ones(len(self.rank))
        return exclusive_products(np.multiply.reduceat(continuation, self.indptr[:-1]), self.row_ptr)


def by_level(indptr: NDArray[np.int64], level: NDArray[np.number]) -> Levels:
    """Cut rows by a level of documents (nnz,), the highest first."""
    key = level.astype(np.float64)
    if level.dtype.kind in "iu" and np.max(np.abs(key), initial=0.0) >= _WHOLE:
        key = np.unique(level, return_inverse=True)[1].astype(np.float64)
    row, order = _descending(indptr, key)
    ordered = level[order]
    return _cut(indptr, row, order, ordered[1:] != ordered[:-1])


def by_gap(indptr: NDArray[np.int64], logit: NDArray[np.float64]) -> Levels:
    """Cut rows where the logits leave a gap that no document of a Plackett-Luce ranking crosses.

    A document overtakes another that lies a gap g above it with probability below e^-g. Across 40 + log n nats all
    n documents together do so with probability below 4e-18, less than a rounding error. Minus infinity lies an
    infinite gap below. So only documents of one level need the integral, and spreads may be of any size.
    """
    lengths = np.diff(indptr)
    filled = lengths > 0
    start = indptr[:-1][filled]
    wide = np.zeros(len(lengths), dtype=np.bool_)
    if len(start):
        spread = _drop(np.maximum.reduceat(logit, start), np.minimum.reduceat(logit, start))
        wide[filled] = spread > _GAP + np.log(lengths[filled])
    if not wide.any():  # the usual case: every row is one level, as it stands
        row_ptr = np.concatenate([[0], np.cumsum(filled)])
        return Levels(np.arange(len(logit)), np.append(start, len(logit)), row_ptr, np.zeros(len(start), np.int64))
    row, order = _descending(indptr, logit, wide)
    ordered = logit[order]
    gap = _GAP + np.log(np.maximum(lengths, 1))
    return _cut(indptr, row, order, _drop(ordered[:-1], ordered[1:]) > gap[row[1:]])


def _drop(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", over="ignore"):  # minus infinity twice: no gap; beyond all numbers: one
        difference: NDArray[np.float64] = above - below
    return difference


def _descending(
    indptr: NDArray[np.int64], key: NDArray[np.float64], chosen: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row of each entry and its place when rows, or the chosen ones (B,), are sorted: both int64 (nnz,)."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), lengths)
    order = np.arange(len(key), dtype=np.int64)
    for length, rows in buckets(lengths if chosen is None else np.where(chosen, lengths, 0)):
        place = indptr[rows][:, None] + np.arange(length)
        order[place] = np.argsort(-key[place], axis=1, kind="stable") + indptr[rows][:, None]
    return row, order


def _cut(
    indptr: NDArray[np.int64], row: NDArray[np.int64], order: NDArray[np.int64], between: NDArray[np.bool_]
) -> Levels:
    first = np.ones(len(order), dtype=bool)
    first[1:] = between | (row[1:] != row[:-1])
    start = np.flatnonzero(first)
    row_ptr = np.searchsorted(start, indptr).astype(np.int64)
    return Levels(order, np.append(start, len(order)), row_ptr, start - indptr[row[start]])
