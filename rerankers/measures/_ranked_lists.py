"""Two rankings with ties as ranks of tie groups, and where their common items stand."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two rankings, and where each item of the second is in the first: int64, 0-based, -1 where it is not."""

    lists: tuple[RankedList, RankedList]
    place: NDArray[np.int64]

    @property
    def tied(self) -> bool:
        """Whether any group of either has several items."""
        return self.lists[0].tied or self.lists[1].tied

    def by_length(self) -> tuple[RankedList, RankedList, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the shorter list, the longer one, and the places of the common items in both."""
        one, two = self.lists
        inside = np.flatnonzero(self.place >= 0)
        if len(one) <= len(two):
            return one, two, (self.place[inside], inside)
        return two, one, (inside, self.place[inside])


def both_codes(a: Iterable[Any], b: Iterable[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return two rankings of whole numbers as arrays; None for other items, tie groups, and lists that are empty."""
    one = _codes("a", a)
    if one is None:
        return None
    two = _codes("b", b)
    return None if two is None else (one, two)


def codes_from_0(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same rankings under codes that are as small as can be."""
    code = np.unique(np.concatenate([a, b]), return_inverse=True)[1].astype(np.int64)
    return code[: len(a)], code[len(a) :]


def _codes(name: str, given: Iterable[Any]) -> NDArray[np.int64] | None:
    if isinstance(given, np.ndarray):
        kind = given.dtype
        if kind.kind != "i" and (kind.kind != "u" or kind.itemsize == 8):  # half of uint64 has no int64
            return None
        if given.ndim != 1 or not len(given):
            raise InputError.one(name, f"an array of shape {given.shape}", "(n,), at least one item")
        return np.array(given, dtype=np.int64)  # a copy: compiled code is made for one kind of array only
    if not isinstance(given, list | tuple) or not given:
        return None
    try:
        return np.frombuffer(array("q", given), dtype=np.int64)
    except (TypeError, OverflowError):
        return None


def read_pair(a: Iterable[Any], b: Iterable[Any]) -> Pair:
    """Return two rankings of any items, perhaps with tie groups."""
    (first, one), (second, two) = _read("a", a), _read("b", b)
    place = np.fromiter(map(first.get, second, repeat(-1)), dtype=np.int64, count=len(second))
    return Pair((RankedList.of_sizes(one, len(first)), RankedList.of_sizes(two, len(second))), place)


def _read(name: str, given: Iterable[Any]) -> tuple[dict[Any, int], NDArray[np.int64] | None]:
    """Return item -> place of a ranking, and the sizes of its tie groups, None where there are no ties."""
    given, sizes = list(given), None
    if any(issubclass(kind, list) for kind in set(map(type, given))):
        groups = [item if isinstance(item, list) else [item] for item in given]
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
