"""Word vectors, and the words nearest to one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of V words.

    Attributes
    ----------
    words
        distinct, in the order of their source, the usual ones first in most files.
    matrix
        float32 (V, d), rows of length 1; a word without a direction (all 0) stays so and is near to nothing.
    source
        where they are from: the fingerprint of a file, or how they were learnt.
    """

    words: tuple[str, ...]
    matrix: Floats
    source: str

    @classmethod
    def of(cls, words: Sequence[str], matrix: NDArray[np.floating], source: str) -> WordVectors:
        """Scale vectors to length 1.

        Raises
        ------
        InputError
            for numbers that are not finite, repeated words, or another number of rows than words.
        """
        values = np.asarray(matrix, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(words) or len(set(words)) != len(words):
            raise InputError.one("vectors", f"{len(words)} words, shape {values.shape}", "a row a word, each word once")
        if not np.all(np.isfinite(values)):
            raise InputError.one("vectors", "numbers that are not finite", "finite numbers")
        length = np.linalg.norm(values, axis=1, keepdims=True)
        unit = np.divide(values, length, out=np.zeros_like(values), where=length > 0)
        return cls(tuple(words), unit.astype(np.float32), source)

    @cached_property
    def code(self) -> dict[str, int]:
        """Word -> row."""
        return {word: place for place, word in enumerate(self.words)}

    def nearest(self, word: str, n: int) -> list[tuple[str, float]]:
        """Return the n words nearest to one by cosine, the nearest first, with their cosines, each above 0.

        The word itself is left out; ties go by the words themselves. Empty for a word without a vector.
        """
        row = self.code.get(word)
        if row is None or n < 1:
            return []
        # In float64, by one row: a product of matrices may round a row differently with the number of rows.
        cosine = np.einsum("vd,d->v", self.matrix, self.matrix[row], dtype=np.float64)
        cosine[row] = -np.inf
        n = min(n, len(cosine) - 1)
        if n < 1:
            return []
        least = np.partition(cosine, len(cosine) - n)[len(cosine) - n]
        places = np.flatnonzero((cosine >= least) & (cosine > 0))
        found = sorted(
            ((self.words[place], float(cosine[place])) for place in places), key=lambda one: (-one[1], one[0])
        )
        return found[:n]
