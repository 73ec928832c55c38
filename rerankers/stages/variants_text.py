"""Sets of query variants in tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.text import NOTHING, clean, number, words
from rerankers.report.text import cells as width_of
from rerankers.report.variants import about, title_of
from rerankers.report.variants_tables import variant_tables

if TYPE_CHECKING:
    from rerankers.report import PlainTable

SHOWN = (
    "Sets",
    "Texts in common with the reference",
    "Pools",
    "What pools have in common with the reference's",
    "Rankings",
    "Effectiveness",
    "Fairness under query variability",
)
"""Tables that a terminal shows; all of them are in the report and the Markdown file."""


def terminal(found: Mapping[str, Any]) -> list[str]:
    """Return the main tables as lines of aligned columns."""
    lines = [clean(f"{title_of(found)}: {len(found['topics']):,} topics, reference {found['reference']}")]
    for table in variant_tables(found):
        if table.title not in SHOWN:
            continue
        rows = [list(table.columns), *([_cell(cell) for cell in row] for row in table.rows)]
        widths = [max(width_of(row[place]) for row in rows) for place in range(len(table.columns))]
        lines += ["", table.title]
        lines += ["  ".join(map(_padded, row, widths, range(len(row)))).rstrip() for row in rows]
    retrieved = "pools" in found
    notes = [
        f"{name}: {clean(text)}"
        for name, text in about(found)
        if name.startswith("no ") or (retrieved and name.startswith("not "))
    ]
    return [*lines, "", *notes]


def markdown(found: Mapping[str, Any]) -> str:
    """Return all tables and what was done as Markdown."""
    lines = [f"# {clean(title_of(found))}", ""]
    lines += [f"- {clean(name)}: {clean(text)}" for name, text in about(found)]
    for table in variant_tables(found):
        lines += ["", f"## {table.title}", "", table.note, "", *_table(table)]
    lines += ["", "## Met and left out", ""]
    for part, of in found["counts"].items():
        if of:
            lines.append(f"- {clean(part)}: " + ", ".join(f"{words(what)} {many:,}" for what, many in of.items()))
    return "\n".join([*lines, ""])


def _table(table: PlainTable) -> list[str]:
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    return [_line(table.columns), _line(["---"] * len(table.columns)), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(cell: str | float | None) -> str:
    return NOTHING if cell is None else cell if isinstance(cell, str) else number(cell)


def _padded(cell: str, width: int, place: int) -> str:
    blanks = " " * (width - width_of(cell))
    return blanks + cell if place else cell + blanks
