"""Texts as codes of words, and what several features need made of them."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rerankers.features.gather import Occurrences, bounds_of, spread
from rerankers.features.words import trigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """V stems, ascending, so that the order of codes depends on the words alone."""

    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def triples(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(indptr int64 (V + 1,), codes int64): the distinct character triples of each stem."""
        codes: dict[str, int] = {}
        ends, flat = array("q", [0]), array("q")
        for word in self.words:
            flat.extend([codes.setdefault(triple, len(codes)) for triple in trigrams(word)])
            ends.append(len(flat))
        return np.array(ends, dtype=np.int64), np.array(flat, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Words:
    """T texts or queries: their words in order, and what was made of them once.

    Attributes
    ----------
    indptr, word
        int64 (T + 1,), int64 (words,): words of text i are word[indptr[i]:indptr[i + 1]], codes of the vocabulary.
    vocabulary
        the words behind the codes.
    """

    indptr: NDArray[np.int64]
    word: NDArray[np.int64]
    vocabulary: Vocabulary

    @cached_property
    def distinct(self) -> Occurrences:
        """The distinct words."""
        return Occurrences.of(self.indptr, self.word, len(self.vocabulary))

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(indptr, codes): the pairs of words that follow each other inside a text."""
        owner = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        inside = owner[1:] == owner[:-1]
        codes = (self.word[:-1] * len(self.vocabulary) + self.word[1:])[inside]
        return bounds_of(owner[1:][inside], len(self.indptr) - 1), codes

    @cached_property
    def distinct_triples(self) -> Occurrences:
        """The distinct triples of characters."""
        indptr, codes = self.vocabulary.triples
        entry, place = spread(indptr, self.distinct.item)
        ends = bounds_of(entry, len(self.distinct.key))[self.distinct.indptr]
        return Occurrences.of(ends, codes[place], int(codes.max(initial=0)) + 1)
