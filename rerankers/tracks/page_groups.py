"""Groups of pages in a file ``docno,group``: any grouping in place of a year's page file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.collections import read_groups
from rerankers.collections.folder import format_of
from rerankers.measures.cells import Memberships
from rerankers.tracks.page_files import page_number
from rerankers.tracks.pages import NO_QUALITY, Dimension, PageTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.collections import GroupRows


def is_group_file(path: Path) -> bool:
    """Whether the name is that of a group file: ``.csv`` or ``.tsv``, perhaps compressed."""
    return format_of(path) in (".csv", ".tsv")


def read_page_groups(path: str | Path) -> PageTable:
    """Read groups of pages (`read_groups`): each attribute is a dimension, its groups in the order of their names.

    Nothing is averaged with a background. A page without a known group of an attribute belongs to no cell.

    Raises
    ------
    InputError
        with every problem of the file and its line; ids that are no page numbers.
    ConfigError
        for groups of authors: pages have none.
    MissingError
        when there is no such file.
    """
    table = read_groups(path)
    if table.level == "author":
        raise ConfigError(f"groups: {path} holds groups of authors; expected docno,group, since pages have no authors")
    numbers = {attribute: _numbers(rows, path) for attribute, rows in table.rows.items()}
    pages = np.unique(np.concatenate(list(numbers.values())))
    dimensions = tuple(Dimension(attribute, rows.groups) for attribute, rows in table.rows.items())
    memberships = tuple(_memberships(rows, numbers[attribute], pages) for attribute, rows in table.rows.items())
    quality = np.full(len(pages), NO_QUALITY, np.int8)
    counts = {"pages": len(pages), **table.counts}
    return PageTable(pages, np.arange(len(pages)), dimensions, memberships, quality, counts)


def _numbers(rows: GroupRows, path: str | Path) -> NDArray[np.int64]:
    names = rows.name.to_pylist()
    numbers = [page_number(name) for name in names]
    if None in numbers:
        raise InputError.one(str(path), f"docno {names[numbers.index(None)]!r}", "page numbers")
    return np.array(numbers, np.int64)


def _memberships(rows: GroupRows, numbers: NDArray[np.int64], pages: NDArray[np.int64]) -> Memberships:
    known = np.flatnonzero(rows.label >= 0)
    place = np.searchsorted(pages, numbers[known])
    order = np.lexsort((rows.label[known], place))
    weight = np.ones(len(known)) if rows.weight is None else rows.weight[known]
    lengths = np.bincount(place, minlength=len(pages))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Memberships(len(rows.groups), indptr, rows.label[known][order], weight[order])
