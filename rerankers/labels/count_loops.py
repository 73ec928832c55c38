"""Compiled loop over the bytes of texts: how many words of each group they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.labels.tokens import SEPARATOR, SLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: the product spreads low bits over the high half
_END, _ODD = np.uint32(SEPARATOR), np.uint32(SLOW)
_HALF, _FIVE, _REST = np.uint64(32), np.uint64(5), np.uint64(59)  # a letter is turned in by five bits
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@compiled
def count_words(  # noqa: C901 - one loop over the bytes: a call for every letter would cost as much as the rest
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    fold: NDArray[np.uint32],
    slot: NDArray[np.int32],
    tag: NDArray[np.uint64],
    letters: NDArray[np.uint32],
    word_bounds: NDArray[np.int64],
    groups: NDArray[np.int64],
    group_bounds: NDArray[np.int64],
    counts: NDArray[np.int64],
    tokens: NDArray[np.int64],
) -> None:
    """Count the words of each text.

    Parameters
    ----------
    data, bounds
        valid UTF-8; text i is ``data[bounds[i]:bounds[i + 1]]``.
    fold
        code point -> folded code point, `SEPARATOR` or `SLOW` (`rerankers.labels.tokens.fold_table`); a code point
        beyond it counts as `SLOW`.
    slot, tag
        open hash table, a power of two long: number of a word or -1, and its hash (`hash_words`).
    letters, word_bounds
        folded code points of the words, one after the other.
    groups, group_bounds
        groups of the words, one after the other.
    counts, tokens
        int64 (n, G) of zeros and (n,), written; a text with a `SLOW` character gets 0 and -1.
    """
    mask, known = np.uint64(len(slot) - 1), np.uint32(len(fold))
    for text in range(len(bounds) - 1):
        at, end = np.uint64(bounds[text]), np.uint64(bounds[text + 1])
        begin, mixed, found, odd = end, np.uint64(0), 0, False
        while True:
            # In a row of plain letters, which most bytes are, nothing but the hash changes.
            here, sign = at, _END
            while at < end and data[at] < 0x80:
                sign = fold[data[at]]
                if sign >= _END:
                    break
                mixed = (mixed << _FIVE | mixed >> _REST) ^ np.uint64(sign)
                at += _ONE
            if at > here and begin == end:
                begin = here
            here = at
            if at < end:
                code, at = _decoded(data, at)
                sign = fold[code] if code < known else _ODD
                if sign < _END:
                    mixed = (mixed << _FIVE | mixed >> _REST) ^ np.uint64(sign)
                    begin = min(begin, here)
                    continue
                if sign == _ODD:
                    odd = True
                    break
            if begin < here:
                found += 1
                mixed *= MIX
                mixed ^= mixed >> _HALF
                place = mixed & mask
                while slot[place] >= 0:
                    if tag[place] == mixed:
                        word = slot[place]
                        if _same(data, begin, here, fold, letters[word_bounds[word] : word_bounds[word + 1]]):
                            for g in range(group_bounds[word], group_bounds[word + 1]):
                                counts[text, groups[g]] += 1
                            break
                    place = (place + _ONE) & mask
                begin, mixed = end, np.uint64(0)
            if here == end:
                break
        if odd:
            counts[text] = 0
        tokens[text] = -1 if odd else found


@compiled
def _decoded(data: NDArray[np.uint8], at: np.uint64) -> tuple[np.uint32, np.uint64]:
    """Return the code point that begins at a byte of valid UTF-8, and where the next one begins."""
    code = np.uint32(data[at])
    if code < 0x80:
        return code, at + _ONE
    if code < 0xE0:
        return np.uint32((code & 0x1F) << 6 | data[at + _ONE] & 0x3F), at + _TWO
    if code < 0xF0:
        low = (data[at + _ONE] & 0x3F) << 6 | data[at + _TWO] & 0x3F
        return np.uint32((code & 0x0F) << 12 | low), at + _THREE
    low = (data[at + _ONE] & 0x3F) << 12 | (data[at + _TWO] & 0x3F) << 6 | data[at + _THREE] & 0x3F
    return np.uint32((code & 0x07) << 18 | low), at + _TWO + _TWO


@compiled
def _same(
    data: NDArray[np.uint8], at: np.uint64, end: np.uint64, fold: NDArray[np.uint32], letters: NDArray[np.uint32]
) -> bool:
    """Return whether bytes, folded, are these letters."""
    for letter in letters:
        if at >= end:
            return False
        code, at = _decoded(data, at)
        if fold[code] != letter:
            return False
    return bool(at == end)


@compiled
def hash_words(
    letters: NDArray[np.uint32], word_bounds: NDArray[np.int64], slot: NDArray[np.int32], tag: NDArray[np.uint64]
) -> None:
    """Fill the hash table of different words; ``slot`` is -1 throughout, at least twice as long as there are words."""
    mask = np.uint64(len(slot) - 1)
    for word in range(len(word_bounds) - 1):
        mixed = np.uint64(0)
        for k in range(word_bounds[word], word_bounds[word + 1]):
            mixed = (mixed << _FIVE | mixed >> _REST) ^ np.uint64(letters[k])
        mixed *= MIX
        mixed ^= mixed >> _HALF
        place = mixed & mask
        while slot[place] >= 0:
            place = (place + _ONE) & mask
        slot[place], tag[place] = word, mixed
