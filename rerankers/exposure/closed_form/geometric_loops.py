"""Compiled products over the prefixes and suffixes of a row's documents, one for each geometric (see `geometric`).

A state is a row of a matrix with `LANES` numbers, one a node, for each ratio. Ratios descend, and so do the products:
from the last one on they are left out once they are `TINY`. Segments as in `chain_loops`.
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

TINY = 1e-30  # a chance
EVERY = 4  # documents between two looks at the last product


@compiled
def _forward(
    states: Floats, count: int, begin: int, end: int, race: Floats, group: int, passed: Floats, ratio: Floats
) -> int:
    """Find the products of the documents up to each of a segment; return how many of them are not tiny."""
    for doc in range(begin, end):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        for m in range(count):
            put(states, at + 1, LANES * m, (q + same(ratio[m]) * g) * load(states, at, LANES * m))
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
    exposure: Floats,
) -> None:
    """Add the parts of the documents of a segment, and multiply the products of what is behind by each of them."""
    for doc in range(end - 1, begin - 1, -1):
        at, place = doc - begin, LANES * doc
        gone = load(race, group + 2, place)
        q, g = rest(gone, load(race, group + 1, place)), same(-passed[doc]) * gone
        seen = same(0.0)
        for m in range(count):
            behind = load(tail, 0, LANES * m)
            seen += load(states, at, LANES * m) * behind
            put(tail, 0, LANES * m, (q + same(ratio[m]) * g) * behind)
        exposure[doc] += total(load(measure, group // 3, 0) * load(race, group, place) * q * seen)


@compiled
def geometric_sums(
    rows: NDArray[np.int64],
    race: Floats,
    measure: Floats,
    continuation: Floats,
    share: Floats,
    ratio: Floats,
    seen: Floats,
    exposure: Floats,
    held: Floats,
    states: Floats,
    tail: Floats,
) -> None:
    """Add nodes of some rows to exposures.

    Parameters
    ----------
    rows, race, measure
        as `sweep.sweep` hands them over.
    continuation, share, ratio, seen, exposure
        of all R rows: float64 (R, n), float64 (R, M), float64 (M,) descending, float64 (R,), float64 (R, n); the last
        two are written.
    held, states, tail
        room for the products of a group of nodes: float64 (segments, M LANES), (documents of a segment + 1, M LANES)
        and (1, M LANES).
    """
    n, length, groups = continuation.shape[1], len(states) - 1, len(measure) // len(rows)
    last = (n - 1) // length
    for number in range(len(measure)):
        row, group = rows[number // groups], 3 * number
        if seen[row] < UNSEEN:
            continue
        count = len(ratio)
        states[0, :] = 1.0
        for turn in range(2 * last + 1):  # to the last segment and back
            segment = min(turn, 2 * last - turn)
            begin, end = segment * length, min((segment + 1) * length, n)
            for place in range(LANES * count):
                if turn > last:
                    states[0, place] = held[segment, place]
                    continue
                if turn > 0:
                    states[0, place] = states[length, place]
                held[segment, place] = states[0, place]
            count = _forward(states, count, begin, end, race, group, continuation[row], ratio)
            if turn == last:
                seen[row] = 0.0
                for m in range(count):
                    seen[row] += share[row, m] * states[n - begin, LANES * m + LANES - 1]
                    put(tail, 0, LANES * m, same(share[row, m]))
            if turn >= last:
                _backward(
                    tail, states, count, begin, end, race, group, measure, continuation[row], ratio, exposure[row]
                )
