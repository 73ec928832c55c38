"""How texts are cut into words, and what becomes of capital letters and accents first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

JOINERS = "\u200c\u200d"
"""Zero-width joiner and non-joiner: they shape letters inside a word (Persian, Hindi) and do not end it."""

SEPARATOR, SLOW = 0xFFFFFFFE, 0xFFFFFFFF
"""In a table of folded characters: no letter; or one that cannot be folded by itself."""

TABLED = 0x20000
"""Code points below this are in the table; those above (rare ideographs) are not folded by themselves."""

_ASCII, _PLANE = 128, 0x10000
_ABOVE = "\U00010000-\U0010ffff"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A way of cutting texts into words.

    Attributes
    ----------
    name
        ``whitespace`` or ``regex``.
    fold
        text -> text in the form in which words are compared.
    cut
        folded text -> its words, none of them empty.
    """

    name: str
    fold: Callable[[str], str]
    cut: Callable[[str], list[str]]

    def words(self, text: str) -> list[str]:
        """Return the words of a text, folded, in their order."""
        return self.cut(self.fold(text))


def casefolded(text: str) -> str:
    """Return a text with its case folded (Unicode), composed where it can be (NFC)."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


@lru_cache(maxsize=1)
def letter_runs() -> re.Pattern[str]:
    """Return the pattern of a word: a letter, then letters, marks and `JOINERS`.

    Marks are accents, vowel signs and points. Digits, apostrophes, hyphens and underscores end a word.
    """
    below, above = _classes(range(_PLANE)), _classes(range(_PLANE, 4 * _PLANE))
    above["M"] += "\U000e0100-\U000e01ef"  # the only ones further up: they choose between shapes of ideographs
    rest = f"[{below['L']}{below['M']}{JOINERS}]++|(?=[{_ABOVE}])[{above['L']}{above['M']}]++"
    # Classes of the first plane are bit maps, those above it lists of ranges: only characters above it are put to them.
    return re.compile(f"(?:[{below['L']}]|(?=[{_ABOVE}])[{above['L']}])(?:{rest})*+")


def _classes(codes: range) -> dict[str, str]:
    """Return the ranges of letters (L) and marks (M) among code points, as they stand in a pattern."""
    kinds = "".join([kind[0] for kind in map(unicodedata.category, map(chr, codes))])
    classes = {"L": "", "M": ""}
    for run in re.finditer("L+|M+", kinds):
        classes[run[0][0]] += f"\\U{codes[run.start()]:08x}-\\U{codes[run.end() - 1]:08x}"
    return classes


def _runs(text: str) -> list[str]:
    if text.isascii():
        return re.findall("[a-z]+", text)
    words = letter_runs().findall(text)
    # Behind the last letter a joiner shapes that letter alone: the word is the same.
    return [word.rstrip(JOINERS) for word in words] if any(sign in text for sign in JOINERS) else words


def _between_blanks(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]


TOKENS = {
    "regex": Tokens("regex", casefolded, _runs),
    "whitespace": Tokens("whitespace", str.lower, _between_blanks),
}
"""``whitespace`` is the published rule (Rekabsaz, Kopeinik & Schedl 2021): lower case, cut at single blanks, so that
``man.`` and ``He's`` are words of their own. ``regex`` takes runs of letters of any script."""


def tokens_named(name: str) -> Tokens:
    """Return a way of cutting by its name; `ConfigError` for another name."""
    return TOKENS[choose("tokens", name, TOKENS)]


@lru_cache(maxsize=4)
def fold_table(name: str, ascii_only: bool) -> NDArray[np.uint32]:
    """Return what each character becomes: uint32 (128,) or (`TABLED`,), the folded code point, `SEPARATOR` or `SLOW`.

    A text without a `SLOW` character has the same words whether it is folded as a whole or character by character: each
    of them folds to one character, which neither composes with a neighbour nor moves.
    """
    signs = list(map(chr, range(_ASCII if ascii_only else TABLED)))
    if name == "whitespace":
        table = np.array([_lower(sign) for sign in signs], dtype=np.uint32)
        table[ord(" ")] = SEPARATOR
        return table
    second = set[str]() if ascii_only else _seconds()
    return np.array([_casefold(sign, second) for sign in signs], dtype=np.uint32)


def _lower(sign: str) -> int:
    lower = sign.lower()
    return SLOW if len(lower) > 1 or sign == "\u03a3" else ord(lower)  # a sigma looks at its neighbours


def _casefold(sign: str, second: set[str]) -> int:
    folded = sign.casefold()
    kind = unicodedata.category(folded[0])[0]
    if len(folded) > 1 or folded in JOINERS or folded in second or kind == "M":
        return SLOW
    if not folded.isascii() and not unicodedata.is_normalized("NFC", folded):
        return SLOW
    return ord(folded) if kind == "L" else SEPARATOR


def _seconds() -> set[str]:
    """Return the characters that may compose with the one before them."""
    parts = map(unicodedata.decomposition, map(chr, range(TABLED)))
    pairs = (part.split() for part in parts if part and not part.startswith("<"))
    found = {chr(int(code, 16)) for pair in pairs for code in pair[1:]}
    return found | set(map(chr, range(0x1100, 0x1200)))  # and the letters that Hangul syllables are made of
