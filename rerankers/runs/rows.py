"""Runs in long form, one row a ranked document: from rows in any order to rankings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.arrays import read_only
from rerankers._base.errors import InputError, Problems
from rerankers.runs.columns import by_appearance, by_name, check_places, distinct, line_of, note_not_finite
from rerankers.runs.draft import Draft
from rerankers.values import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMBERED = re.compile(r"Q?([0-9]{1,9})")
MOST_SAMPLES = 10**9  # sample numbers are below


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Ranked documents.

    Attributes
    ----------
    qids, docnos
        the names of the codes, in any order; some may repeat or never occur.
    query, sample, doc
        int32 (n,), codes, at least 0.
    rank
        int64 or int32 (n,), or None where the source has none.
    score
        float64 (n,), or None where the source has none.
    label
        int32, the sample number of each sample code, different ones; None where the codes are the numbers.
    line
        int64 (n,), the line or row number in the source, for messages; None where rows are numbered from 1.
    """

    qids: pa.LargeStringArray
    docnos: pa.LargeStringArray
    query: NDArray[np.int32]
    sample: NDArray[np.int32]
    doc: NDArray[np.int32]
    rank: NDArray[np.signedinteger] | None
    score: NDArray[np.float64] | None
    label: NDArray[np.int32] | None = None
    line: NDArray[np.int64] | None = None

    def take(self, order: NDArray[np.int64]) -> Rows:
        """Return the rows ``order``, in that order."""
        return replace(
            self,
            query=self.query[order],
            sample=self.sample[order],
            doc=self.doc[order],
            rank=None if self.rank is None else self.rank[order],
            score=None if self.score is None else self.score[order],
            line=order + 1 if self.line is None else self.line[order],
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
    code, names = distinct(rows.query, rows.qids)
    rows = replace(rows, query=code, qids=names)
    start, fits, rising = _cut(rows, problems)
    ptr = np.append(start, len(rows.doc))
    query, sample = rows.query[start], rows.sample[start]
    try:
        check_places(query, rows.qids)
        if rows.label is not None:
            check_places(sample, rows.label)
    except pa.ArrowInvalid as error:
        raise InputError.one(problems.where, str(error), "a name for each row") from error
    query, qids = by_appearance(query, rows.qids)
    label = sample if rows.label is None else rows.label[sample]
    place = query.astype(np.int64) << 32 | label
    if np.any(place[1:] <= place[:-1]) and len(np.unique(place)) < len(place):  # a ranking's rows lie apart
        return draft_of(rows.take(np.argsort(np.repeat(place, np.diff(ptr)), kind="stable")), problems, counts)
    by_score = 0
    if rows.rank is None or not fits:
        rows, by_score = _ordered(rows, ptr, problems)
        rising = _cut(rows, problems)[2]
    if rows.score is not None:
        counts["rankings_whose_scores_disagree_with_ranks"] = rising
    counts["rankings_ordered_by_score"] = by_score
    columns = {"line": rows.line, "score": rows.score}
    present: dict[str, NDArray[Any]] = {name: column for name, column in columns.items() if column is not None}
    return Draft(
        qids.to_pylist(), rows.docnos, Ragged(query, ptr, rows.doc, present), label, numbered=rows.line is None
    )


def _cut(rows: Rows, problems: Problems) -> tuple[NDArray[np.int64], bool, int]:
    """Return the first row of each ranking, whether ranks fit their rows, and how often scores rise (`find_rankings`).

    The rows of a ranking lie side by side, or count as several rankings.

    Raises
    ------
    InputError
        with every score that is not finite.
    """
    from rerankers.runs.rows_loops import find_rankings

    start = np.empty(len(rows.doc), dtype=np.int64)
    rank: NDArray[np.signedinteger] = np.empty(0, dtype=np.int64) if rows.rank is None else rows.rank
    score = np.empty(0) if rows.score is None else rows.score
    query, sample = read_only(rows.query), read_only(rows.sample)
    rankings, fits, rising, finite = find_rankings(query, sample, read_only(rank), read_only(score), start)
    if not finite and rows.score is not None:
        note_not_finite("score", rows.score, rows.line, problems)
        problems.raise_if_any()
    return start[:rankings].copy(), fits, rising


def _ordered(rows: Rows, ptr: NDArray[np.int64], problems: Problems) -> tuple[Rows, int]:
    """Return the rows with those of each ranking in order, and how many rankings are ordered by score."""
    which = np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))
    order, by_score = _order(rows, ptr, which)
    if order is not None:
        rows = rows.take(order)
    if rows.rank is not None:
        _check_ranks(rows, ptr, which, by_score, problems)
    return rows, int(by_score.sum())


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
        doc, _ = by_name(rows.doc[some], rows.docnos)
        order[some] = some[np.lexsort((doc, -rows.score[some], which[some]))]
    return order, by_score


def _fits(rank: NDArray[np.signedinteger], ptr: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.bool_]:
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
        again = f" again (also on line {line_of(rows.line, index - 1)})" if twice else ""
        sample = rows.sample[index] if rows.label is None else rows.label[rows.sample[index]]
        problems.add(
            line_of(rows.line, index),
            f"rank {rank[index]}{again} in query {rows.qids[rows.query[index]].as_py()!r}, sample {sample}",
            f"rank {expected}; the ranks of a ranking run 1, 2, 3, … or 0, 1, 2, … without gap or repeat",
            "Number the rankings anew, or give all lines the same rank to have them ordered by score.",
        )
