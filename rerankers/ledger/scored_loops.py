"""The compiled loop of controllers that rank by belief plus what the ledger says: score, sort, look, book."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.ledger.book import GOLDEN, Book
from rerankers.ledger.fixed import LIMIT, ONE
from rerankers.ledger.rows import Rows
from rerankers.ledger.sort_loops import rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATIO, GRADIENT, SQUARE = 0, 1, 2  # what a balance says about an entity, see `_say`


@compiled
def _power(base: float, exponent: int) -> float:
    """Return base ** exponent by squaring: products only, so that every machine gives the same bits."""
    out = 1.0
    while exponent > 0:
        if exponent & 1:
            out *= base
        base *= base
        exponent >>= 1
    return out


@compiled
def _age(book: Book, slot: int, now: int, decay: float) -> None:
    """Let a balance decay for the impressions since it was last changed."""
    if decay < 1.0 and book.touched[slot] < now:
        factor = _power(decay, now - book.touched[slot])
        book.served[slot] = np.int64(np.rint(book.served[slot] * factor))
        book.due[slot] = np.int64(np.rint(book.due[slot] * factor))
        book.touched[slot] = now


@compiled
def _say(rule: int, served: float, due: float, length: float, least: float, published: float) -> float:
    """Return what an entity's balance means for its documents; ``length`` is the number of impressions so far."""
    if rule == RATIO:
        ratio = served / max(due, least)
        return ratio * length if published > 0.0 else ratio
    error = served - due
    if rule == GRADIENT:
        return 2.0 * error / max(length, 1.0)
    return abs(error) * error


@compiled
def score(
    rule: int,
    options: NDArray[np.float64],
    rows: Rows,
    book: Book,
    case: int,
    said: NDArray[np.float64],
    key: NDArray[np.float64],
) -> None:
    """Fill key (n,) with what the documents of a case are ranked by.

    Parameters
    ----------
    rule
        what balances say.
    options
        float64 (7,): the weight of belief, the weight of what balances say, whether a document takes the mean of its
        entities (1) or their weighted sum (0), the decay, the least due, whether ratios are as published, whether
        keys are divided by 1 - continuation.
    said
        float64 (n,), spare room.
    """
    gain, force, mean, decay, least, published, divide = (
        options[0],
        options[1],
        options[2],
        options[3],
        options[4],
        options[5],
        options[6],
    )
    row = book.row[case]
    low, n = rows.indptr[row], rows.indptr[row + 1] - rows.indptr[row]
    now = book.times[book.account[case]]
    length = float(now) if decay >= 1.0 else (1.0 - _power(decay, now)) / (1.0 - decay)
    at = book.slot_ptr[case]
    most = 0.0
    for d in range(n):
        total, weights = 0.0, 0.0
        for entry in range(rows.entry_ptr[low + d], rows.entry_ptr[low + d + 1]):
            slot = book.slot[at]
            at += 1
            _age(book, slot, now, decay)
            one = _say(rule, book.served[slot] / ONE, book.due[slot] / ONE, length, least, published)
            most = max(most, one)
            total += rows.weight[entry] * one
            weights += rows.weight[entry]
        if mean > 0.0 and weights > 0.0:
            total /= weights
        said[d] = total if weights > 0.0 or rule != RATIO else -1.0
    for d in range(n):
        # A document without entities has no error: it is as if its entity were the one that has had most.
        debt = said[d] if rule != RATIO else (0.0 if said[d] < 0.0 else said[d] - most)
        value = gain * rows.belief[low + d] - force * debt
        if divide > 0.0 and rows.cascade and value != 0.0:
            value /= 1.0 - rows.continuation[low + d]  # infinite where nobody ever stops
        key[d] = value


@compiled
def book_exposure(rows: Rows, book: Book, case: int, exposure: NDArray[np.float64], decay: float) -> bool:
    """Book the exposure (n,) of a case's documents and what they are due; return False where a balance overflows."""
    row = book.row[case]
    low, n = rows.indptr[row], rows.indptr[row + 1] - rows.indptr[row]
    account = book.account[case]
    now = book.times[account] + 1
    book.times[account] = now
    at = book.slot_ptr[case]
    fits = True
    for d in range(n):
        seen = exposure[d] * rows.scale[row]
        for entry in range(rows.entry_ptr[low + d], rows.entry_ptr[low + d + 1]):
            slot = book.slot[at]
            at += 1
            _age(book, slot, now, decay)
            book.served[slot] += np.int64(np.rint(seen * rows.weight[entry] * ONE))
            book.due[slot] += rows.due[entry]
            fits = fits and abs(book.served[slot]) <= LIMIT and abs(book.due[slot]) <= LIMIT
    return fits


@compiled
def look(rows: Rows, row: int, order: NDArray[np.int32], exposure: NDArray[np.float64]) -> None:
    """Fill exposure (n,) of the documents of a row under one ranking of all of them."""
    low = rows.indptr[row]
    chance = 1.0
    for k in range(len(order)):
        exposure[order[k]] = rows.position[k] * chance
        chance *= rows.continuation[low + order[k]]


@compiled
def serve_scored(
    rule: int,
    options: NDArray[np.float64],
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    start: NDArray[np.int64],
    items: NDArray[np.int32],
) -> int:
    """Serve impressions one after the other.

    Parameters
    ----------
    rule, options
        see `score`.
    cases
        int64 (m,), the case of each impression.
    start, items
        int64 (m,), int32: where each ranking is written.

    Returns
    -------
    -1, or the first impression at which a balance overflows.
    """
    longest = len(rows.position)
    key, exposure = np.empty(longest), np.empty(longest)
    said = np.empty(longest)
    spare, bounds = np.empty(longest, np.int32), np.empty(longest + 1, np.int32)
    for i in range(len(cases)):
        case = cases[i]
        row = book.row[case]
        n = rows.indptr[row + 1] - rows.indptr[row]
        order = book.order[book.pair_ptr[case] : book.pair_ptr[case + 1]]
        score(rule, options, rows, book, case, said, key)
        shift = book.times[book.account[case]] * GOLDEN
        if rows.grouped[row]:
            order[:] = rows.start[rows.indptr[row] : rows.indptr[row + 1]]
        priority = book.priority[book.pair_ptr[case] : book.pair_ptr[case + 1]]
        rank(order, key[:n], priority, shift - np.floor(shift), not rows.grouped[row], spare, bounds)
        items[start[i] : start[i] + n] = order
        look(rows, row, order, exposure)
        if not book_exposure(rows, book, case, exposure, options[3]):
            return i
    return -1


@compiled
def score_lanes(
    rule: int,
    options: NDArray[np.float64],
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    start: NDArray[np.int64],
    key: NDArray[np.float64],
) -> None:
    """Fill key[start[i]:] with the keys of case i, for cases of different accounts."""
    said = np.empty(len(rows.position))
    for i in range(len(cases)):
        score(rule, options, rows, book, cases[i], said, key[start[i] :])


@compiled
def book_lanes(
    rows: Rows,
    book: Book,
    cases: NDArray[np.int64],
    start: NDArray[np.int64],
    exposure: NDArray[np.float64],
    decay: float,
) -> int:
    """Book exposure[start[i]:] for case i; return -1, or the first case with a balance that overflows."""
    for i in range(len(cases)):
        if not book_exposure(rows, book, cases[i], exposure[start[i] :], decay):
            return i
    return -1
