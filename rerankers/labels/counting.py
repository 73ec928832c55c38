"""Counting the words of groups in many texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.labels.count_loops import count_words, hash_words
from rerankers.labels.tokens import fold_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.labels.lexicon import Lexicon
    from rerankers.labels.tokens import Tokens

_ASCII = 0x80
SURROGATES = "surrogatepass"
"""A lone half of a pair, which JSON may hold, is kept: it is no letter."""


class Utf8(NamedTuple):
    """Texts one after the other: text i is ``data[bounds[i]:bounds[i + 1]]`` (uint8, int64 (n + 1,)), valid UTF-8."""

    data: NDArray[np.uint8]
    bounds: NDArray[np.int64]

    def text(self, number: int) -> str:
        """Return one of the texts."""
        return self.data[self.bounds[number] : self.bounds[number + 1]].tobytes().decode("utf-8", SURROGATES)


def utf8(texts: Sequence[str]) -> Utf8:
    """Return texts as bytes."""
    parts = [text.encode("utf-8", SURROGATES) for text in texts]
    bounds = np.fromiter(accumulate(map(len, parts), initial=0), dtype=np.int64, count=len(parts) + 1)
    return Utf8(np.frombuffer(b"".join(parts), dtype=np.uint8), bounds)


class Counted(NamedTuple):
    """Words of each group, int64 (n, G), and all tokens, int64 (n,), of texts."""

    counts: NDArray[np.int64]
    tokens: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordCounter:
    """Counts the words of a lexicon, for one way of cutting texts.

    Nearly all texts are counted in one compiled pass over their bytes. A text with a character that cannot be folded by
    itself (accents written as marks of their own, ß, Hangul letters) is folded and cut as a whole; the result is the
    same.
    """

    lexicon: Lexicon
    tokens: Tokens
    table: dict[str, tuple[int, ...]]
    slot: NDArray[np.int32]
    tag: NDArray[np.uint64]
    letters: NDArray[np.uint32]
    word_bounds: NDArray[np.int64]
    groups: NDArray[np.int64]
    group_bounds: NDArray[np.int64]

    @classmethod
    def of(cls, lexicon: Lexicon, tokens: Tokens) -> WordCounter:
        """Build the hash table of a lexicon's words."""
        table = lexicon.table(tokens)
        letters = np.array([ord(sign) for word in table for sign in word], dtype=np.uint32)
        word_bounds = np.array([0, *accumulate(map(len, table))], dtype=np.int64)
        groups = np.array([group for of_word in table.values() for group in of_word], dtype=np.int64)
        group_bounds = np.array([0, *accumulate(map(len, table.values()))], dtype=np.int64)
        size = 1 << (16 * len(table) + 8).bit_length()  # nearly empty: that a word is not there shows at once
        slot, tag = np.full(size, -1, np.int32), np.zeros(size, np.uint64)
        hash_words(letters, word_bounds, slot, tag)
        return cls(lexicon, tokens, table, slot, tag, letters, word_bounds, groups, group_bounds)

    def count(self, texts: Sequence[str]) -> Counted:
        """Return what `count_plain` gives for each text."""
        return self.count_utf8(utf8(texts))

    def count_utf8(self, texts: Utf8) -> Counted:
        """Return what `count_plain` gives for each text."""
        number = len(texts.bounds) - 1
        counts = np.zeros((number, len(self.lexicon.groups)), np.int64)
        tokens = np.empty(number, np.int64)
        simple = int(texts.data.max(initial=0)) < _ASCII
        fold = fold_table(self.tokens.name, simple)
        of_words = (self.slot, self.tag, self.letters, self.word_bounds, self.groups, self.group_bounds)
        count_words(texts.data, texts.bounds, fold, *of_words, counts, tokens)
        for row in np.flatnonzero(tokens < 0).tolist():
            counts[row], tokens[row] = self.count_plain(texts.text(row))
        return Counted(counts, tokens)

    def count_plain(self, text: str) -> tuple[list[int], int]:
        """Return the words of each group in one text and the number of its tokens: a loop over its words."""
        words = self.tokens.words(text)
        found = [0] * len(self.lexicon.groups)
        for word in words:
            for group in self.table.get(word, ()):
                found[group] += 1
        return found, len(words)
