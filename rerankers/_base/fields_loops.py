"""Compiled loops over the bytes of text lines: where fields lie, and which of them are equal.

``words[i]`` are the eight bytes from byte i on as one number, the first byte the least significant, so that names are
hashed and compared eight bytes at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAB, LINE_FEED, RETURN, BLANK = 9, 10, 13, 32
_FIRST_SLOTS = 1024  # of a table of names, a power of two
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: the product spreads low bits over the high half
_NONE, _ONE, _THREE, _EIGHT, _HALF = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(8), np.uint64(32)


@compiled
def split_lines(
    block: NDArray[np.uint8],
    first: int,
    plain: bool,
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    line: NDArray[np.int64],
) -> tuple[int, int]:
    r"""Write the fields of lines; return how many lines have any and how many there are, or (-1, -1).

    Fields are separated by blanks and tabs. -1: a line with neither 0 nor W fields or a carriage return inside, or
    another control character where lines must be ``plain``.

    Parameters
    ----------
    block
        whole lines, all ended, by ``\n`` or ``\r\n``.
    first
        number of the first line.
    start, stop, line
        (W, lines), (W, lines), (lines,): the bytes of each field and the number of each line that has any.
    """
    size, width = np.uint64(len(block)), len(start)
    row, lines, at = np.uint64(0), 0, np.uint64(0)
    while at < size:
        field, sign = 0, block[at]
        while sign != LINE_FEED:
            if sign == RETURN:
                if block[at + _ONE] != LINE_FEED:
                    return -1, -1
            elif sign != BLANK and sign != TAB:
                if field == width:
                    return -1, -1
                start[field, row] = at
                while sign > BLANK or sign not in (BLANK, LINE_FEED, TAB, RETURN):
                    if sign < BLANK and plain:
                        return -1, -1
                    at += _ONE
                    sign = block[at]
                stop[field, row] = at
                field += 1
                continue
            at += _ONE
            sign = block[at]
        if field == width:
            line[row] = first + lines
            row += _ONE
        elif field:
            return -1, -1
        lines += 1
        at += _ONE
    return int(np.int64(row)), lines


@compiled
def hash_texts(
    words: NDArray[np.uint64], start: NDArray[np.int32], stop: NDArray[np.int32], hashed: NDArray[np.uint64]
) -> None:
    """Write a hash of each text of a field (lines,), whose low bits serve a table."""
    for row in range(len(start)):
        at, end = np.uint64(start[row]), np.uint64(stop[row])
        mixed = end - at
        while at + _EIGHT <= end:
            mixed = (mixed ^ words[at]) * _MIX
            mixed ^= mixed >> _HALF
            at += _EIGHT
        if at < end:
            beyond = (_EIGHT - (end - at)) << _THREE
            mixed = (mixed ^ (words[at] << beyond >> beyond)) * _MIX
            mixed ^= mixed >> _HALF
        mixed *= _MIX
        hashed[row] = mixed ^ mixed >> _HALF


@compiled
def code_texts(
    words: NDArray[np.uint64],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    hashed: NDArray[np.uint64],
    code: NDArray[np.int32],
    first: NDArray[np.int32],
) -> int:
    """Give texts of a field numbers by their first appearance, and return how many there are.

    Parameters
    ----------
    start, stop, hashed
        (lines,), the bytes of the field and their hash.
    code, first
        (lines,), written: the number of each text, and the line where each text appears first.
    """
    mask = np.uint64(_FIRST_SLOTS - 1)
    slot, tag = np.full(_FIRST_SLOTS, -1, np.int32), np.empty(_FIRST_SLOTS, np.uint64)
    found = 0
    for row in range(len(start)):
        place = hashed[row] & mask
        while slot[place] >= 0:
            if tag[place] == hashed[row]:
                # Compared here: to call a function for every line would cost as much as the rest.
                line = first[slot[place]]
                at, end, other = np.uint64(start[row]), np.uint64(stop[row]), np.uint64(start[line])
                if np.uint64(stop[line]) - other == end - at:
                    while at + _EIGHT <= end and words[at] == words[other]:
                        at += _EIGHT
                        other += _EIGHT
                    if at == end or (words[at] ^ words[other]) << (_EIGHT - min(end - at, _EIGHT)) * _EIGHT == _NONE:
                        break
            place = (place + _ONE) & mask
        if slot[place] < 0:
            slot[place], tag[place], first[found] = found, hashed[row], row
            code[row] = found
            found += 1
            if 2 * found > len(slot):
                slot, tag = _widened(slot, tag)
                mask = np.uint64(len(slot) - 1)
        else:
            code[row] = slot[place]
    return found


@compiled
def _widened(slot: NDArray[np.int32], tag: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Return a table four times as large."""
    size = 4 * len(slot)
    mask = np.uint64(size - 1)
    slots, tags = np.full(size, -1, np.int32), np.empty(size, np.uint64)
    for old in range(len(slot)):
        if slot[old] >= 0:
            place = tag[old] & mask
            while slots[place] >= 0:
                place = (place + _ONE) & mask
            slots[place], tags[place] = slot[old], tag[old]
    return slots, tags


@compiled
def copy_texts(
    block: NDArray[np.uint8], start: NDArray[np.int32], bounds: NDArray[np.int64], text: NDArray[np.uint8]
) -> None:
    """Copy texts one after the other: that from byte start[r] on to text[bounds[r]:bounds[r + 1]]."""
    for r in range(len(start)):
        source = np.uint64(start[r])
        for k in range(np.uint64(bounds[r]), np.uint64(bounds[r + 1])):
            text[k] = block[source]
            source += _ONE
