"""Compiled loops of equity of attention: sort by what is owed for as long as quality allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.ledger.book import GOLDEN, Book
from rerankers.ledger.fixed import ONE
from rerankers.ledger.rows import Rows
from rerankers.ledger.scored_loops import book_exposure, look
from rerankers.ledger.sort_loops import rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSE = 1e-12  # relative, by which a floor may be missed


@compiled
def serve_owed(
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    start: NDArray[np.int64],
    done: int,
    gain: NDArray[np.float64],
    discount: NDArray[np.float64],
    floor: NDArray[np.float64],
    width: int,
    decay: float,
    items: NDArray[np.int32],
) -> int:
    """Serve impressions from ``done`` on, while sorting is allowed.

    Parameters
    ----------
    gain, discount
        float64 (nnz,) and (longest row,), of documents and ranks.
    floor
        float64 (B,), the least discounted gain of a ranking of each row.
    width
        documents a row may have at most to be sorted; 0 where no row may.

    Returns
    -------
    The first impression that must not be sorted, their number where there is none, or -1 - i where a balance overflows
    at impression i.
    """
    longest = len(rows.position)
    key, exposure = np.empty(longest), np.empty(longest)
    spare, bounds = np.empty(longest, np.int32), np.empty(longest + 1, np.int32)
    for i in range(done, len(cases)):
        case = cases[i]
        row = book.row[case]
        low, n = rows.indptr[row], rows.indptr[row + 1] - rows.indptr[row]
        if n > width and n > 1:
            return i
        at = book.slot_ptr[case]
        for d in range(n):
            slot = book.slot[at + d]
            key[d] = (
                (book.due[slot] - book.served[slot] + rows.due[rows.entry_ptr[low + d]]) / ONE if width > 0 else 0.0
            )
        order = book.order[book.pair_ptr[case] : book.pair_ptr[case + 1]]
        shift = book.times[book.account[case]] * GOLDEN
        priority = book.priority[book.pair_ptr[case] : book.pair_ptr[case + 1]]
        rank(order, key[:n], priority, shift - np.floor(shift), True, spare, bounds)
        found = 0.0
        for k in range(n):
            found += gain[low + order[k]] * discount[k]
        if found < floor[row] - CLOSE * max(1.0, floor[row]):
            return i
        items[start[i] : start[i] + n] = order
        look(rows, row, order, exposure)
        if not book_exposure(rows, book, case, exposure, decay):
            return -1 - i
    return len(cases)


@compiled
def serve_given(
    rows: Rows, book: Book, case: int, order: NDArray[np.int32], start: int, decay: float, items: NDArray[np.int32]
) -> bool:
    """Serve one given ranking of all documents; return False where a balance overflows."""
    exposure = np.empty(len(order))
    items[start : start + len(order)] = order
    look(rows, book.row[case], order, exposure)
    return book_exposure(rows, book, case, exposure, decay)
