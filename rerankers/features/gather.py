"""Ragged arrays, gathered and looked up in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


_OWNERS_A_STEP: Final = 50_000


def spread(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all entries of some rows, one row after the other.

    Returns
    -------
    owner, place
        int64 (entries,): which of ``rows`` (its position there) an entry is of, and where it is.
    """
    lengths = indptr[rows + 1] - indptr[rows]
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
    place = np.arange(len(owner), dtype=np.int64) + np.repeat(indptr[rows] - ends + lengths, lengths)
    return owner, place


def bounds_of(owner: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return indptr, int64 (count + 1,), of ascending owners below ``count``."""
    return np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)


def sums(values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of each row, float64 (rows,), 0 for an empty one; its bits depend on that row alone."""
    out = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        out[filled] = np.add.reduceat(values, indptr[filled])
    return out


def row_chunks(indptr: NDArray[np.int64], work: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows whose pairs have at most ``most`` work together, or of one row.

    Parameters
    ----------
    work
        int64 (nnz,), at least 0.
    """
    done = np.concatenate([[0], np.cumsum(work)])[indptr]
    first = 0
    while first < len(indptr) - 1:
        last = int(np.searchsorted(done, done[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Which items (words, pairs of words) which owners (texts, queries) have.

    Attributes
    ----------
    indptr
        int64 (owners + 1,), the distinct items of owner i are entries indptr[i]:indptr[i + 1], ascending.
    key
        int64 (entries,), owner * width + item: ascending.
    first, times
        int64 (entries,), where the item first occurs among all that was given, and how often.
    width
        above every item.
    """

    indptr: NDArray[np.int64]
    key: NDArray[np.int64]
    first: NDArray[np.int64]
    times: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, indptr: NDArray[np.int64], item: NDArray[np.int64], width: int) -> Occurrences:
        """Take the items of each owner, item[indptr[i]:indptr[i + 1]], in their order."""
        keys, first, times, counts = [], [], [], [0]
        owners = len(indptr) - 1
        for low in range(0, owners, _OWNERS_A_STEP):
            high = min(low + _OWNERS_A_STEP, owners)
            start, stop = indptr[low], indptr[high]
            owner = np.repeat(np.arange(low, high), np.diff(indptr[low : high + 1]))
            found = np.unique(owner * width + item[start:stop], return_index=True, return_counts=True)
            keys.append(found[0])
            first.append(found[1] + start)
            times.append(found[2])
            counts += np.bincount(found[0] // width - low, minlength=high - low).tolist()
        return cls(np.cumsum(counts, dtype=np.int64), _one(keys), _one(first), _one(times), width)

    @property
    def item(self) -> NDArray[np.int64]:
        """int64 (entries,), the items."""
        return self.key % self.width

    def find(self, owner: NDArray[np.int64], item: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where pairs are, int64, -1 where an owner does not have the item."""
        if not len(self.key):
            return np.full(len(owner), -1, dtype=np.int64)
        wanted = owner * self.width + item
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        found: NDArray[np.int64] = np.where(self.key[place] == wanted, place, -1)
        return found


def _one(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
