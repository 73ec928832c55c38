"""Rank-biased overlap of every ranking of one set with every ranking of another, one walk down a pair each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@compiled
def extrapolated(
    item: Ints,
    first: Ints,
    last: Ints,
    part: NDArray[np.float64],
    start: Ints,
    strict: NDArray[np.bool_],
    rows: int,
    same: bool,
    ties: int,
    p: float,
    out: NDArray[np.float64],
) -> None:
    """Write the extrapolated overlap of each pair of rankings; an empty ranking keeps what ``out`` holds.

    Parameters
    ----------
    item, first, last
        int64 (N,), all rankings one after the other: codes of items from 0 on, first and last rank (1-based) of the
        tie group of each.
    part
        float64 (N,), which part of its tie group has arrived at the rank of each item.
    start
        int64 (R + 1,), where each ranking starts.
    strict
        bool (R,), whether a ranking has no ties.
    rows
        the first so many rankings are the rows, the others the columns.
    same
        the rows are the columns too, and only pairs i <= j are looked at.
    ties
        0, 1, 2 for a, b and w.
    out
        float64 (rows, columns).
    """
    longest = 0
    for one in range(len(start) - 1):
        longest = max(longest, start[one + 1] - start[one])
    power = np.power(p, np.arange(0.0, longest + 1.0))
    rest = np.zeros(longest + 2)  # sum of p^e / e over the depths e from each on
    for d in range(longest, 0, -1):
        rest[d] = rest[d + 1] + power[d] / d
    absent = longest + 1
    place = np.full(item.max() + 1 if len(item) else 0, absent, dtype=np.int64)  # ranks in the ranking of the row
    bins = np.zeros((longest + 2, 4), dtype=np.int64)
    only = np.zeros(longest + 2, dtype=np.int64)
    for row in range(rows):
        for at in range(start[row], start[row + 1]):
            place[item[at]] = at - start[row] + 1
        for column in range(row if same else 0, rows if same else len(start) - 1 - rows):
            other = column if same else rows + column
            a, b = start[row], start[other]
            s, n = start[row + 1] - a, start[other + 1] - b
            if s == 0 or n == 0:
                continue
            if s > n:  # from here on a is the shorter
                a, b, s, n = b, a, n, s
            if strict[row] and strict[other]:
                out[row, column] = _strict(item, place, start[other], start[other + 1], s, n, p, power, rest, only)
                continue
            _arrivals(item, first, last, place, start[row], start[other], start[other + 1], a, n, bins)
            if s < n:
                _unshared(item, place, absent, start[other], start[other + 1], b, n, only)
            out[row, column] = _sum(first, last, part, a, b, s, n, ties, power, p, bins, only)
        for at in range(start[row], start[row + 1]):
            place[item[at]] = absent


@compiled
def _strict(
    item: Ints,
    place: Ints,
    other: int,
    end: int,
    s: int,
    n: int,
    p: float,
    power: NDArray[np.float64],
    rest: NDArray[np.float64],
    seen: Ints,
) -> float:
    """Return the overlap of two rankings without ties: sums over depths become sums over common items.

    A common item counts from the depth on at which both lists have it, with p^d / d each; X_s is how many there are
    at the end of the shorter list, X_n at that of the longer one. (Equation 32 of the paper, summed the other way.)
    """
    seen[: n + 1] = 0
    for at in range(other, end):
        seen[max(at - other + 1, place[item[at]])] += 1  # one bin for all that is not common: no branch to guess
    weight = 0.0
    early = common = 0
    for d in range(1, n + 1):  # by depth and not by item: the same bits for column, row
        weight += seen[d] * rest[d]
        common += seen[d]
        if d == s:
            early = common
    gone = 0.0  # sum of (d - s) / d p^d over the depths behind the shorter list
    for d in range(s + 1, n + 1):
        gone += (d - s) / d * power[d]
    total = weight - common * rest[n + 1] + early / s * gone
    value: float = (1.0 - p) / p * total + ((common - early) / n + early / s) * power[n]
    return value


@compiled
def _arrivals(
    item: Ints, first: Ints, last: Ints, place: Ints, row: int, other: int, end: int, a: int, n: int, bins: Ints
) -> None:
    """Count common items by the depth at which they have begun (0) or are past (3) in both; 1 and 2: begun in one.

    1 is past in the shorter and begun in the longer list, 2 the other way round; depth 0 is not used.
    """
    bins[: n + 2] = 0
    absent = bins.shape[0] - 1
    for at in range(other, end):
        rank = place[item[at]]
        if rank < absent:
            mate = row + rank - 1
            x, y = (mate, at) if a == row else (at, mate)
            bins[max(first[x], first[y]), 0] += 1
            bins[max(last[x] + 1, first[y]), 1] += 1
            bins[max(first[x], last[y] + 1), 2] += 1
            bins[max(last[x], last[y]) + 1, 3] += 1


@compiled
def _unshared(item: Ints, place: Ints, absent: int, other: int, end: int, b: int, n: int, only: Ints) -> None:
    """Write how many of the first d items of the longer list the shorter one lacks, d from 0."""
    only[: n + 1] = 0
    if b == other:
        for at in range(other, end):
            only[at - other + 1] = 1 if place[item[at]] == absent else 0
    else:
        only[1 : n + 1] = 1
        for at in range(other, end):
            if place[item[at]] < absent:
                only[place[item[at]]] = 0
    for d in range(1, n + 1):
        only[d] += only[d - 1]


@compiled
def _sum(
    first: Ints,
    last: Ints,
    part: NDArray[np.float64],
    a: int,
    b: int,
    s: int,
    n: int,
    ties: int,
    power: NDArray[np.float64],
    p: float,
    bins: Ints,
    only: Ints,
) -> float:
    """Add up the agreement over depths, extrapolated, as `rerankers.measures.rank_overlap` defines it."""
    total = agreed = shared = 0.0
    begun = left = right = past = 0
    for d in range(1, n + 1):
        begun, left, right, past = begun + bins[d, 0], left + bins[d, 1], right + bins[d, 2], past + bins[d, 3]
        t, u, part_b = first[b + d - 1], last[b + d - 1], part[b + d - 1]
        v, w, part_a = d, d, 0.0  # behind its end the shorter list has no group
        if d <= s:
            v, w, part_a = first[a + d - 1], last[a + d - 1], part[a + d - 1]
        if ties == 2:
            shared, scale = float(begun), (w + u) / 2.0
        else:
            shared = past + (part_a * (right - past) + part_b * (left - past))  # the same bits for column, row
            shared += part_a * part_b * (begun - left - right + past)
            scale = float(d)
            if ties == 1:
                norm_a = v - 1.0 + part_a * part_a * (w - v + 1.0) if d <= s else float(d)
                scale = np.sqrt(norm_a * (t - 1.0 + part_b * part_b * (u - t + 1.0)))
        seen = shared
        if d == s:
            agreed = shared / scale
        elif d > s:
            before, inside = only[t - 1], only[u] - only[t - 1]
            if before + inside > 0:
                seen += (d - s) * agreed * (before + part_b * inside) / (before + inside)
        total += seen / scale * power[d]
    tail = (shared + (n - s) * agreed) / n
    value: float = (1.0 - p) / p * total + tail * power[n]
    return value
