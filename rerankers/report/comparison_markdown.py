"""Tables of a comparison as Markdown, in which names stand as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rerankers.report.comparison_table import SIGNS, Column, Line, Sheet, Value, shown
from rerankers.report.text import clean

_SPECIAL = re.compile(r"[\\`*{}\[\]<>#&~]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would set; an underscore inside a word it leaves alone."""
ARROWS = {"higher": "↑", "lower": "↓", "": ""}


def plain(text: str) -> str:
    """Return a text in which Markdown finds nothing to set."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", clean(text))


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; cells are set as they stand, but for bars."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---"] * len(header)), *(line(row) for row in rows)]


def sheet_markdown(sheet: Sheet, leading_zero: bool = True, level: int = 2) -> list[str]:
    """Return the lines of a table under a heading.

    Parameters
    ----------
    sheet
        the table.
    leading_zero
        whether 0.25 is written with its 0.
    level
        of the heading.
    """
    header = [plain(sheet.head), *(f"{plain(one.title)} {ARROWS[one.better]}".strip() for one in sheet.columns)]
    lines: list[list[str]] = []
    for part in sheet.parts:
        if part.title:
            lines.append([f"*{plain(part.title)}*", *[""] * len(sheet.columns)])
        lines += [_cells(line, sheet.columns, leading_zero) for line in part.lines]
    out = [f"{'#' * level} {plain(sheet.title)}", "", *grid(header, lines), ""]
    return out + [line for note in sheet.notes for line in (plain(note), "")]


def _cells(line: Line, columns: Sequence[Column], leading_zero: bool) -> list[str]:
    return [plain(line.name)] + [
        plain(cell) if isinstance(cell, str) else _value(cell, column, leading_zero)
        for cell, column in zip(line.cells, columns, strict=True)
    ]


def _value(value: Value, column: Column, leading_zero: bool) -> str:
    text, span = shown(value, column, leading_zero)
    text = f"**{text}**" if value.best else text
    text += plain(SIGNS[value.mark]) + (f" ({value.note})" if value.note else "")
    return f"{text} [{span}]" if span else text
