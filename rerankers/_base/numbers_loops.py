"""Compiled loops that read the numbers in fields of text lines.

``words[i]`` are the eight bytes from byte i on as one number, the first byte the least significant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLUS, MINUS, POINT, LARGE_E, SMALL_E = 43, 45, 46, 69, 101
_KEPT = 256  # texts that were read and are kept to compare with, a power of two
_NONE, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_POWERS = 10.0 ** np.arange(23)  # exact


@compiled
def read_whole(
    block: NDArray[np.uint8], start: NDArray[np.int32], stop: NDArray[np.int32], value: NDArray[np.int64]
) -> bool:
    """Write the whole numbers of a field (lines,); False where a text is none of up to 18 digits."""
    for row in range(len(start)):
        at, end = np.uint64(start[row]), np.uint64(stop[row])
        sign = block[at]
        if sign in (MINUS, PLUS):
            at += _ONE
        if at == end or end - at > np.uint64(18):
            return False
        number = 0
        for k in range(at, end):
            digit = int(block[k]) - 48
            if digit < 0 or digit > 9:
                return False
            number = 10 * number + digit
        value[row] = -number if sign == MINUS else number
    return True


@compiled
def read_real(
    block: NDArray[np.uint8],
    words: NDArray[np.uint64],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    like: NDArray[np.int64],
    value: NDArray[np.float64],
    source: NDArray[np.int32],
) -> bool:
    """Write the numbers of a field (lines,); False where a text is none.

    A number of at most 2^53 without its point, times or over a power of ten up to 10^22, is one exact operation away
    from the nearest float (Clinger 1990). All others are left as NaN, for an exact reader.

    Parameters
    ----------
    like
        (lines,), lines of equal value often hold the same text, which is then read once.
    value, source
        (lines,), written: the number, and the line that holds the same text and was read (its own line, or one before).
    """
    kept = np.full(_KEPT, -1, np.int32)
    for row in range(len(start)):
        at, end = np.uint64(start[row]), np.uint64(stop[row])
        line = kept[like[row] & (_KEPT - 1)]
        if line >= 0:
            other = np.uint64(start[line])
            if np.uint64(stop[line]) - other == end - at:
                while at + _EIGHT <= end and words[at] == words[other]:
                    at += _EIGHT
                    other += _EIGHT
                if at == end or (words[at] ^ words[other]) << (_EIGHT - min(end - at, _EIGHT)) * _EIGHT == _NONE:
                    value[row], source[row] = value[line], line
                    continue
        value[row], source[row] = _real(block, np.uint64(start[row]), end), row
        if value[row] == np.inf:
            return False
        kept[like[row] & (_KEPT - 1)] = row
    return True


@compiled
def _real(block: NDArray[np.uint8], at: np.uint64, end: np.uint64) -> float:
    """Return the number of a text, infinity where it is none, NaN where it takes an exact reader."""
    sign = block[at]
    if sign in (MINUS, PLUS):
        at += _ONE
    number, scale, digits, known, point = np.uint64(0), 0, 0, 0, False
    while at < end:
        digit = int(block[at]) - 48
        if 0 <= digit <= 9:
            number = number * np.uint64(10) + np.uint64(digit)
            digits += digits > 0 or digit > 0
            known += 1
            scale -= point
        elif block[at] == POINT and not point:
            point = True
        else:
            break
        at += _ONE
    if known == 0:
        return np.inf
    if at < end:
        if block[at] != SMALL_E and block[at] != LARGE_E:
            return np.inf
        exponent, fits = _exponent(block, at + _ONE, end)
        if not fits:
            return np.inf
        scale += exponent
    if digits > 19 or number > np.uint64(2**53) or abs(scale) > 22:
        return np.nan
    value = float(number) / float(_POWERS[-scale]) if scale < 0 else float(number) * float(_POWERS[scale])
    return -value if sign == MINUS else value


@compiled
def _exponent(block: NDArray[np.uint8], at: np.uint64, end: np.uint64) -> tuple[int, bool]:
    """Return a whole number, bounded, and whether the text is one."""
    down = at < end and bool(block[at] == MINUS)
    if at < end and (down or block[at] == PLUS):
        at += _ONE
    exponent, fits = 0, bool(at < end)
    while at < end:
        digit = int(block[at]) - 48
        fits &= 0 <= digit <= 9
        exponent = min(10 * exponent + digit, 1 << 20)
        at += _ONE
    return (-exponent if down else exponent), fits
