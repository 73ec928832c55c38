"""Tables of a comparison before they are written in a format: columns, rows in parts, numbers with their marks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from rerankers.report.text import NOTHING

BETTER, WORSE, OTHER = "better", "worse", "other"
SIGNS = {BETTER: "†", WORSE: "‡", OTHER: "*", "": ""}
"""Beside a number that differs from the baseline's: better, worse, or neither where no direction is better."""
FEWEST, USUAL, MOST = 2, 4, 8
"""Decimals: never fewer, without an interval, never more."""
_LARGE = 1e7


@dataclass(frozen=True, slots=True)
class Value:
    """A number of a table.

    Attributes
    ----------
    mean
        None where there is none.
    low, high
        its interval, None where there is none.
    mark
        ``better``, ``worse`` or ``other`` than the baseline by a test, or ``""``.
    best
        whether it is the best of its column.
    note
        letters of the notes that say why queries, or the value, are missing.
    """

    mean: float | None
    low: float | None = None
    high: float | None = None
    mark: str = ""
    best: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what heads it, which way is better (``higher``, ``lower`` or ``""``), and its decimals."""

    title: str
    better: str = ""
    decimals: int = USUAL


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, and a cell a column, a number with its marks or text."""

    name: str
    cells: Sequence[Value | str]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that belong together, under a title where they have one; ``runs`` are what the table is about."""

    title: str
    lines: Sequence[Line]
    runs: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Attributes
    ----------
    title
        a heading.
    head
        what heads the column of names.
    columns, parts
        its body.
    notes
        sentences below it.
    slug
        for labels.
    """

    title: str
    head: str
    columns: Sequence[Column]
    parts: Sequence[Part]
    notes: Sequence[str] = field(default_factory=tuple)
    slug: str = "comparison"

    @property
    def rows(self) -> int:
        """How many lines it has."""
        return sum(len(part.lines) for part in self.parts)


def decimals_of(values: Iterable[Value]) -> int:
    """Return how many decimals a column has: two digits of the intervals' median half-width.

    Fewer would hide differences that the intervals tell apart, more are noise. Without intervals of some width
    there are four.
    """
    widths = [
        (one.high - one.low) / 2
        for one in values
        if one.low is not None and one.high is not None and one.high > one.low
    ]
    if not widths:
        return USUAL
    return min(MOST, max(FEWEST, 1 - math.floor(math.log10(median(widths)))))


def written(value: float | None, decimals: int, leading_zero: bool = True) -> str:
    """Return a number with so many decimals; ``–`` for None, an exponent from ten million on.

    Raises
    ------
    ValueError
        for NaN and infinity, which no table holds.
    """
    if value is None:
        return NOTHING
    if not math.isfinite(value):
        raise ValueError(f"found {value}; expected a finite number, or None")
    if abs(value) >= _LARGE:
        return f"{value:.3e}"
    text = f"{value:.{decimals}f}"
    if float(text) == 0.0:
        text = text.removeprefix("-")
    if not leading_zero and decimals:
        text = re.sub(r"^(-?)0\.", r"\1.", text)
    return text


def shown(value: Value, column: Column, leading_zero: bool = True) -> tuple[str, str]:
    """Return a number and its interval, without brackets, as text; the interval is empty where there is none."""
    span = ""
    if value.low is not None and value.high is not None:
        span = ", ".join(written(end, column.decimals, leading_zero) for end in (value.low, value.high))
    return written(value.mean, column.decimals, leading_zero), span
