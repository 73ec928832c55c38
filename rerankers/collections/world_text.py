"""Made-up words, and texts drawn from themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

THEME_WORDS = 80  # words a theme is written with
_CONSONANTS = "bdfklmnrstv"
# No word ends in e, s or y: stemmers leave these words as they are.
_VOWELS = "aiou"
_SHORTEST, _LONGEST = 2, 5  # syllables


def vocabulary_size(documents: int) -> int:
    """Return V, which grows with the square root of the collection, as vocabularies do (Heaps' law)."""
    return 1000 + int(300 * np.sqrt(documents))


def made_up_words(seed: int, size: int) -> list[str]:
    """Return ``size`` distinct pronounceable words, the frequent (first) ones shorter, as in Zipf's law of brevity."""
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    base = len(syllables)
    words: list[str] = []
    for length in range(_SHORTEST, _LONGEST + 1):
        number = min(base**length, size - len(words))
        if number == 0:
            break
        # A bijection on 0 … base^length - 1: an odd or otherwise coprime step through the cycle.
        rng = generator(seed, "words", length)
        start, step = int(rng.integers(base**length)), _coprime(int(rng.integers(base**length)), base)
        codes = (start + step * np.arange(number, dtype=np.int64)) % base**length
        digits = [(codes // base**place % base).tolist() for place in range(length)]
        words += ["".join([syllables[digit] for digit in word]) for word in zip(*digits, strict=True)]
    return words


def _coprime(number: int, base: int) -> int:
    while np.gcd(number, base) != 1:
        number += 1
    return number


def zipf_ranks(u: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return 0-based ranks by Zipf's law with exponent 1: P(rank = r) = log((r + 2) / (r + 1)) / log(size + 1).

    Parameters
    ----------
    u
        uniform numbers in [0, 1).
    size
        number of ranks.
    """
    ranks: NDArray[np.int64] = np.exp(u * np.log(size + 1)).astype(np.int64) - 1
    return np.minimum(ranks, size - 1, out=ranks)


def theme_words(seed: int, themes: int, vocabulary: int) -> NDArray[np.int32]:
    """Return the words of each theme, most frequent first: int32 (themes, `THEME_WORDS`), shared words allowed."""
    return generator(seed, "theme words").integers(vocabulary, size=(themes, THEME_WORDS), dtype=np.int32)


def draw_words(
    rng: np.random.Generator,
    text: NDArray[np.int64],
    topical: NDArray[np.float64],
    themes: NDArray[np.integer],
    shares: NDArray[np.float64],
    words_of: NDArray[np.int32],
    vocabulary: int,
) -> NDArray[np.int64]:
    """Draw one word a token: with probability ``topical`` from a theme, else from the whole vocabulary by Zipf's law.

    Parameters
    ----------
    text
        int64 (tokens,), the row of ``themes`` that a token belongs to.
    topical
        float64 (tokens,), probability that a token speaks of a theme.
    themes, shares
        (texts, m): the themes of each text, and their shares, which sum to 1.
    words_of
        int32 (themes, `THEME_WORDS`), see `theme_words`.
    vocabulary
        V.

    Returns
    -------
    int64 (tokens,)
        word codes.
    """
    about, which, rank = rng.random((3, len(text)))
    chosen = np.zeros(len(text), np.int64)
    for bound in np.cumsum(shares, axis=1)[:, :-1].T:
        chosen += which >= bound[text]
    of_theme = words_of[themes[text, chosen], zipf_ranks(rank, words_of.shape[1])]
    return np.where(about < topical, of_theme, zipf_ranks(rank, vocabulary))
