"""The compiled loops of the planner: rankings for all impressions left, improved one by one against the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.ledger.book import GOLDEN, Book
from rerankers.ledger.fixed import ONE
from rerankers.ledger.plan_moves_loops import answer
from rerankers.ledger.rows import Rows
from rerankers.ledger.scored_loops import book_exposure, look

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _begin(rows: Rows, book: Book, cases: NDArray[np.int64], net: NDArray[np.float64]) -> NDArray[np.int64]:
    """Fill net with what entities will have had less what they will be due, no ranking planned yet; return bounds."""
    bounds = np.zeros(len(cases) + 1, np.int64)
    for i in range(len(cases)):
        for at in range(book.slot_ptr[cases[i]], book.slot_ptr[cases[i] + 1]):
            slot = book.slot[at]
            net[slot] = (book.served[slot] - book.due[slot]) / ONE
        bounds[i + 1] = bounds[i] + book.pair_ptr[cases[i] + 1] - book.pair_ptr[cases[i]]
    for i in range(len(cases)):
        first = rows.entry_ptr[rows.indptr[book.row[cases[i]]]]
        for at in range(book.slot_ptr[cases[i]], book.slot_ptr[cases[i] + 1]):
            net[book.slot[at]] -= rows.due[first + at - book.slot_ptr[cases[i]]] / ONE
    return bounds


@compiled
def _slots(book: Book, cases: NDArray[np.int64], marked: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the distinct slots of some cases; ``marked`` (slots,) is spare room and left at 0."""
    most = 0
    for i in range(len(cases)):
        most += book.slot_ptr[cases[i] + 1] - book.slot_ptr[cases[i]]
    found = np.empty(min(most, len(marked)), np.int64)
    count = 0
    for i in range(len(cases)):
        for at in range(book.slot_ptr[cases[i]], book.slot_ptr[cases[i] + 1]):
            slot = book.slot[at]
            if marked[slot] == 0.0:
                marked[slot] = 1.0
                found[count] = slot
                count += 1
    for k in range(count):
        marked[found[k]] = 0.0
    return found[:count]


@compiled
def _multiply(slots: NDArray[np.int64], net: NDArray[np.float64], added: NDArray[np.float64], ratio: float) -> None:
    """Update the multipliers ``added`` (slots,), which net holds beyond the balances.

    At ratio r their fixed point is where the balances are r times net; a negative ratio takes them out.
    """
    for slot in slots:
        step = -added[slot] if ratio < 0.0 else (net[slot] - added[slot]) - ratio * net[slot]
        added[slot] += step
        net[slot] += step


@compiled
def plan(
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    fairness: float,
    passes: int,
    alone: NDArray[np.bool_],
    net: NDArray[np.float64],
    added: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Plan the impressions left of one account.

    Parameters
    ----------
    cases
        int64 (L,), the case of each impression left, in order.
    fairness
        in (0, 1], the weight of the loss against utility.
    passes
        how often every ranking is improved given all others, at most.
    alone
        bool (B,), whether each document of a row is its own entity and browsing is position-based: then sorting is
        the exact best answer to all other rankings.
    net, added
        float64 (slots,), spare room; ``added`` is 0 everywhere, before and after.

    Returns
    -------
    bounds, plan
        int64 (L + 1,), int32: the rankings, as places within their rows.

    Notes
    -----
    Where loss weighs more than utility, the first half of the passes weighs them alike and learns multipliers that
    stand for the difference (method of multipliers; Hestenes 1969, Powell 1969): going down the steep objective from
    the start would end in rankings that are fair and needlessly useless, each kept there by the others.
    """
    bounds = _begin(rows, book, cases, net)
    longest = len(rows.position)
    key, old, new = np.empty(longest), np.empty(longest), np.empty(longest)
    spare, runs = np.empty(longest, np.int32), np.empty(longest + 1, np.int32)
    other = np.empty(longest, np.int32)
    chosen = np.empty(bounds[-1], np.int32)
    first = book.times[book.account[cases[0]]] if len(cases) else 0
    odds = (1.0 - fairness) / fairness
    soft = passes // 2 if odds < 1.0 else 0
    slots = _slots(book, cases, added)
    for step in range(passes + 1):
        price = (first + len(cases)) * (1.0 if step < soft else odds)
        if step == soft:
            _multiply(slots, net, added, -1.0)
        changed = step < soft
        for i in range(len(cases)):
            case = cases[i]
            order = chosen[bounds[i] : bounds[i + 1]]
            n = len(order)
            if step == 0:
                order[:] = book.order[book.pair_ptr[case] : book.pair_ptr[case + 1]]
            shift = (first + i) * GOLDEN
            shift -= np.floor(shift)
            exact = alone[book.row[case]]
            moved = answer(
                rows, book, case, order, step > 0, exact, price, shift, net, key[:n], other[:n], spare, runs, old, new
            )
            changed = changed or moved
        if not changed:
            break
        if step < soft:
            _multiply(slots, net, added, odds)
    return bounds, chosen


@compiled
def serve_planned(
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    bounds: NDArray[np.int64],
    chosen: NDArray[np.int32],
    start: NDArray[np.int64],
    items: NDArray[np.int32],
) -> int:
    """Serve the first impressions of a plan, one a ``start``; return -1, or the first whose balance overflows."""
    exposure = np.empty(len(rows.position))
    for i in range(len(start)):
        order = chosen[bounds[i] : bounds[i + 1]]
        items[start[i] : start[i] + len(order)] = order
        look(rows, book.row[cases[i]], order, exposure)
        if not book_exposure(rows, book, cases[i], exposure, 1.0):
            return i
    return -1
