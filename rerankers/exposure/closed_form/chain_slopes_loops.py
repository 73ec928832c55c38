"""Compiled gradients over the prefixes and suffixes of a row's documents (see `chain` and `chain_loops`).

A state has two polynomials, one after the other: that of the documents before, and the same with one of them taken as
the one that arrives just now, times what pulls at it. The functionals of what is behind come in pairs likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.chain_loops import EVERY, clear, trim
from rerankers.exposure.closed_form.lanes_loops import load, put, rest, same, total
from rerankers.exposure.closed_form.sweep import LANES, UNSEEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@compiled
def _forward(
    states: Floats,
    window: Whole,
    begin: int,
    end: int,
    race: Floats,
    group: int,
    passed: Floats,
    pull: Floats,
    k: int,
) -> None:
    """Find the polynomials of the documents up to each of a segment, from those before it."""
    half = states.shape[1] // 2
    for doc in range(begin, end):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        chosen = same(pull[doc]) * load(race, group, place) * q
        bottom, top = window[0, doc], window[1, doc]
        before, before_with = same(0.0), same(0.0)
        for a in range(bottom, top + 1):
            here, here_with = load(states, at, LANES * a), load(states, at, half + LANES * a)
            put(states, at + 1, LANES * a, q * here + g * before)
            put(states, at + 1, half + LANES * a, q * here_with + g * before_with + chosen * here)
            before, before_with = here, here_with
        if top + 1 < k:
            top += 1
            put(states, at + 1, LANES * top, g * before)
            put(states, at + 1, half + LANES * top, g * before_with)
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
    pull: Floats,
    gradient: Floats,
) -> None:
    """Add the parts of the documents of a segment, and take the functionals of what is behind over each of them."""
    half = states.shape[1] // 2
    weight, one = load(measure, group // 3, 0), same(1.0)
    for doc in range(end - 1, begin - 1, -1):
        at, place, c = doc - begin, LANES * doc, same(passed[doc])
        time, gone = load(race, group, place), load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        chosen = same(pull[doc]) * time * q
        clear(tail, 0, window, doc)
        clear(tail, 1, window, doc)
        own, stayed, left = same(0.0), same(0.0), same(0.0)
        bottom = window[0, doc]
        here, here_with = load(tail, 0, LANES * bottom), load(tail, 1, LANES * bottom)
        for a in range(bottom, window[1, doc] + 1):
            after, after_with = load(tail, 0, LANES * (a + 1)), load(tail, 1, LANES * (a + 1))
            without, taken = load(states, at, LANES * a), load(states, at, half + LANES * a)
            own += without * here
            stayed += without * here_with + taken * here
            left += without * after_with + taken * after
            put(tail, 0, LANES * a, q * here + g * after)
            put(tail, 1, LANES * a, q * here_with + g * after_with + chosen * here)
            here, here_with = after, after_with
        # the slope of q + c p z is the density times c z - 1, that of the density is the density times 1 - a
        gradient[doc] += total(weight * (time * q * (c * left - stayed) + chosen * (one - time) * own))


@compiled
def chain_slopes(
    rows: Whole,
    race: Floats,
    measure: Floats,
    continuation: Floats,
    weight: Floats,
    pull: Floats,
    size: Whole,
    seen: Floats,
    gradient: Floats,
    held: Floats,
    states: Floats,
    tail: Floats,
    window: Whole,
) -> None:
    """Add nodes of some rows to gradients.

    As `chain_loops.chain_sums`, with ``pull`` float64 (R, n); states are twice as wide, and the tail has two rows.
    """
    n, length, groups = continuation.shape[1], len(states) - 1, len(measure) // len(rows)
    last, half = (n - 1) // length, states.shape[1] // 2
    for number in range(len(measure)):
        row, group = rows[number // groups], 3 * number
        if seen[row] < UNSEEN:
            continue
        window[0, 0], window[1, 0] = 0, 0
        put(states, 0, 0, same(1.0))
        put(states, 0, half, same(0.0))
        for turn in range(2 * last + 1):  # to the last segment and back
            segment = min(turn, 2 * last - turn)
            begin, end = segment * length, min((segment + 1) * length, n)
            for a in range(LANES * window[0, begin], LANES * (window[1, begin] + 1)):
                for place in (a, half + a):
                    if turn > last:
                        states[0, place] = held[segment, place]
                        continue
                    if turn > 0:
                        states[0, place] = states[length, place]
                    held[segment, place] = states[0, place]
            _forward(states, window, begin, end, race, group, continuation[row], pull[row], size[row])
            if turn == last:
                seen[row] = 0.0
                for a in range(window[0, n], window[1, n] + 1):
                    seen[row] += states[n - begin, LANES * a + LANES - 1]
                    put(tail, 0, LANES * a, same(weight[row, a]))
                    put(tail, 1, LANES * a, same(0.0))
            if turn >= last:
                _backward(
                    tail,
                    states,
                    window,
                    begin,
                    end,
                    race,
                    group,
                    measure,
                    continuation[row],
                    pull[row],
                    gradient[row],
                )
