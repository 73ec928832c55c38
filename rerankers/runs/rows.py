"""Runs in long form, one row a ranked document: from rows in any order to rankings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import Problems
from rerankers.runs.draft import Draft
from rerankers.values import Ids, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMBERED = re.compile(r"Q?([0-9]{1,9})")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Ranked documents.

    Attributes
    ----------
    qids, docs
        the names of the codes; documents sorted.
    query, label, doc
        int32 (n,), query code, sample number, document code.
    rank
        int64 (n,), or None where the source has none.
    score
        float64 (n,), finite, or None where the source has none.
    line
        int64 (n,), the line or row number in the source, for messages.
    """

    qids: Sequence[str]
    docs: Ids
    query: NDArray[np.int32]
    label: NDArray[np.int32]
    doc: NDArray[np.int32]
    rank: NDArray[np.int64] | None
    score: NDArray[np.float64] | None
    line: NDArray[np.int64]

    def take(self, order: NDArray[np.int64]) -> Rows:
        """Return the rows ``order``, in that order."""
        return replace(
            self,
            query=self.query[order],
            label=self.label[order],
            doc=self.doc[order],
            rank=None if self.rank is None else self.rank[order],
            score=None if self.score is None else self.score[order],
            line=self.line[order],
        )


def sample_labels(names: Sequence[str], counts: dict[str, int]) -> NDArray[np.int32]:
    """Return the sample number of each distinct sample name, int32.

    ``3`` and ``Q3`` are 3. Unless all names are of that kind and stay distinct, they are numbered from 0 in the order
    of the source, and counted as ``sample_names_numbered``.
    """
    found = [_NUMBERED.fullmatch(name) for name in names]
    numbers = [int(match[1]) for match in found if match]
    if len(set(numbers)) == len(names):
        return np.array(numbers, dtype=np.int32)
    counts["sample_names_numbered"] = len(names)
    return np.arange(len(names), dtype=np.int32)


def draft_of(rows: Rows, problems: Problems, counts: dict[str, int]) -> Draft:
    """Put rows in order: by query, sample and rank, or by score where ranks say nothing.

    Ranks run 1, 2, … or 0, 1, … in each ranking, in any order of lines. A ranking whose ranks are all the same, and
    any ranking of a source without ranks, is ordered by score descending, then document id ascending, and counted as
    ``rankings_ordered_by_score``. Other gaps and repeats are noted in ``problems``.
    """
    rows = _grouped(rows)
    start = np.flatnonzero(_changes(rows))
    ptr = np.append(start, len(rows.doc)).astype(np.int64)
    which = np.repeat(np.arange(len(start), dtype=np.int64), np.diff(ptr))
    order, by_score = _order(rows, ptr, which)
    if order is not None:
        rows = rows.take(order)
    if rows.rank is not None:
        _check_ranks(rows, ptr, which, by_score, problems)
    columns: dict[str, NDArray[Any]] = {"line": rows.line}
    if rows.score is not None:
        columns["score"] = rows.score
        rises = (rows.score[1:] > rows.score[:-1]) & (which[1:] == which[:-1])
        counts["rankings_whose_scores_disagree_with_ranks"] = len(np.unique(which[1:][rises]))
    counts["rankings_ordered_by_score"] = int(by_score.sum())
    return Draft(rows.qids, rows.docs, Ragged(rows.query[start], ptr, rows.doc, columns), rows.label[start])


def _changes(rows: Rows) -> NDArray[np.bool_]:
    """Return where another ranking begins."""
    changes = np.ones(len(rows.doc), dtype=bool)
    changes[1:] = (rows.query[1:] != rows.query[:-1]) | (rows.label[1:] != rows.label[:-1])
    return changes


def _grouped(rows: Rows) -> Rows:
    """Return the rows with those of a ranking side by side, in the order of the source within it."""
    start = np.flatnonzero(_changes(rows))
    place = rows.query[start].astype(np.int64) << 32 | rows.label[start].astype(np.int64)
    if np.all(place[1:] > place[:-1]):
        return rows
    return rows.take(np.lexsort((rows.label, rows.query)))


def _order(
    rows: Rows, ptr: NDArray[np.int64], which: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | None, NDArray[np.bool_]]:
    """Return the order of rows (None: as they are), and which rankings are ordered by score (R,)."""
    first, by_score = ptr[:-1], np.zeros(len(ptr) - 1, dtype=bool)
    loose = ~by_score
    if rows.rank is None:
        by_score = loose
    else:
        loose = ~np.logical_and.reduceat(_fits(rows.rank, ptr, which), first)
        if rows.score is not None:
            same = np.minimum.reduceat(rows.rank, first) == np.maximum.reduceat(rows.rank, first)
            by_score = loose & same & (np.diff(ptr) > 1)
    if not loose.any():
        return None, by_score
    order = np.arange(len(which), dtype=np.int64)
    if rows.rank is not None:
        some = np.flatnonzero((loose & ~by_score)[which])
        order[some] = some[np.lexsort((rows.rank[some], which[some]))]
    if rows.score is not None:
        some = np.flatnonzero(by_score[which])
        order[some] = some[np.lexsort((rows.doc[some], -rows.score[some], which[some]))]
    return order, by_score


def _fits(rank: NDArray[np.int64], ptr: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each rank is the one that its place in its ranking asks for."""
    base = np.clip(rank[ptr[:-1]], 0, 1)
    fits: NDArray[np.bool_] = rank == (base - ptr[:-1])[which] + np.arange(len(rank))
    return fits


def _check_ranks(
    rows: Rows,
    ptr: NDArray[np.int64],
    which: NDArray[np.int64],
    by_score: NDArray[np.bool_],
    problems: Problems,
) -> None:
    """Note the first gap or repeat of each ranking that is ordered by rank."""
    rank = rows.rank if rows.rank is not None else np.empty(0, np.int64)
    wrong = np.flatnonzero(~_fits(rank, ptr, which) & ~by_score[which])
    for index in wrong[np.unique(which[wrong], return_index=True)[1]].tolist():
        first = ptr[which[index]]
        expected = int(np.clip(rank[first], 0, 1) + index - first)
        twice = index > first and rank[index] == rank[index - 1]
        again = f" again (also on line {rows.line[index - 1]})" if twice else ""
        problems.add(
            int(rows.line[index]),
            f"rank {rank[index]}{again} in query {rows.qids[rows.query[index]]!r}, sample {rows.label[index]}",
            f"rank {expected}; the ranks of a ranking run 1, 2, 3, … or 0, 1, 2, … without gap or repeat",
            "Number the rankings anew, or give all lines the same rank to have them ordered by score.",
        )
