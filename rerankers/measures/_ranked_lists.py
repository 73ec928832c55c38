"""Two rankings with ties as ranks of tie groups, and where their common items stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPARSE = 8  # times the items by which codes may exceed their number and still be looked up in a table


@dataclass(frozen=True, slots=True, eq=False)
class RankedList:
    """One ranking: for each of its items the first and the last rank of its tie group, 1-based, int64 (length,).

    ``tied`` says that some group has several items.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    tied: bool

    @classmethod
    def of_sizes(cls, sizes: NDArray[np.int64] | None, length: int) -> RankedList:
        """Return the ranks of groups of these sizes; of single items without sizes."""
        if sizes is None:
            rank = np.arange(1, length + 1)
            return cls(rank, rank, False)
        last = np.cumsum(sizes)
        return cls(np.repeat(last - sizes + 1, sizes), np.repeat(last, sizes), True)

    def __len__(self) -> int:
        return len(self.first)

    def part(self, depth: int, whole: bool) -> NDArray[np.float64]:
        """Return which part of the current group has arrived at depths 1 … depth; 0 behind the end."""
        part = np.zeros(depth)
        size = min(depth, len(self))
        first, last = self.first[:size], self.last[:size]
        part[:size] = 1.0 if whole else (np.arange(1, size + 1) - first + 1) / (last - first + 1)
        return part


def pair(
    a: Iterable[Any], b: Iterable[Any]
) -> tuple[RankedList, RankedList, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the shorter list, the longer one, and the places of the common items in both, 0-based."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind in "iu" and b.dtype.kind in "iu":
        arrays = {"a": a.astype(np.int64, copy=False), "b": b.astype(np.int64, copy=False)}
        for name, array in arrays.items():
            if array.ndim != 1 or not len(array):
                raise InputError.one(name, f"an array of shape {array.shape}", "(n,), at least one item")
        lists = [RankedList.of_sizes(None, len(array)) for array in arrays.values()]
        place = _places(arrays)
    else:
        (first, one), (second, two) = _read("a", a), _read("b", b)
        lists = [RankedList.of_sizes(one, len(first)), RankedList.of_sizes(two, len(second))]
        find = first.get
        place = np.array([find(item, -1) for item in second], dtype=np.int64)
    inside = np.flatnonzero(place >= 0)
    if len(lists[0]) <= len(lists[1]):
        return lists[0], lists[1], (place[inside], inside)
    return lists[1], lists[0], (inside, place[inside])


def _read(name: str, given: Iterable[Any]) -> tuple[dict[Any, int], NDArray[np.int64] | None]:
    """Return item -> place of a ranking, and the sizes of its tie groups, None where there are no ties."""
    given, sizes = list(given), None
    tied = [isinstance(item, list) for item in given]
    if any(tied):
        groups = [item if one else [item] for item, one in zip(given, tied, strict=True)]
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        if np.any(sizes == 0):
            raise InputError.one(name, f"an empty tie group at {int(np.argmin(sizes))}", "at least one item")
        given = [item for group in groups for item in group]
    try:
        places = dict(zip(given, range(len(given)), strict=True))
    except TypeError as error:
        raise InputError.one(name, f"an item that cannot be compared ({error})", "hashable items") from error
    if not given:
        raise InputError.one(name, "an empty ranking", "at least one item")
    if len(places) < len(given):
        raise InputError.one(name, "an item more than once", "each item once")
    return places, sizes


def _places(arrays: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return where each item of the second array is in the first, -1 where it is not."""
    one, two = arrays.values()
    low = min(int(one.min()), int(two.min()))
    width = max(int(one.max()), int(two.max())) - low + 1
    if width > _SPARSE * (len(one) + len(two)) + 1024:
        code = np.unique(np.concatenate([one, two]), return_inverse=True)[1].astype(np.int64)
        one, two, low, width = code[: len(one)], code[len(one) :], 0, int(code.max()) + 1
    for name, items in zip(arrays, (one, two), strict=True):
        if np.any(np.bincount(items - low, minlength=width) > 1):
            raise InputError.one(name, "an item more than once", "each item once")
    table = np.full(width, -1, dtype=np.int64)
    table[one - low] = np.arange(len(one))
    return table[two - low]
