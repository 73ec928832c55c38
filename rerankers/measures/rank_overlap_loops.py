"""Rank-biased overlap of two rankings without ties, in one walk down both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FINE, REPEATED_IN_ONE, REPEATED_IN_TWO, SPARSE = 0, 1, 2, 3
"""What `of_codes` found: a value; an item twice in either ranking; codes too far apart for a table."""

_SPARSE = 8  # times the items by which codes may exceed their number and still be looked up in a table
_BLOCK = 64


@compiled
def of_codes(one: Ints, two: Ints, p: float, kind: int) -> tuple[int, float]:
    """Return what was found (`FINE` and so on), and the overlap of two rankings of codes.

    Parameters
    ----------
    one, two
        int64, at least one item each.
    p, kind
        as of `of_places`.
    """
    low, high = one[0], one[0]
    for code in one:
        low, high = min(low, code), max(high, code)
    for code in two:
        low, high = min(low, code), max(high, code)
    if float(high) - float(low) > _SPARSE * (len(one) + len(two)) + 1024.0:
        return SPARSE, 0.0
    rank = np.zeros(high - low + 1, dtype=np.int32)  # in the first ranking, 1-based; below 0 once the second has it
    for at in range(len(one)):
        if rank[one[at] - low]:
            return REPEATED_IN_ONE, 0.0
        rank[one[at] - low] = at + 1
    place = np.empty(len(two), dtype=np.int64)
    for at in range(len(two)):
        code = two[at] - low
        if rank[code] < 0:
            return REPEATED_IN_TWO, 0.0
        place[at] = rank[code] - 1
        rank[code] = -1
    return FINE, of_places(place, len(one), p, kind)


@compiled
def of_places(place: Ints, size: int, p: float, kind: int) -> float:
    """Return the overlap of two rankings, given where each item of the second is in the first.

    Parameters
    ----------
    place
        int64 (items of the second ranking,), 0-based, below 0 for an item that the first lacks.
    size
        items of the first ranking.
    p
        persistence, strictly between 0 and 1.
    kind
        0 for ``ext``, 1 for ``min``, 2 for ``max``, as `rerankers.measures.rank_overlap.rbo` has them.
    """
    s, n = min(size, len(place)), max(size, len(place))
    common = np.zeros(n + 1, dtype=np.int64)  # items that both have had by a depth and not before
    for at in range(len(place)):
        if place[at] >= 0:
            common[max(place[at], at) + 1] += 1
    power = _powers(p, n)
    total = 0.0
    shared = early = 0
    for d in range(1, n + 1):
        shared += common[d]
        total += shared / d * power[d - 1]
        if d == s:
            early = shared
    front = 1.0 - p  # (1 - p) / p \sum_d A_d p^d without a division by p, which may be tiny
    if kind == 0:
        for d in range(s + 1, n + 1):
            total += early / s * (d - s) / d * power[d - 1]
        value: float = front * total + ((shared - early) / n + early / s) * power[n]
    elif kind == 1:
        value = front * (total + shared * unseen(p, n))
    else:
        lone = 0  # items of the longer ranking, of its first d, that the shorter one lacks
        alone = _alone(place, n)
        for d in range(1, n + 1):
            lone += alone[d - 1]
            if d > s:
                total += min(d - s, lone) / d * power[d - 1]
        until = n + s - shared
        more = _powers(p, until - n)
        for d in range(n + 1, until + 1):
            total += (2 * d - n - s + shared) / d * (power[n] * more[d - n - 1])
        value = front * total + power[n] * more[until - n]
    return value


@compiled
def unseen(p: float, n: int) -> float:
    """Return the sum of p^(d - 1) / d over all depths d behind n, -log(1 - p) / p less its first n terms.

    The difference loses all that it has where little is left. There the terms behind n are added up, which are few
    since p is not close to 1 for so many ranks.
    """
    left = 0.0
    if (1.0 - p) * n > 1.0 or p < 0.9:
        d, power = n + 1, p ** float(n)
        while power > 1e-17 * left * d * (1.0 - p):  # all terms from d on are below p^(d - 1) / d / (1 - p)
            left += power / d
            d += 1
            power = p ** float(d - 1) if d % _BLOCK == 0 else power * p
        return left
    for d in range(n, 0, -1):
        left += p ** float(d - 1) / d
    value: float = -np.log1p(-p) / p - left
    return value


@compiled
def _alone(place: Ints, n: int) -> NDArray[np.int8]:
    """Return which items of the longer ranking the shorter one lacks, int8 (n,)."""
    alone = np.ones(n, dtype=np.int8)
    for at in range(len(place)):
        if place[at] >= 0:
            alone[at if len(place) == n else place[at]] = 0
    return alone


@compiled
def _powers(p: float, most: int) -> Floats:
    """Return p^0 … p^most, each one product of two powers: few of them are costly, and none is far off."""
    power = np.empty(most + 1)
    for d in range(min(_BLOCK, most + 1)):
        power[d] = p ** float(d)
    for start in range(_BLOCK, most + 1, _BLOCK):
        base = p ** float(start)
        for d in range(start, min(start + _BLOCK, most + 1)):
            power[d] = base * power[d - start]
    return power
