"""Shares in files: CSV or TSV with the header ``qid,cell,value``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.streams import query_streams
from rerankers.collections.delimited import Table

ANY = "*"
OFF = 1e-6  # by how much the shares of a query may miss 1

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of a file: a group's name, maybe after its attribute and a colon, and its share."""

    name: str
    value: float
    line: int | None

    def group(self, attribute: str, groups: Sequence[str]) -> str | None:
        """Return the name of the group of an attribute that is meant, None where it is of another attribute."""
        if self.name in groups:
            return self.name
        before, _, after = self.name.partition(":")
        return after if before == attribute and after in groups else None


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares by query.

    Attributes
    ----------
    where
        the file, for messages.
    by_query
        query id, or ``*`` for all queries without rows -> its cells.
    """

    where: str
    by_query: Mapping[str, tuple[Cell, ...]]
    by_digest: Mapping[Key, str]

    @classmethod
    def of(cls, where: str, by_query: Mapping[str, tuple[Cell, ...]]) -> Shares:
        """Return shares that are found by the digests of query ids, which are what blocks have."""
        qids = [qid for qid in by_query if qid != ANY]
        digests = query_streams(qids).tolist()
        return cls(where, by_query, {(one[0], one[1]): qid for one, qid in zip(digests, qids, strict=True)})

    @property
    def cells(self) -> frozenset[str]:
        """The names of all cells."""
        return frozenset(cell.name for cells in self.by_query.values() for cell in cells)

    def query(self, stream: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> str | None:
        """Return the key of the rows of a query, by its digest (2,): its id, ``*``, or None where it has none."""
        own = self.by_digest.get((int(stream[0]), int(stream[1])))
        return ANY if own is None and ANY in self.by_query else own

    def check_groups(self, attributes: Mapping[str, Sequence[str]]) -> None:
        """Raise `InputError` with every cell that is a group of none of the attributes (name -> groups)."""
        problems = Problems(self.where)
        known = "; ".join(f"{name}: {', '.join(groups)}" for name, groups in attributes.items())
        unknown = {
            name: all(
                Cell(name, 0.0, None).group(attribute, groups) is None for attribute, groups in attributes.items()
            )
            for name in self.cells
        }
        for cells in self.by_query.values():
            for cell in cells:
                if unknown[cell.name]:
                    problems.add(cell.line, f"cell {cell.name!r}", f"a group of the job's attributes ({known})")
        problems.raise_if_any()

    def check_queries(self, qids: Iterable[str]) -> None:
        """Raise `InputError` with each query of the file that a job does not have, and each of its own without rows."""
        problems, own = Problems(self.where), list(qids)
        asked = set(own)
        for qid, cells in self.by_query.items():
            if qid != ANY and qid not in asked:
                problems.add(cells[0].line, f"query {qid!r}", "a query of the job")
        if ANY not in self.by_query:
            for qid in own:
                if qid not in self.by_query:
                    problems.add(None, f"no rows for query {qid!r}", f"rows of it, or of {ANY!r} for all others")
        problems.raise_if_any()

    def vector(self, qid: str, attribute: str, groups: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the shares of an attribute's groups for one key of ``by_query``: float64 (G,), summing to 1.

        Groups that are not named have none. All are 0 where no cell is of this attribute.

        Raises
        ------
        InputError
            for shares that do not sum to 1, or a group that is named twice.
        """
        share, named, line = np.zeros(len(groups)), set[str](), None
        for cell in self.by_query[qid]:
            group = cell.group(attribute, groups)
            if group is None:
                continue
            if group in named:
                raise InputError.one(self.where, f"cell {cell.name!r} again", "each group once", line=cell.line)
            named.add(group)
            line = cell.line if line is None else line
            share[list(groups).index(group)] = cell.value
        total = float(share.sum())
        if named and abs(total - 1.0) > OFF:
            found = f"shares of {attribute} that sum to {total:g} for query {qid!r}"
            raise InputError.one(self.where, found, "a sum of 1", line=line)
        return share / total if named else share


def read_shares(path: str) -> Shares:
    """Read a target file; one that has not changed since the last time is not read again.

    Parameters
    ----------
    path
        CSV, or TSV by its name, perhaps with ``.gz`` or ``.zst``, with the header ``qid,cell,value``: ``qid`` a query
        or ``*`` for all queries without rows, ``cell`` a group, maybe as ``attribute:group``, ``value`` its share.

    Raises
    ------
    InputError
        with every problem and its line: columns that are missing, empty ids, cells that come twice in a query, values
        that are no finite numbers of at least 0.
    MissingError
        when there is no such file.
    """
    try:
        state = os.stat(path)
    except OSError:
        return _read(path)  # which says what is wrong
    return _kept(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _kept(path: str, changed: int, size: int) -> Shares:
    return _read(path)


def _read(path: str) -> Shares:
    problems = Problems(path)
    table = Table(Path(path), problems)
    places = [table.column(name) for name in ("qid", "cell", "value")]
    if None in places and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", "qid,cell,value")
    problems.raise_if_any()
    qid_at, cell_at, value_at = (place or 0 for place in places)
    found: dict[str, dict[str, Cell]] = {}
    for line, row in table:
        qid, name, value = row[qid_at].strip(), row[cell_at].strip(), share_of(row[value_at])
        own = found.setdefault(qid, {})
        if not qid or not name:
            problems.add(line, "an empty qid or cell", "a query, or * for all, and a group")
        elif value is None:
            problems.add(line, f"value {row[value_at]!r}", "a finite number of at least 0")
        elif name in own:
            problems.add(line, f"cell {name!r} again", "each cell once in a query")
        else:
            own[name] = Cell(name, value, line)
    if not found and not problems:
        problems.add(None, "no row", "at least one below the header")
    problems.raise_if_any()
    return Shares.of(path, {qid: tuple(own.values()) for qid, own in found.items()})


def share_of(value: object) -> float | None:
    """Return a finite number of at least 0, None for anything else."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None
