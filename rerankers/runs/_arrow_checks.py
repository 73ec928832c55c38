"""What must hold for a run in list form, where positions stand for documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.arrays import read_only
from rerankers._base.errors import Problems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Ids, Rankings


def check_lists(
    arrays: Sequence[pa.Array],
    qid: pa.Array,
    label_ptr: NDArray[np.int64],
    query_ptr: NDArray[np.int64],
    problems: Problems,
) -> None:
    """Raise where something is missing or the lists of a row do not belong together.

    Parameters
    ----------
    arrays
        of which no value may be missing.
    label_ptr, query_ptr
        int64 (B + 1,), where the sample numbers and the rankings of each row begin.

    Raises
    ------
    InputError
        with everything that is wrong.
    """
    missing = sum(array.null_count for array in arrays)
    if missing:
        problems.add(None, f"{missing} missing values", "a value everywhere")
        problems.raise_if_any()
    numbers, counts = np.diff(label_ptr), np.diff(query_ptr)
    for row in np.flatnonzero((numbers != counts) | (counts == 0)).tolist():
        problems.add(
            None,
            f"{counts[row]} rankings and {numbers[row]} sample numbers of query {qid[row].as_py()!r}",
            "one number a ranking, and at least one ranking",
        )
    problems.raise_if_any()


def check_rankings(rankings: Rankings, qids: Sequence[str], docs: Ids, problems: Problems) -> None:
    """Raise what is wrong with names, order and positions.

    Raises
    ------
    InputError
        with everything that is wrong.
    """
    for qid, count in Counter(qids).items() if len(set(qids)) < len(qids) or "" in qids else ():
        if count > 1 or not qid:
            problems.add(None, f"query id {qid!r} in {count} rows", "a name for each query, once")
    if len(docs) and not docs.name(0):
        problems.add(None, "an empty document id", "a name for each document")
    over = rankings.over
    for row in _not_ascending(over.doc, over.indptr):
        problems.add(None, f"documents of query {qids[row]!r} that do not ascend", "each document once, by id")
    label = rankings.label
    for row in _not_ascending(label, rankings.query_ptr):
        problems.add(None, f"sample numbers of query {qids[row]!r} that do not ascend", "each number once, ascending")
    if label.min(initial=0) < 0:
        problems.add(None, f"sample number {label.min()}", "numbers from 0")
    _check_items(rankings, qids, problems)
    problems.raise_if_any()


def _not_ascending(values: NDArray[np.int32], indptr: NDArray[np.int64]) -> list[int]:
    """Return the rows whose values do not ascend strictly."""
    falls = values[1:] <= values[:-1]
    inner = indptr[1:-1]
    falls[inner[(inner > 0) & (inner < len(values))] - 1] = False  # from one row to the next
    rows: list[int] = np.unique(np.searchsorted(indptr, np.flatnonzero(falls), side="right") - 1).tolist()
    return rows


def _check_items(rankings: Rankings, qids: Sequence[str], problems: Problems) -> None:
    """Note rankings with a position that is none or is there twice, and queries with documents in no ranking."""
    from rerankers.runs.rows_loops import check_items

    over, row = rankings.over, rankings.row_of_ranking
    wrong, idle = np.zeros(len(rankings), dtype=bool), np.zeros(len(over), dtype=np.int64)
    query_ptr, item_ptr = read_only(rankings.query_ptr), read_only(rankings.item_ptr)
    if check_items(query_ptr, item_ptr, read_only(rankings.item), read_only(over.indptr), wrong, idle):
        return
    for ranking in np.flatnonzero(wrong).tolist():
        name, last = qids[row[ranking]], over.lengths[row[ranking]] - 1
        found = f"positions in query {name!r}, sample {rankings.label[ranking]}, that repeat or are not there"
        problems.add(None, found, f"each position at most once, from 0 to {last}")
    idle[row[wrong]] = 0  # positions that are wrong may stand for these
    for query in np.flatnonzero(idle).tolist():
        found = f"{idle[query]} documents of query {qids[query]!r} in no ranking"
        problems.add(None, found, "documents that are ranked somewhere")
