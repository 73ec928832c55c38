"""Weighted sums of measures as text: ``nDCG@10``, ``utility - 0.5 * group_EEL``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.learning.monitors.pointwise import POINTWISE
from rerankers.measures import Measure, parse

HIGHER = ("utility", "EER", "group_EER", "nDCG", "AP", "RR", "P", "R", "AUC", "pooled_AUC")
LOWER = ("EEL", "EED", "group_EEL", "group_EED", "log_loss")
FORM = "a measure, or a sum such as utility - 0.5 * group_EEL with blanks around + - *"
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Term:
    """A measure with a factor.

    Attributes
    ----------
    factor
        finite and not 0.
    measure
        of `rerankers.measures`, or a word of `POINTWISE`.
    """

    factor: float
    measure: Measure | str

    @property
    def name(self) -> str:
        """The canonical name of the measure."""
        return self.measure if isinstance(self.measure, str) else self.measure.name

    def __str__(self) -> str:
        return f"{self.factor!r} * {self.measure}"


@dataclass(frozen=True, slots=True)
class Sum:
    """A weighted sum with a side that is better.

    Attributes
    ----------
    terms
        at least one.
    sign
        -1 where more is better, 1 where less is: the sum times it is what is minimised.
    """

    terms: tuple[Term, ...]
    sign: int

    def __str__(self) -> str:
        return " + ".join(map(str, self.terms))


def parse_sum(text: str) -> Sum:
    """Return the sum that is written.

    All terms must pull to one side: good measures (`HIGHER`) with one sign, losses (`LOWER`) with the other. Then it
    is known which side is better: ``utility - 2 * EEL`` is maximised, ``EEL`` and ``EEL - 0.5 * utility`` are
    minimised.

    Raises
    ------
    ConfigError
        for a text of another form, an unknown measure, one that is neither good nor bad, factors that are no finite
        numbers or 0, and terms that pull to different sides.
    """
    terms = tuple(_terms(text))
    sides = {term: _side(term, text) for term in terms}
    if len(set(sides.values())) > 1:
        good, bad = ([str(term) for term in terms if sides[term] == side] for side in (1, -1))
        raise ConfigError(
            f"monitor {text!r}: found {', '.join(good)}, better when high, beside {', '.join(bad)}, better when low; "
            "expected all to pull to one side: give a loss the other sign"
        )
    return Sum(terms, -sides[terms[0]])


def _terms(text: str) -> Iterator[Term]:
    sign: float | None = 1.0
    factor: float | None = None
    for word in _words(text):
        if word in ("+", "-"):
            if sign is not None and factor is None and word == "-":
                sign = -sign
            elif sign is None:
                sign = 1.0 if word == "+" else -1.0
            else:
                raise _no_sum(text)
        elif sign is None:
            raise _no_sum(text)
        elif factor is None and (number := _number(word)) is not None:
            factor = number
        elif word == "*" and factor is not None:
            continue
        else:
            yield _term(text, sign * (1.0 if factor is None else factor), word)
            sign, factor = None, None
    if sign is not None:
        raise _no_sum(text)


def _words(text: str) -> Iterator[str]:
    """Cut at blanks outside brackets; a minus that is glued to the first word counts as a word of its own."""
    depth, word = 0, ""
    for character in f"{text.strip()} ":
        depth += (character == "(") - (character == ")")
        if character.isspace() and depth <= 0:
            if word.startswith("-") and len(word) > 1 and _number(word) is None:
                yield "-"
                word = word[1:]
            if word:
                yield word
            word = ""
        else:
            word += character


def _term(text: str, factor: float, word: str) -> Term:
    if not math.isfinite(factor) or factor == 0:
        raise ConfigError(f"monitor {text!r}: found the factor {factor:g}; expected a finite number, not 0")
    named = {name.lower(): name for name in POINTWISE}.get(word.lower())
    return Term(factor, named if named is not None else parse(word))


def _side(term: Term, text: str) -> int:
    """Return 1 where more of the term is better, -1 where less is."""
    if term.name in HIGHER:
        return 1 if term.factor > 0 else -1
    if term.name in LOWER:
        return -1 if term.factor > 0 else 1
    raise ConfigError(
        f"monitor {text!r}: found {term.name}, of which neither more nor less is better; expected one of "
        f"{', '.join((*HIGHER, *LOWER))}"
    )


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _no_sum(text: str) -> ConfigError:
    return ConfigError(f"monitor: found {text!r}; expected {FORM}")
