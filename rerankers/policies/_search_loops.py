"""Compiled loops that draw the first ranks of Plackett-Luce rankings, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Word = np.uint64

REACH = 50.0  # nats: together with log n, what no draw from a table crosses
BLOCK = 500.0  # nats of one block of scaled weights
NEXT = np.exp(-BLOCK)  # what a weight of the next block counts for
PATIENCE = 6  # draws of documents that are taken, beside a quarter of the table, before the table is made anew
_17, _23, _41, _45, _19, _11 = (np.uint64(number) for number in (17, 23, 41, 45, 19, 11))
_GRID = 2.0**-53


def scaled(score: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return weight (n,) and block (n,) with exp(score - score[0]) = weight exp(-500 block), weight never denormal."""
    below = score[0] - score
    block = np.floor(below / BLOCK)
    return np.exp(block * BLOCK - below), block.astype(np.int32)


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
def _extend(left: NDArray[np.int32], size: int, end: int, score: NDArray[np.float64]) -> tuple[int, int]:
    """Add to the places ``left[:size]`` those from ``end`` on that a draw can reach; return the new size and end."""
    n = len(score)
    if size == 0 and end < n:
        left[0] = end
        size, end = 1, end + 1
    lowest = score[left[0]] - REACH - np.log(n)
    while end < n and score[end] >= lowest:
        left[size] = end
        size += 1
        end += 1
    return size, end


@compiled
def _table(
    left: NDArray[np.int32],
    size: int,
    weight: NDArray[np.float64],
    block: NDArray[np.int32],
    upto: NDArray[np.float64],
    guide: NDArray[np.int32],
) -> float:
    """Fill in the running sums of weights and where to look in them; return the scale from a sum to its guide."""
    total = 0.0
    first = block[left[0]]
    for j in range(size):
        place = left[j]
        total += weight[place] if block[place] == first else weight[place] * NEXT
        upto[j] = total
    scale = size / total
    filled = 0
    for j in range(size):
        bucket = int(upto[j] * scale)
        while filled <= bucket and filled <= size:
            guide[filled] = j
            filled += 1
    return scale


@compiled
def search_ranks(
    score: NDArray[np.float64],
    weight: NDArray[np.float64],
    block: NDArray[np.int32],
    state: NDArray[np.uint64],
    out: NDArray[np.int32],
) -> None:
    """Draw places in proportion to their weights, without replacement: the first ranks of each draw.

    A place is looked up in a table of running sums (Chen & Asau 1974) and drawn again if it is taken already. Once too
    many draws are lost, the table is made anew of the places that are left, so that new tables cost about as much as
    the lost draws. A draw does not depend on how many ranks are wanted.

    Parameters
    ----------
    score
        float64 (n,), logits, descending, finite.
    weight, block
        float64 (n,) and int32 (n,), exp(score) = weight exp(-500 block) up to a factor that all share.
    state
        uint64 (draws, 4), of the random numbers of each draw.
    out
        int32 (draws, k), k <= n, filled in.
    """
    n, draws, k = len(score), out.shape[0], out.shape[1]
    first_upto, upto_left = np.empty(n), np.empty(n)
    first_guide, guide_left = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    first_left, left_left = np.empty(n, np.int32), np.empty(n, np.int32)
    taken = np.full(n, -1, np.int32)
    first_size, first_end = _extend(first_left, 0, 0, score)
    first_scale = _table(first_left, first_size, weight, block, first_upto, first_guide)
    for draw in range(draws):
        s0, s1, s2, s3 = state[draw, 0], state[draw, 1], state[draw, 2], state[draw, 3]
        left, upto, guide = first_left, first_upto, first_guide
        size, end, scale, found, lost = first_size, first_end, first_scale, 0, 0
        total = upto[size - 1]
        rank = 0
        while rank < k:
            if found == size or lost > PATIENCE + size // 4:
                kept = 0
                for j in range(size):
                    if taken[left[j]] != draw:
                        left_left[kept] = left[j]
                        kept += 1
                left, upto, guide = left_left, upto_left, guide_left
                size, end = _extend(left, kept, end, score)
                scale = _table(left, size, weight, block, upto, guide)
                total, found, lost = upto[size - 1], 0, 0
            number, s0, s1, s2, s3 = _step(s0, s1, s2, s3)
            number *= total
            j = guide[int(number * scale)]
            while upto[j] <= number:
                j += 1
            place = left[j]
            if taken[place] == draw:
                lost += 1
                continue
            taken[place] = draw
            out[draw, rank] = place
            rank += 1
            found += 1
