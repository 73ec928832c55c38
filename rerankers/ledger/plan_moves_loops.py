"""The compiled moves of the planner: one ranking is improved while all others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled
from rerankers.ledger.book import Book
from rerankers.ledger.rows import Rows
from rerankers.ledger.scored_loops import look
from rerankers.ledger.sort_loops import rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROUNDING = 1e-13  # of an impression's exposure: changes that gain less are left alone


@compiled
def _keys(rows: Rows, book: Book, case: int, price: float, net: NDArray[np.float64], key: NDArray[np.float64]) -> None:
    """Fill key (n,) with what a document's exposure is worth: price times belief, less what it adds to the loss."""
    row = book.row[case]
    low, n = rows.indptr[row], rows.indptr[row + 1] - rows.indptr[row]
    at = book.slot_ptr[case]
    for d in range(n):
        slope = 0.0
        for entry in range(rows.entry_ptr[low + d], rows.entry_ptr[low + d + 1]):
            slope += rows.weight[entry] * net[book.slot[at]]
            at += 1
        value = price * rows.belief[low + d] - 2.0 * rows.scale[row] * slope
        if rows.cascade and value != 0.0:
            value /= 1.0 - rows.continuation[low + d]  # infinite where nobody ever stops
        key[d] = value


@compiled
def _shift(rows: Rows, book: Book, case: int, doc: int, change: float, price: float, net: NDArray[np.float64]) -> float:
    """Add to the exposure of a document (place within its row); return by how much the objective changes."""
    row = book.row[case]
    pair = rows.indptr[row] + doc
    at = book.slot_ptr[case] + rows.entry_ptr[pair] - rows.entry_ptr[rows.indptr[row]]
    worse = -price * rows.belief[pair] * change
    for entry in range(rows.entry_ptr[pair], rows.entry_ptr[pair + 1]):
        step = change * rows.scale[row] * rows.weight[entry]
        slot = book.slot[at]
        at += 1
        worse += step * (2.0 * net[slot] + step)
        net[slot] += step
    return float(worse)


@compiled
def _replace(
    rows: Rows,
    book: Book,
    case: int,
    order: NDArray[np.int32],
    other: NDArray[np.int32],
    price: float,
    net: NDArray[np.float64],
    old: NDArray[np.float64],
    new: NDArray[np.float64],
) -> bool:
    """Take another ranking where that makes the objective smaller; return whether it did."""
    row = book.row[case]
    look(rows, row, order, old)
    look(rows, row, other, new)
    worse = 0.0
    for d in range(len(order)):
        worse += _shift(rows, book, case, d, new[d] - old[d], price, net)
    if worse < -ROUNDING:
        order[:] = other
        return True
    for d in range(len(order)):
        _shift(rows, book, case, d, old[d] - new[d], price, net)
    return False


@compiled
def _neighbours(
    rows: Rows, book: Book, case: int, order: NDArray[np.int32], price: float, net: NDArray[np.float64]
) -> bool:
    """Exchange neighbours in one ranking where that makes the objective smaller; return whether any were.

    What comes before and after two neighbours is seen as much as before the exchange, under a cascade as well.
    """
    low = rows.indptr[book.row[case]]
    chance = 1.0
    changed = False
    for k in range(len(order) - 1):
        a, b = order[k], order[k + 1]
        first, second = rows.position[k] * chance, rows.position[k + 1] * chance
        up = first - second * rows.continuation[low + a]
        down = second * rows.continuation[low + b] - first
        worse = _shift(rows, book, case, b, up, price, net) + _shift(rows, book, case, a, down, price, net)
        if worse < -ROUNDING:
            order[k], order[k + 1] = b, a
            changed = True
        else:
            _shift(rows, book, case, a, -down, price, net)
            _shift(rows, book, case, b, -up, price, net)
        chance *= rows.continuation[low + order[k]]
    return changed


@compiled
def _book_plan(
    rows: Rows,
    book: Book,
    case: int,
    order: NDArray[np.int32],
    price: float,
    sign: float,
    net: NDArray[np.float64],
    seen: NDArray[np.float64],
) -> None:
    """Add the exposure of a ranking to the plan, or take it away."""
    look(rows, book.row[case], order, seen)
    for d in range(len(order)):
        _shift(rows, book, case, d, sign * seen[d], price, net)


@compiled
def answer(
    rows: Rows,
    book: Book,
    case: int,
    order: NDArray[np.int32],
    taken: bool,
    alone: bool,
    price: float,
    shift: float,
    net: NDArray[np.float64],
    key: NDArray[np.float64],
    other: NDArray[np.int32],
    spare: NDArray[np.int32],
    bounds: NDArray[np.int32],
    old: NDArray[np.float64],
    new: NDArray[np.float64],
) -> bool:
    """Improve one ranking given all others; return whether it has changed.

    Parameters
    ----------
    order
        int32 (n,), the ranking.
    taken
        whether it is part of the plan already: the first time it is but a place where sorting starts.
    alone
        whether sorting is the exact best answer.
    """
    other[:] = order
    priority = book.priority[book.pair_ptr[case] : book.pair_ptr[case + 1]]
    if taken and alone:
        _book_plan(rows, book, case, order, price, -1.0, net, old)
    _keys(rows, book, case, price, net, key)
    rank(other, key, priority, shift, True, spare, bounds)
    if taken and not alone:
        replaced = _replace(rows, book, case, order, other, price, net, old, new)
        moved = _neighbours(rows, book, case, order, price, net)
        return replaced or moved
    changed = not taken
    for k in range(len(order)):
        changed = changed or order[k] != other[k]
        order[k] = other[k]
    _book_plan(rows, book, case, order, price, 1.0, net, old)
    return changed
