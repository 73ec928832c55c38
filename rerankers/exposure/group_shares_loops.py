"""Compiled integrals of the exposure of groups under Plackett-Luce, and of their slopes (see `group_shares`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.nodes import BEND, FIRST, NEGLIGIBLE, RIGHT
from rerankers.exposure.closed_form.quadrature import STEP

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

UNSEEN = math.exp(NEGLIGIBLE)
MOST = 600.0  # e^-600 times the least product that counts is no denormal number yet, which would be slow
RATE, TIME, PULL, SEEN, OWN = range(5)  # rows of what is kept of each document
ROWS = 5


@compiled
def _rates(logit: Floats, kept: Floats) -> float:
    """Write the documents' weights, scaled to the sum 1, and return the log of the least of them."""
    top, low = logit[0], logit[0]
    for d in range(1, len(logit)):
        top, low = max(top, logit[d]), min(low, logit[d])
    total = 0.0
    for d in range(len(logit)):
        kept[RATE, d] = math.exp(logit[d] - top)
        total += kept[RATE, d]
    for d in range(len(logit)):
        kept[RATE, d] /= total
    least: float = low - top - math.log(total)
    return least


@compiled
def _node(shift: float, part: float, stop: Floats, kept: Floats) -> tuple[float, float]:
    """Add one node to each document's own integrals; return the node's product with its part, and without the least.

    Factors are multiplied as they are: where their product is too small for a float, nothing is left to add.
    """
    whole, least = 1.0, 1.0
    for d in range(len(stop)):
        kept[TIME, d] = min(kept[RATE, d] * shift, MOST)
    for d in range(len(stop)):
        kept[PULL, d] = math.exp(-kept[TIME, d])
    for d in range(len(stop)):
        factor = (1.0 - stop[d]) + stop[d] * kept[PULL, d]
        kept[PULL, d] *= kept[TIME, d] / factor
        whole *= factor
        least = min(least, factor)
    for d in range(len(stop)):
        one = whole * part * kept[PULL, d]
        kept[SEEN, d] += one
        kept[OWN, d] += one * (1.0 - kept[TIME, d] + stop[d] * kept[PULL, d])
    return whole * part, whole / least


@compiled
def _cross(
    whole: float, stop: Floats, start: Ints, group: Ints, weight: Floats, kept: Floats, sums: Floats, slope: Floats
) -> None:
    """Add one node to the slopes: what each group is seen, times how often readers stop at each other."""
    groups = len(slope)
    for g in range(groups):
        sums[0, g], sums[1, g] = 0.0, 0.0
    for d in range(len(stop)):
        for entry in range(start[d], start[d + 1]):
            pulled = weight[entry] * kept[PULL, d]
            sums[0, group[entry]] += pulled
            sums[1, group[entry]] += stop[d] * pulled
    for g in range(groups):
        for h in range(groups):
            slope[g, h] -= whole * sums[0, g] * sums[1, h]


@compiled
def group_sums(
    logit: Floats,
    stop: Floats,
    start: Ints,
    group: Ints,
    weight: Floats,
    value: Floats,
    slope: Floats,
    kept: Floats,
    sums: Floats,
) -> None:
    """Integrate the exposure of the groups of one row, and its derivatives by their tilts.

    Parameters
    ----------
    logit, stop
        float64 (n,), n >= 1: finite, a few hundred nats apart at most; and one minus the continuation.
    start, group, weight
        int64 (n + 1,), int64 (entries,), float64 (entries,): document d has ``weight`` in the groups of its entries
        start[d]:start[d + 1].
    value, slope
        float64 (K,) and (K, K), written: the exposure of group g, and in slope[g, h] its derivative by the tilt of h.
    kept, sums
        room: float64 (ROWS, n) and (2, K).
    """
    for d in range(len(logit)):  # loops, since assigning slices takes long to compile
        kept[SEEN, d], kept[OWN, d] = 0.0, 0.0
    for g in range(len(value)):
        value[g] = 0.0
        for h in range(len(value)):
            slope[g, h] = 0.0
    last = RIGHT - _rates(logit, kept)
    number, left = 0, 1.0
    while FIRST + STEP * (number - 1) <= last and left > UNSEEN:
        y = FIRST + STEP * number
        bend = math.exp(-(y + BEND))
        whole, left = _node(math.exp(y - bend), STEP * (1.0 + bend), stop, kept)
        _cross(whole, stop, start, group, weight, kept, sums, slope)
        number += 1
    for d in range(len(stop)):
        for entry in range(start[d], start[d + 1]):
            value[group[entry]] += weight[entry] * kept[SEEN, d]
            for other in range(start[d], start[d + 1]):
                slope[group[entry], group[other]] += weight[entry] * weight[other] * kept[OWN, d]
