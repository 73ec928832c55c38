"""Compiled loops that draw the first ranks of Plackett-Luce rankings, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Word = np.uint64

BLOCK = 500.0  # nats of one block of scaled weights
NEXT = np.exp(-BLOCK)  # what a weight of the next block counts for
TAIL = 1.0 / 32.0  # of the weight of a table lies at most this much outside of it
PATIENCE = 6  # draws of documents that are taken, beside a quarter of the table, before the table is made anew
_17, _23, _41, _45, _19, _11 = (np.uint64(number) for number in (17, 23, 41, 45, 19, 11))
_GRID = 2.0**-53


def scaled(score: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Return the weights of scores (n,), finite and descending, in units that suit each.

    Returns
    -------
    weight, rest, block
        float64 (n,), (n + 1,) and int32 (n + 1,): exp(score[j] - score[0]) is weight[j] exp(-500 block[j]), never
        denormal; the sum of it from j on is rest[j] exp(-500 block[j]), summed from the smallest.
    """
    n = len(score)
    below = score[0] - score
    block = np.empty(n + 1, dtype=np.int32)
    block[:n] = np.floor(below / BLOCK)
    block[n] = block[n - 1]
    weight = np.exp(block[:n] * BLOCK - below)
    rest = np.zeros(n + 1)
    sum_up(weight, block, rest)
    return weight, rest, block


@compiled
def sum_up(weight: NDArray[np.float64], block: NDArray[np.int32], rest: NDArray[np.float64]) -> None:
    """Fill in rest (n + 1,), see `scaled`."""
    for j in range(len(weight) - 1, -1, -1):
        rest[j] = weight[j] + _in_units(rest[j + 1], block[j + 1], block[j])


@compiled
def _in_units(value: float, block: int, unit: int) -> float:
    """Return a sum of one block in the units of the same or an earlier one."""
    if block == unit:
        return value
    return value * NEXT if block == unit + 1 else 0.0


@compiled
def _step(s0: Word, s1: Word, s2: Word, s3: Word) -> tuple[float, Word, Word, Word, Word]:
    """Return a uniform number in [0, 1) of 53 bits and the next state of xoshiro256++ (Blackman & Vigna 2021)."""
    total = s0 + s3
    word = ((total << _23) | (total >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return float(word >> _11) * _GRID, s0, s1, s2, s3


@compiled
def _table(
    left: NDArray[np.int32],
    size: int,
    end: int,
    weight: NDArray[np.float64],
    rest: NDArray[np.float64],
    block: NDArray[np.int32],
    taken: NDArray[np.int32],
    draw: int,
    upto: NDArray[np.float64],
    guide: NDArray[np.int32],
) -> tuple[int, int, float, float]:
    """Sum up the weights of the places ``left[:size]`` and of further ones, until few lie outside.

    Returns
    -------
    size, end, scale, tail
        places in the table, the first place after it, what brings a sum to its guide, and the weight from ``end`` on
        in the units of the first place.
    """
    n, total = len(weight), 0.0
    if size == 0:
        while taken[end] == draw:
            end += 1
        left[0] = end
        size, end = 1, end + 1
    unit = block[left[0]]
    for j in range(size):
        total += _in_units(weight[left[j]], block[left[j]], unit)
        upto[j] = total
    tail = _in_units(rest[end], block[end], unit)
    while end < n and tail > total * TAIL:
        if taken[end] != draw:
            left[size] = end
            total += _in_units(weight[end], block[end], unit)
            upto[size] = total
            size += 1
        end += 1
        tail = _in_units(rest[end], block[end], unit)
    scale = size / total
    filled = 0
    for j in range(size):
        bucket = int(upto[j] * scale)
        while filled <= bucket and filled <= size:
            guide[filled] = j
            filled += 1
    return size, end, scale, tail


@compiled
def _outside(number: float, end: int, rest: NDArray[np.float64], block: NDArray[np.int32], unit: int) -> int:
    """Return the place from ``end`` on whose share of the sums towards the end holds a number below their total."""
    low, high = end, len(rest) - 1  # rest[low] > number >= rest[high]
    while high - low > 1:
        middle = (low + high) // 2
        if _in_units(rest[middle], block[middle], unit) > number:
            low = middle
        else:
            high = middle
    return low


@compiled
def search_ranks(
    weight: NDArray[np.float64],
    rest: NDArray[np.float64],
    block: NDArray[np.int32],
    state: NDArray[np.uint64],
    out: NDArray[np.int32],
) -> None:
    """Draw places in proportion to their weights, without replacement: the first ranks of each draw.

    A place is looked up in a table of running sums (Chen & Asau 1974) and drawn again if it is taken already. The
    table holds the heaviest places; the few draws outside of it search the sums of all. Once too many draws are lost,
    the table is made anew of the places that are left, so that new tables cost about as much as the lost draws. A
    draw does not depend on how many ranks are wanted.

    Parameters
    ----------
    weight, rest, block
        of the places, heaviest first, see `scaled`.
    state
        uint64 (draws, 4), of the random numbers of each draw.
    out
        int32 (draws, k), k <= n, filled in.
    """
    n, draws, k = len(weight), out.shape[0], out.shape[1]
    first_upto, upto_left = np.empty(n), np.empty(n)
    first_guide, guide_left = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    first_left, left_left = np.empty(n, np.int32), np.empty(n, np.int32)
    taken = np.full(n, -1, np.int32)
    first = _table(first_left, 0, 0, weight, rest, block, taken, 0, first_upto, first_guide)
    for draw in range(draws):
        s0, s1, s2, s3 = state[draw, 0], state[draw, 1], state[draw, 2], state[draw, 3]
        left, upto, guide = first_left, first_upto, first_guide
        size, end, scale, tail = first
        found, lost, rank = 0, 0, 0
        while rank < k:
            if found == size or lost > PATIENCE + size // 4:
                kept = 0
                for j in range(size):
                    if taken[left[j]] != draw:
                        left_left[kept] = left[j]
                        kept += 1
                left, upto, guide = left_left, upto_left, guide_left
                size, end, scale, tail = _table(left, kept, end, weight, rest, block, taken, draw, upto, guide)
                found, lost = 0, 0
            total = upto[size - 1]
            number, s0, s1, s2, s3 = _step(s0, s1, s2, s3)
            number *= total + tail
            inside = number < total
            if inside:
                j = guide[int(number * scale)]
                while upto[j] <= number:
                    j += 1
                place = left[j]
            else:
                number, s0, s1, s2, s3 = _step(s0, s1, s2, s3)
                place = _outside(number * tail, end, rest, block, block[left[0]])
            if taken[place] == draw:
                lost += 1
                continue
            taken[place] = draw
            out[draw, rank] = place
            rank += 1
            found += inside
