"""The groups that each row of a block has, the shares that are wanted of them, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Candidates, GroupAlignment

LEAST = 1e-12  # of a target: less on groups without a candidate is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """What is wanted of one attribute.

    Attributes
    ----------
    alignment
        resolved.
    about
        bool (G,), the groups that have a share; documents of other groups are neither tilted nor counted.
    target
        float64 (B, G), at least 0: the wanted shares, which need not sum to 1; zeros where a row has no target.
    """

    alignment: GroupAlignment
    about: NDArray[np.bool_]
    target: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """Groups of the documents of B rows, numbered within each row: only those that the row has.

    Attributes
    ----------
    indptr
        int64 (B + 1,), the documents of the rows.
    start, group, weight
        int64 (nnz + 1,), int64 (entries,), float64 (entries,): document d has ``weight`` > 0 in the groups
        ``group[start[d]:start[d + 1]]`` of its row.
    columns
        int64 (B + 1,), row i has the groups columns[i]:columns[i + 1], attribute by attribute.
    part, code
        int64 (C,), the number of a group's attribute, and its code there.
    target
        float64 (C,), summing to 1 over a row and attribute.
    counts
        rows and attributes: ``targets_on_absent_groups``, whose target gave something to groups without a candidate,
        which goes to the others in proportion; ``rows_without_target``, left as they are, since no group of their
        candidates has a target.
    """

    indptr: NDArray[np.int64]
    start: NDArray[np.int64]
    group: NDArray[np.int64]
    weight: NDArray[np.float64]
    columns: NDArray[np.int64]
    part: NDArray[np.int64]
    code: NDArray[np.int64]
    target: NDArray[np.float64]
    counts: Mapping[str, int]

    @property
    def cell(self) -> NDArray[np.int64]:
        """int64 (C,), a number of each group's row and attribute."""
        row = np.repeat(np.arange(len(self.columns) - 1, dtype=np.int64), np.diff(self.columns))
        return row * (int(self.part.max(initial=0)) + 1) + self.part

    @property
    def largest(self) -> NDArray[np.float64]:
        """float64 (C,), the largest weight that a document has in each group."""
        largest = np.zeros(len(self.target))
        np.maximum.at(largest, self._column, self.weight)
        return largest

    @property
    def _column(self) -> NDArray[np.int64]:
        """int64 (entries,), the place of each entry's group among all of the rows."""
        return np.repeat(np.repeat(self.columns[:-1], np.diff(self.indptr)), np.diff(self.start)) + self.group

    def totals(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of documents (nnz,), at its weights, by group: float64 (C,)."""
        entries = np.diff(self.start)
        sums = np.bincount(self._column, weights=np.repeat(value, entries) * self.weight, minlength=len(self.target))
        return sums.astype(np.float64, copy=False)

    def parts_of(self, row: int) -> NDArray[np.float64]:
        """Return how much of each document of a row counts for each of its groups, float64 (n, K).

        The parts of a document sum to 1 over an attribute; all are 0 where it has no group.
        """
        docs, own = slice(self.indptr[row], self.indptr[row + 1]), slice(self.columns[row], self.columns[row + 1])
        starts = self.start[docs.start : docs.stop + 1]
        entries = slice(starts[0], starts[-1])
        parts = np.zeros((len(starts) - 1, int(own.stop - own.start)))
        np.add.at(parts, (np.repeat(np.arange(len(parts)), np.diff(starts)), self.group[entries]), self.weight[entries])
        same = self.part[own][:, None] == self.part[own]
        total = parts @ same
        return parts / np.where(total > 0.0, total, 1.0)

    def shares(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each group's part (C,) of the sum of a value (C,) over its row and attribute; 0 of a sum of 0."""
        cell = self.cell
        total = np.bincount(cell, weights=value)
        shares: NDArray[np.float64] = value / np.where(total > 0.0, total, 1.0)[cell] if len(value) else value
        return shares

    def softened(self, share: NDArray[np.float64], strength: float) -> GroupRows:
        """Return the rows with targets in proportion to target^strength share^(1 - strength); shares (C,)."""
        if strength == 1.0:
            return self
        wanted = self.target > 0.0
        log = strength * np.log(np.where(wanted, self.target, 1.0))
        log += (1.0 - strength) * np.log(np.maximum(share, np.finfo(np.float64).tiny))
        # a share that is wanted to be 0 is left as it is at strength 0 only
        kept = wanted if strength > 0.0 else share > 0.0
        return replace(self, target=self.shares(np.where(kept, np.exp(log), 0.0)))


def group_rows(candidates: Candidates, aims: Sequence[Aim]) -> GroupRows:
    """Return the groups of each row, numbered, with their targets.

    Parameters
    ----------
    candidates
        B rows.
    aims
        one an attribute.
    """
    documents, groups, weights, wanted, offset = [], [], [], [], 0
    for aim in aims:
        item, group, weight = aim.alignment.entries(candidates.doc)
        kept = aim.about[group] & (weight > 0.0)
        documents.append(item[kept])
        groups.append(group[kept].astype(np.int64) + offset)
        weights.append(weight[kept])
        wanted.append(aim.target)
        offset += len(aim.about)
    part = np.repeat(np.arange(len(aims), dtype=np.int64), [len(aim.about) for aim in aims])
    code = np.concatenate([np.arange(len(aim.about), dtype=np.int64) for aim in aims])
    every = _Entries(np.concatenate(documents), np.concatenate(groups), np.concatenate(weights))
    target = np.concatenate(wanted, axis=1) * np.concatenate([aim.about for aim in aims])
    return _numbered(candidates, every, target, part, code)


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """Documents (positions in the block), groups (of all attributes) and weights, each (entries,)."""

    item: NDArray[np.int64]
    group: NDArray[np.int64]
    weight: NDArray[np.float64]

    def take(self, chosen: NDArray[np.generic]) -> _Entries:
        return _Entries(self.item[chosen], self.group[chosen], self.weight[chosen])


def _numbered(
    candidates: Candidates,
    entries: _Entries,
    target: NDArray[np.float64],
    part: NDArray[np.int64],
    code: NDArray[np.int64],
) -> GroupRows:
    """Leave out what has no target, and number the groups that are left, row by row."""
    size, row_of = target.shape[1], candidates.row_index
    present = np.zeros(target.shape)
    present[row_of[entries.item], entries.group] = 1.0
    parts = int(part.max(initial=0)) + 1
    by_part = np.zeros((size, parts))
    by_part[np.arange(size), part] = 1.0
    held, asked = (target * present) @ by_part, target @ by_part
    aimed = held > 0.0  # (B, parts)
    counts = Counter(
        targets_on_absent_groups=int(np.count_nonzero(aimed & (asked - held > LEAST * asked))),
        rows_without_target=int(np.count_nonzero(~aimed & (candidates.lengths > 0)[:, None])),
    )
    entries = entries.take(aimed[row_of[entries.item], part[entries.group]])
    entries = entries.take(np.argsort(entries.item, kind="stable"))
    key, inverse = np.unique(row_of[entries.item] * size + entries.group, return_inverse=True)
    row, column = key // size, key % size
    columns = np.searchsorted(row, np.arange(len(candidates) + 1)).astype(np.int64)
    scale = np.where(aimed, held, 1.0)[row, part[column]]
    return GroupRows(
        candidates.indptr,
        np.searchsorted(entries.item, np.arange(candidates.nnz + 1)).astype(np.int64),
        (inverse - columns[row_of[entries.item]]).astype(np.int64),
        entries.weight,
        columns,
        part[column],
        code[column],
        target[row, column] / scale,
        {name: count for name, count in counts.items() if count},
    )
