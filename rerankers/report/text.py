"""Numbers and names as they are shown: short, whole, harmless."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

NOTHING = "–"
_NOISE = 1e-9  # magnitudes that differ from 0 by rounding only
_SMALL, _LARGE = 5e-5, 1e6
_THREE = 0.1
_NOT_FOR_DISPLAY = frozenset("\ufffe\uffff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def number(value: float | None) -> str:
    """Return a number with four decimals; small and large magnitudes with an exponent; ``–`` for None."""
    if value is None:
        return NOTHING
    size = abs(value)
    if size < _NOISE:
        return "0.0000"
    if size < _SMALL or size >= _LARGE:
        return f"{value:.2e}"
    return f"{value:.4f}"


def interval(pair: tuple[float, float] | None) -> str:
    """Return ``[low, high]``, with three decimals where that keeps two digits; nothing where there is none."""
    if pair is None:
        return ""
    if _THREE <= max(abs(end) for end in pair) < _LARGE:
        return f"[{pair[0]:.3f}, {pair[1]:.3f}]"
    return f"[{number(pair[0])}, {number(pair[1])}]"


def clean(name: str) -> str:
    """Return a name that can be drawn and printed: one line, with U+FFFD for what cannot.

    That is control characters, lone surrogates, noncharacters and marks that turn the direction of what follows.
    """
    return "".join("\ufffd" if _harmful(letter) else letter for letter in " ".join(name.split()))


def _harmful(letter: str) -> bool:
    return letter in _NOT_FOR_DISPLAY or unicodedata.category(letter) in ("Cc", "Cs")


def cells(text: str) -> int:
    """Return the width of a text in half-width cells: East Asian wide letters take two, combining marks none."""
    total = 0
    for letter in text:
        if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
            continue
        total += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return total


def wrap(text: str, width: int, lines: int) -> str:
    """Break a text into at most ``lines`` lines of ``width`` cells, at blanks and after ``_ - / : .`` where possible.

    What does not fit ends in an ellipsis.
    """
    rest = clean(text)
    done: list[str] = []
    while rest and len(done) < lines:
        line, rest = _first_line(rest, width)
        done.append(line)
    if rest:
        done[-1] = _shorten(done[-1], width - 1) + "…"
    return "\n".join(done)


def _shorten(text: str, width: int) -> str:
    while text and cells(text) > width:
        text = text[:-1]
    return text.rstrip()


def _first_line(text: str, width: int) -> tuple[str, str]:
    if cells(text) <= width:
        return text, ""
    fits, total = 0, 0
    for letter in text:
        total += cells(letter)
        if total > width:
            break
        fits += 1
    fits = max(fits, 1)
    if text[fits] == " ":
        return text[:fits], text[fits + 1 :]
    breaks = [place + 1 for place in range(fits) if text[place] in " _-/:."]
    # a break near the start would leave an almost empty line
    cut = breaks[-1] if breaks and breaks[-1] > fits // 2 else fits
    return text[:cut].rstrip(), text[cut:].lstrip()


def words(name: str) -> str:
    """Return a snake_case name in plain words; sentences stay as they are."""
    return name if " " in name else name.replace("_", " ")


def flatten(options: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested options as (dotted name, text) rows."""
    rows: list[tuple[str, str]] = []
    for name, value in options.items():
        if isinstance(value, Mapping) and value:
            rows.extend(flatten(value, f"{prefix}{name}."))
        elif isinstance(value, list | tuple):
            rows.append((f"{prefix}{name}", ", ".join(str(item) for item in value) or "none"))
        else:
            rows.append((f"{prefix}{name}", "none" if value is None else str(value)))
    return rows
