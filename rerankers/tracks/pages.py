"""The pages of a Wikipedia track: which groups each belongs to, and how much work it needs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers.measures.cells import Memberships
from rerankers.values.collection import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORK_ORDER = ("Stub", "Start", "C", "B", "GA", "FA")
"""Quality classes of pages, most work needed first."""
NO_QUALITY = -1


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way of grouping pages.

    Attributes
    ----------
    name
        for instance ``gender``.
    groups
        names in the order of the cells.
    unknown
        whether the first group is "unknown".
    background
        the shares of the other groups in the world where the target is averaged with them; else None.
    """

    name: str
    groups: tuple[str, ...]
    unknown: bool = False
    background: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PageTable:
    """Pages by number, each once.

    Attributes
    ----------
    page
        int64 (P,), page numbers, ascending.
    row
        int64 (P,), the row of each page in ``memberships`` and ``quality``.
    dimensions, memberships
        what pages are grouped by, averaged dimensions first, and their groups.
    quality
        int8 (rows,), index into `WORK_ORDER`, `NO_QUALITY` where there is none.
    counts
        what the reader met.
    """

    page: NDArray[np.int64]
    row: NDArray[np.int64]
    dimensions: tuple[Dimension, ...]
    memberships: tuple[Memberships, ...]
    quality: NDArray[np.int8]
    counts: Counts = field(default_factory=dict)

    @property
    def backgrounds(self) -> list[NDArray[np.float64]]:
        """The backgrounds of the averaged dimensions, float64 (groups - 1,) each."""
        return [np.array(one.background) for one in self.dimensions if one.background is not None]

    @property
    def all_unknown(self) -> bool:
        """Whether the first cell is the one in which nothing is known."""
        return all(dimension.unknown for dimension in self.dimensions)

    def rows(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each page, int64, -1 where the table lacks it."""
        found = np.full(len(pages), -1, dtype=np.int64)
        if len(self.page):
            place = np.minimum(np.searchsorted(self.page, pages), len(self.page) - 1)
            known = self.page[place] == pages
            found[known] = self.row[place[known]]
        return found

    def select(self, names: Sequence[str]) -> PageTable:
        """Return the table with these dimensions only, in the order of the table.

        Raises
        ------
        ConfigError
            for a name that is no dimension, or no name at all.
        """
        known = [dimension.name for dimension in self.dimensions]
        for name in names or ("",):
            choose("dimensions", name, known)
        kept = [at for at, name in enumerate(known) if name in names]
        dimensions = tuple(self.dimensions[at] for at in kept)
        return replace(self, dimensions=dimensions, memberships=tuple(self.memberships[at] for at in kept))

    def normalised(self, name: str) -> PageTable:
        """Return the table with the memberships of one dimension (if it is there) summing to 1 for every page."""
        rows = [
            rows.normalised() if dimension.name == name else rows
            for dimension, rows in zip(self.dimensions, self.memberships, strict=True)
        ]
        return replace(self, memberships=tuple(rows))

    def with_unknown_page(self) -> tuple[PageTable, int]:
        """Return the table with one more row, and its number: a page of which nothing is known.

        It is "unknown" wherever a dimension has such a group, and spread evenly over the groups of the others; where no
        dimension has one, it has no groups.
        """
        somewhere = any(dimension.unknown for dimension in self.dimensions)
        memberships = tuple(
            _with_row(rows, 1 if dimension.unknown else rows.size if somewhere else 0)
            for dimension, rows in zip(self.dimensions, self.memberships, strict=True)
        )
        quality = np.append(self.quality, np.int8(NO_QUALITY))
        return replace(self, memberships=memberships, quality=quality), len(self.quality)


def _with_row(rows: Memberships, groups: int) -> Memberships:
    """Return memberships with one more page, in equal parts in the first ``groups`` groups."""
    return Memberships(
        rows.size,
        np.append(rows.indptr, rows.indptr[-1] + groups),
        np.append(rows.group, np.arange(groups, dtype=rows.group.dtype)),
        np.append(rows.weight, np.full(groups, 1 / max(groups, 1))),
    )


class DimensionBuilder:
    """Collects the groups of pages along one dimension, page by page.

    Parameters
    ----------
    name
        of the dimension.
    groups
        the known ones in their order; None collects names as they come and sorts them in the end.
    unknown
        name of the group of pages without any; it is the first group. None: such a page has no group.
    background
        see `Dimension`.
    """

    def __init__(
        self,
        name: str,
        groups: Iterable[str] | None,
        unknown: str | None = None,
        background: Mapping[str, float] | None = None,
    ) -> None:
        self.name = name
        self.background = background
        self._open = groups is None
        self._first = () if unknown is None else (unknown,)
        self.code = {group: at for at, group in enumerate((*self._first, *(groups or ())))}
        self._lengths = array("q")
        self._group = array("i")
        self._weight = array("d")

    def knows(self, group: str) -> bool:
        """Whether a group can be added."""
        return self._open or group in self.code

    def know(self, groups: Iterable[str]) -> None:
        """Make names groups of an open dimension, whether or not a page that is added has them."""
        for group in groups:
            self.code.setdefault(group, len(self.code))

    def add(self, weights: Mapping[str, float]) -> None:
        """Add the groups of the next page; without any of positive weight it is unknown."""
        before = len(self._group)
        for group, weight in weights.items():
            if weight > 0:
                self._group.append(self.code.setdefault(group, len(self.code)))
                self._weight.append(weight)
        if len(self._group) == before and self._first:
            self._group.append(0)
            self._weight.append(1.0)
        self._lengths.append(len(self._group) - before)

    def add_nothing(self) -> None:
        """Add a page that has no group here, not even "unknown": it belongs to no cell."""
        self._lengths.append(0)

    def build(self) -> tuple[Dimension, Memberships]:
        """Return the dimension and the memberships of all pages, in the order in which they were added."""
        names = list(self.code)
        order = sorted(names[len(self._first) :]) if self._open else names[len(self._first) :]
        groups = (*self._first, *order)
        place = {group: at for at, group in enumerate(groups)}
        moved = np.array([place[name] for name in names], dtype=np.int16)
        indptr = np.concatenate([[0], np.cumsum(np.array(self._lengths, np.int64))]).astype(np.int64)
        group = moved[np.array(self._group, np.int64)] if len(self._group) else np.zeros(0, np.int16)
        background = None if self.background is None else tuple(self.background[name] for name in order)
        dimension = Dimension(self.name, groups, bool(self._first), background)
        return dimension, Memberships(len(groups), indptr, group, np.array(self._weight, np.float64))


def page_table(
    pages: array[int], quality: array[int], builders: Sequence[DimensionBuilder], counts: Mapping[str, int]
) -> PageTable:
    """Return the table of pages in the order of a file; of a page that comes again the first record counts.

    The counts gain ``pages`` and, where there are any, ``duplicate_pages``.
    """
    numbers = np.array(pages, np.int64)
    unique, first = np.unique(numbers, return_index=True)
    built = [builder.build() for builder in builders]
    found = {"pages": len(unique), "duplicate_pages": len(numbers) - len(unique), **counts}
    return PageTable(
        unique,
        first.astype(np.int64),
        tuple(dimension for dimension, _ in built),
        tuple(memberships for _, memberships in built),
        np.array(quality, np.int8),
        {name: count for name, count in found.items() if count},
    )
