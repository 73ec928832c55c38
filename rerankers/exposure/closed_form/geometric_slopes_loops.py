"""Compiled gradients over the prefixes and suffixes of a row's documents (see `geometric` and `geometric_loops`).

A state has two products for each ratio: those of all documents before in its first half, and in the second the sum of
the same with one of them taken as the one that arrives just now, times what pulls at it. What is behind comes in pairs
likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.geometric_loops import EVERY, TINY
from rerankers.exposure.closed_form.lanes_loops import largest, load, put, rest, same, total
from rerankers.exposure.closed_form.sweep import LANES, UNSEEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@compiled
def _forward(
    states: Floats,
    count: int,
    begin: int,
    end: int,
    race: Floats,
    group: int,
    passed: Floats,
    ratio: Floats,
    pull: Floats,
) -> int:
    """Find the products of the documents up to each of a segment; return how many of them are not tiny."""
    half = states.shape[1] // 2
    for doc in range(begin, end):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        chosen = same(pull[doc]) * load(race, group, place) * q
        for m in range(count):
            factor, without = q + same(ratio[m]) * g, load(states, at, LANES * m)
            put(states, at + 1, LANES * m, factor * without)
            put(states, at + 1, half + LANES * m, factor * load(states, at, half + LANES * m) + chosen * without)
        if doc % EVERY == 0:
            while count > 0 and largest(load(states, at + 1, LANES * (count - 1))) < TINY:
                count -= 1
    return count


@compiled
def _backward(
    tail: Floats,
    states: Floats,
    count: int,
    begin: int,
    end: int,
    race: Floats,
    group: int,
    measure: Floats,
    passed: Floats,
    ratio: Floats,
    pull: Floats,
    gradient: Floats,
) -> None:
    """Add the parts of the documents of a segment, and take what is behind over each of them."""
    half = states.shape[1] // 2
    weight, one = load(measure, group // 3, 0), same(1.0)
    for doc in range(end - 1, begin - 1, -1):
        at, place = doc - begin, LANES * doc
        time, gone = load(race, group, place), load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        chosen = same(pull[doc]) * time * q
        own, slope = same(0.0), same(0.0)
        for m in range(count):
            factor = q + same(ratio[m]) * g
            behind, behind_with = load(tail, 0, LANES * m), load(tail, 1, LANES * m)
            without, taken = load(states, at, LANES * m), load(states, at, half + LANES * m)
            own += without * behind
            slope += same(ratio[m] * passed[doc] - 1.0) * (without * behind_with + taken * behind)
            put(tail, 0, LANES * m, factor * behind)
            put(tail, 1, LANES * m, factor * behind_with + chosen * behind)
        # the slope of q + r c p is the density times r c - 1, that of the density is the density times 1 - a
        gradient[doc] += total(weight * (time * q * slope + chosen * (one - time) * own))


@compiled
def geometric_slopes(
    rows: NDArray[np.int64],
    race: Floats,
    measure: Floats,
    continuation: Floats,
    share: Floats,
    ratio: Floats,
    pull: Floats,
    seen: Floats,
    gradient: Floats,
    held: Floats,
    states: Floats,
    tail: Floats,
) -> None:
    """Add nodes of some rows to gradients.

    As `geometric_loops.geometric_sums`, with ``pull`` float64 (R, n); states are twice as wide, and the tail has two
    rows.
    """
    n, length, groups = continuation.shape[1], len(states) - 1, len(measure) // len(rows)
    last, half = (n - 1) // length, states.shape[1] // 2
    for number in range(len(measure)):
        row, group = rows[number // groups], 3 * number
        if seen[row] < UNSEEN:
            continue
        count = len(ratio)
        states[0, :half] = 1.0
        states[0, half:] = 0.0
        for turn in range(2 * last + 1):  # to the last segment and back
            segment = min(turn, 2 * last - turn)
            begin, end = segment * length, min((segment + 1) * length, n)
            for m in range(LANES * count):
                for place in (m, half + m):
                    if turn > last:
                        states[0, place] = held[segment, place]
                        continue
                    if turn > 0:
                        states[0, place] = states[length, place]
                    held[segment, place] = states[0, place]
            count = _forward(states, count, begin, end, race, group, continuation[row], ratio, pull[row])
            if turn == last:
                seen[row] = 0.0
                for m in range(count):
                    seen[row] += share[row, m] * states[n - begin, LANES * m + LANES - 1]
                    put(tail, 0, LANES * m, same(share[row, m]))
                    put(tail, 1, LANES * m, same(0.0))
            if turn >= last:
                _backward(
                    tail,
                    states,
                    count,
                    begin,
                    end,
                    race,
                    group,
                    measure,
                    continuation[row],
                    ratio,
                    pull[row],
                    gradient[row],
                )
