"""Texts as words: lower case, letters and digits, plural endings taken off."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

WORD: Final = re.compile(r"[^\W_]+")
"""Runs of letters and digits of any script."""
_SHORTEST: Final = 4  # characters of a word that may lose its ending


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order, without stemming; compatible forms of characters are one (NFKC)."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return WORD.findall(folded)


def stem(word: str) -> str:
    """Take a plural's ending off: the "S" stemmer of Harman (1991), for words of at least four characters.

    The first rule whose ending a word has is the only one: -ies becomes -y (not after a or e), -es becomes -e (not
    after a, e or o), -s goes (not after s or u). Other languages' words mostly stay as they are.
    """
    if len(word) < _SHORTEST or word[-1] != "s":
        return word
    if word.endswith("ies"):
        return word if word[-4] in "ae" else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word[-3] in "aeo" else word[:-1]
    return word if word[-2] in "su" else word[:-1]


def trigrams(word: str) -> list[str]:
    """Return the distinct triples of characters of a word with a blank before and after it, in their order."""
    padded = f" {word} "
    return list(dict.fromkeys(padded[start : start + 3] for start in range(len(padded) - 2)))
