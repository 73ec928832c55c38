"""What a check of a run finds: errors told one by one as they are met, warnings at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from rerankers._base.errors import Problem

__all__ = ["Findings", "Verdict", "listed", "ranges"]

MOST: Final = 20


@dataclass(slots=True)
class Findings:
    """Collects what is wrong with one file in constant memory: errors are handed on and counted.

    Attributes
    ----------
    where
        the file as the reader of the errors knows it.
    tell
        called with each error, in the order in which they are met.
    most
        errors handed on; the others are only counted. None for all.
    errors
        how many there were.
    warnings
        sentences about what is strange and yet valid.
    """

    where: str
    tell: Callable[[Problem], None]
    most: int | None = None
    errors: int = 0
    warnings: list[str] = field(default_factory=list)

    def add(self, line: int | None, found: str, expected: str, mend: str = "") -> None:
        """Hand on one error."""
        self.errors += 1
        if self.most is None or self.errors <= self.most:
            self.tell(Problem(self.where, found, expected, line, mend))

    def warn(self, sentence: str) -> None:
        """Note something strange."""
        self.warnings.append(sentence)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says of a file.

    Attributes
    ----------
    errors
        how many rules are broken, line by line; 0 for a valid file.
    warnings
        sentences about what is strange and yet valid.
    lines, queries
        lines read; queries with a ranking.
    """

    errors: int
    warnings: tuple[str, ...]
    lines: int
    queries: int


def listed(names: Iterable[object], total: int, most: int = MOST) -> str:
    """Return the first of ``total`` names, quoted as Python would, and how many more there are."""
    shown = ", ".join(_short(name) for name in islice(names, most))
    return shown if total <= most else f"{shown} and {total - most:,} more"


def _short(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 100 else f"{text[:97]}..."


def ranges(numbers: Iterable[int], prefix: str = "", most: int = 100) -> str:
    """Return ascending numbers as ranges: ``0-3, 7``; after ``most`` ranges, how many numbers are left."""
    out: list[str] = []
    left = 0
    for low, high in _runs(numbers):
        if len(out) < most:
            out.append(f"{prefix}{low}" if low == high else f"{prefix}{low}-{prefix}{high}")
        else:
            left += high - low + 1
    return ", ".join(out) + (f" and {left:,} more" if left else "")


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    low = high = None
    for number in numbers:
        if high is not None and number == high + 1:
            high = number
            continue
        if low is not None and high is not None:
            yield low, high
        low = high = number
    if low is not None and high is not None:
        yield low, high
