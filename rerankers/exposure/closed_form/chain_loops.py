"""Compiled sums over the prefixes and suffixes of a row's documents (see `chain`).

A state is a row of a matrix with `LANES` numbers, one a node, for each coefficient of a polynomial. Only the window of
coefficients above `TINY` is kept: what lies outside could never add more than that, and would soon consist of denormal
numbers, which are slow. Long rows are cut into segments: only the states where one begins are held, those within it
are found again on the way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.lanes_loops import largest, load, put, rest, same, total
from rerankers.exposure.closed_form.sweep import LANES, UNSEEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

TINY = 1e-30  # a chance
EVERY = 4  # documents between two looks at the window


@compiled
def trim(states: Floats, at: int, bottom: int, top: int) -> tuple[int, int]:
    """Return the window without coefficients that are tiny at all nodes; one is always left."""
    while top > bottom and largest(load(states, at, LANES * top)) < TINY:
        top -= 1
    while top > bottom and largest(load(states, at, LANES * bottom)) < TINY:
        bottom += 1
    return bottom, top


@compiled
def clear(tail: Floats, number: int, window: Whole, doc: int) -> None:
    """Set a functional behind a document to 0 outside of its window, as far as the one before it reaches."""
    for a in range(window[0, doc], window[0, doc + 1]):
        put(tail, number, LANES * a, same(0.0))
    for a in range(window[1, doc + 1] + 1, window[1, doc] + 2):
        put(tail, number, LANES * a, same(0.0))


@compiled
def _forward(
    states: Floats, window: Whole, begin: int, end: int, race: Floats, group: int, passed: Floats, k: int
) -> None:
    """Find the polynomials of the documents up to each of a segment, from the one before it."""
    for doc in range(begin, end):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        bottom, top = window[0, doc], window[1, doc]
        before = same(0.0)
        for a in range(bottom, top + 1):
            here = load(states, at, LANES * a)
            put(states, at + 1, LANES * a, q * here + g * before)
            before = here
        if top + 1 < k:
            top += 1
            put(states, at + 1, LANES * top, g * before)
        if doc % EVERY == 0:
            bottom, top = trim(states, at + 1, bottom, top)
        window[0, doc + 1], window[1, doc + 1] = bottom, top


@compiled
def _backward(
    tail: Floats,
    states: Floats,
    window: Whole,
    begin: int,
    end: int,
    race: Floats,
    group: int,
    measure: Floats,
    passed: Floats,
    exposure: Floats,
) -> None:
    """Add the parts of the documents of a segment, and take the functional of what is behind over each of them."""
    for doc in range(end - 1, begin - 1, -1):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        clear(tail, 0, window, doc)
        seen = same(0.0)
        here = load(tail, 0, LANES * window[0, doc])
        for a in range(window[0, doc], window[1, doc] + 1):
            after = load(tail, 0, LANES * (a + 1))
            seen += load(states, at, LANES * a) * here
            put(tail, 0, LANES * a, q * here + g * after)
            here = after
        exposure[doc] += total(load(measure, group // 3, 0) * load(race, group, place) * q * seen)


@compiled
def chain_sums(
    rows: Whole,
    race: Floats,
    measure: Floats,
    continuation: Floats,
    weight: Floats,
    size: Whole,
    seen: Floats,
    exposure: Floats,
    held: Floats,
    states: Floats,
    tail: Floats,
    window: Whole,
) -> None:
    """Add nodes of some rows to exposures.

    Parameters
    ----------
    rows, race, measure
        as `sweep.sweep` hands them over.
    continuation, weight, size, seen, exposure
        of all R rows: float64 (R, n), float64 (R, k), int64 (R,), float64 (R,), float64 (R, n); the last two are
        written.
    held, states, tail, window
        room for the states of a group of nodes: float64 (segments, k LANES), (documents of a segment + 1, k LANES)
        and (1, (k + 1) LANES), int64 (2, n + 1).
    """
    n, length, groups = continuation.shape[1], len(states) - 1, len(measure) // len(rows)
    last = (n - 1) // length
    for number in range(len(measure)):
        row, group = rows[number // groups], 3 * number
        if seen[row] < UNSEEN:
            continue
        window[0, 0], window[1, 0] = 0, 0
        put(states, 0, 0, same(1.0))
        for turn in range(2 * last + 1):  # to the last segment and back
            segment = min(turn, 2 * last - turn)
            begin, end = segment * length, min((segment + 1) * length, n)
            for place in range(LANES * window[0, begin], LANES * (window[1, begin] + 1)):
                if turn > last:
                    states[0, place] = held[segment, place]
                    continue
                if turn > 0:
                    states[0, place] = states[length, place]
                held[segment, place] = states[0, place]
            _forward(states, window, begin, end, race, group, continuation[row], size[row])
            if turn == last:
                seen[row] = 0.0
                for a in range(window[0, n], window[1, n] + 1):
                    seen[row] += states[n - begin, LANES * a + LANES - 1]
                    put(tail, 0, LANES * a, same(weight[row, a]))
            if turn >= last:
                _backward(tail, states, window, begin, end, race, group, measure, continuation[row], exposure[row])
