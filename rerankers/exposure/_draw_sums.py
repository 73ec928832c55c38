"""Sums over the draws of a row, from which estimates and their errors follow; the second pass over the rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.arrays import read_only
from rerankers._base.errors import InputError
from rerankers.exposure._walk import Walk
from rerankers.exposure.objectives import ExpectedExposure, expected_exposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.groups import GroupAlignment
    from rerankers.values.ragged import Ragged

CELLS = 1 << 22  # totals by row and group held at once: 32 MB


class Along(NamedTuple):
    """For the exposure X_s of each draw: its products with the mean and with the target, and its squared norm, (R,)."""

    mean: NDArray[np.float64]
    target: NDArray[np.float64]
    square: NDArray[np.float64]


def along_documents(walk: Walk, rankings: int, mean: NDArray[np.float64], target: NDArray[np.float64]) -> Along:
    """Return the sums of documents.

    Parameters
    ----------
    walk
        over R = ``rankings`` rankings.
    mean, target
        float64 (nnz,), the mean exposure over the draws and the target.
    """
    from rerankers.exposure._ranking_loops import along_walk

    along = Along(*(np.empty(rankings) for _ in range(3)))
    walk.run(along_walk, read_only(mean, np.float64), read_only(target, np.float64), *along)
    return along


def along_groups(
    walk: Walk,
    over: Ragged,
    alignments: Sequence[GroupAlignment],
    mean: NDArray[np.float64],
    target: NDArray[np.float64],
) -> list[tuple[ExpectedExposure, Along]]:
    """Return the plug-in parts and the sums of the groups of every alignment, the rankings walked once.

    The exposure of a group is linear in that of documents, and so are its products with the group's mean and target:
    they are those of the document with the mean and target of its groups, weighted by its part in each. Only the
    squared norms need the groups' exposures in every draw.

    Parameters
    ----------
    walk
        over rankings of ``over``.
    alignments
        resolved, over at least the document codes of ``over``.
    mean, target
        float64 (nnz,), of documents.
    """
    from rerankers.exposure._ranking_loops import group_walk

    if not alignments:
        return []
    rankings = len(walk.item_ptr) - 1
    toward, parts = np.empty((2, len(alignments), over.nnz)), []
    for number, alignment in enumerate(alignments):
        check_alignment(alignment, over)
        parts.append(_toward(alignment, over, mean, target, toward[:, number]))
    sums = Along(*(np.empty((len(alignments), rankings)) for _ in range(3)))
    entry_ptr, group, part = _entries(over, alignments)
    groups = np.array([len(alignment.groups) for alignment in alignments])
    directions = (read_only(array, np.float64) for array in toward)
    walk.run(
        group_walk,
        read_only(entry_ptr, np.int64),
        read_only(group, np.int32),
        read_only(part, np.float64),
        read_only(groups, np.int64),
        *directions,
        *sums,
    )
    return [(parts[number], Along(*(array[number] for array in sums))) for number in range(len(alignments))]


def check_alignment(alignment: GroupAlignment, over: Ragged) -> None:
    """Raise `InputError` unless an alignment is resolved and has all documents of the rows."""
    highest = int(over.doc.max(initial=-1))
    if not alignment.resolved or alignment.n_docs <= highest:
        state = "resolved" if alignment.resolved else "not resolved"
        found = f"one of {alignment.n_docs} documents, {state}, for {alignment.attribute!r}"
        expected = f"a resolved one over at least {highest + 1} document codes"
        raise InputError.one("alignments", found, expected, mend="Call resolve() to say what is unknown counts for.")


def _toward(
    alignment: GroupAlignment,
    over: Ragged,
    mean: NDArray[np.float64],
    target: NDArray[np.float64],
    out: NDArray[np.float64],
) -> ExpectedExposure:
    """Write mean and target of each document's groups, weighted by its parts (2, nnz); return the plug-in parts."""
    found = []
    for low, high in _row_tiles(len(over), len(alignment.groups)):
        place = slice(int(over.indptr[low]), int(over.indptr[high]))
        row = np.repeat(np.arange(high - low), np.diff(over.indptr[low : high + 1]))
        doc = over.doc[place]
        item, group, part = alignment.entries(doc)
        totals = [alignment.totals(row, doc, value[place], high - low) for value in (mean, target)]
        for array, total in zip(out, totals, strict=True):
            weighted = part * total[row[item], group]
            array[place] = np.bincount(item, weights=weighted, minlength=len(doc))
        found.append(expected_exposure(totals[0], totals[1]))
    return ExpectedExposure(*(np.concatenate([np.empty(0), *columns]) for columns in zip(*found, strict=True)))


def _row_tiles(rows: int, groups: int) -> Iterator[tuple[int, int]]:
    """Cut rows into ranges whose totals by group fit `CELLS`; one range, be it empty, where there are no rows."""
    step = max(1, CELLS // max(groups, 1))
    for low in range(0, max(rows, 1), step):
        yield low, min(low + step, rows)


def _entries(
    over: Ragged, alignments: Sequence[GroupAlignment]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the entries of the documents of the rows, one attribute after the other, and where each document's are."""
    entry_ptr = np.zeros((len(alignments), over.nnz + 1), dtype=np.int64)
    groups, parts = [np.empty(0, dtype=np.int32)], [np.empty(0)]
    done = 0
    for number, alignment in enumerate(alignments):
        _, group, part = alignment.entries(over.doc)
        np.cumsum(np.diff(alignment.indptr)[over.doc], out=entry_ptr[number, 1:])
        entry_ptr[number] += done
        done += len(group)
        groups.append(group)
        parts.append(part)
    return entry_ptr, np.concatenate(groups), np.concatenate(parts)
