"""Named, cumulative stages of normalising queries before their texts are compared.

Whether a generated query "is" one that a person typed depends on how much of the wording counts. Each stage forgets
one thing more than the stage before it, and its name goes with every number that was computed at it. Stages are not
monotone in a measure of overlap: two queries of one set that become equal shrink the set.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rerankers._base.errors import choose

if TYPE_CHECKING:
    from rerankers.values.collection import Counts

STAGES = ("case+space", "punct", "stop", "stem", "bag")
"""Names of the stages, each on top of those before it."""

_STOP = "a an and are as at be but by for if in into is it no not of on or such that the their then there these they"
STOP_WORDS = frozenset([*_STOP.split(), "this", "to", "was", "will", "with"])
"""The 33 English stop words of Lucene, which Anserini's indexes leave out too."""

_OTHER = re.compile(r"[^\w\s]")


class Normalised(NamedTuple):
    """The distinct queries that a stage leaves.

    Attributes
    ----------
    stage
        its name.
    texts
        distinct and not empty, in order of first appearance.
    counts
        ``empty`` (queries of which nothing was left) and ``merged`` (queries that became equal to an earlier one).
    """

    stage: str
    texts: tuple[str, ...]
    counts: Counts


def normalise(text: str, stage: str) -> str:
    """Return a query as a stage leaves it; empty where nothing is left.

    Parameters
    ----------
    text
        any Unicode text. It is composed first (form NFC), so that two encodings of one letter are equal.
    stage
        ``case+space``: lower case, runs of white space are one blank, none at the ends. ``punct``: besides, every
        character that is neither a word character nor white space becomes a blank; accents and vowel signs are part
        of the letter before them, an underscore is a word character. ``stop``: besides, without
        `STOP_WORDS`. ``stem``: besides, words are stemmed by Porter's (1980) algorithm as snowball has it.
        ``bag``: besides, distinct words in alphabetical order.

    Raises
    ------
    ConfigError
        for another stage.
    """
    choose("stage", stage, STAGES)
    return _normalised(text, STAGES.index(stage))


@lru_cache(maxsize=1 << 17)
def _normalised(text: str, last: int) -> str:
    """Return a query after the stages up to the last; kept, since each is compared many times."""
    words = unicodedata.normalize("NFC", text.lower()).split()
    if last >= 1:
        words = _OTHER.sub(_blank, " ".join(words)).split()
    if last >= 2:
        words = [word for word in words if word not in STOP_WORDS]
    if last >= 3:
        words = [_stem(word) for word in words]
    if last >= 4:
        words = sorted(set(words))
    return " ".join(words)


def normalise_all(texts: Iterable[str], stage: str) -> Normalised:
    """Return the distinct normalised queries, and how many vanished or became equal to another.

    Parameters
    ----------
    texts
        queries, repeats allowed.
    stage
        as of `normalise`.
    """
    kept: dict[str, None] = {}
    empty = merged = 0
    for text in texts:
        found = normalise(text, stage)
        if not found:
            empty += 1
        elif found in kept:
            merged += 1
        else:
            kept[found] = None
    return Normalised(stage, tuple(kept), {"empty": empty, "merged": merged})


def _blank(found: re.Match[str]) -> str:
    """Return a blank for a character between words; a mark stays with its letter."""
    return found[0] if unicodedata.category(found[0]).startswith("M") else " "


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    stem: Callable[[str], str] = snowballstemmer.stemmer("porter").stemWord
    return stem


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """Return the stem of a word; kept, since the variants of a topic share their words."""
    return _stemmer()(word)
