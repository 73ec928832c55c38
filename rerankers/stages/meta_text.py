"""The tables of a meta-evaluation, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers.report.text import clean

if TYPE_CHECKING:
    from rerankers.measures.axioms import Axiom
    from rerankers.stages.meta_agreement import Summary

Rows = list[list[str]]
PROPERTIES = "Properties of the measures: counterexamples among made-up rankings (none found is no proof)"
MARKS = {"holds": "none found", "violated": "found", "na": "n/a"}


def printed(found: Summary, axioms: Sequence[Axiom]) -> list[str]:
    """Return the lines for the terminal."""
    lines = _about(found)
    for title, rows in _tables(found, axioms):
        lines += ["", title, *_columns(rows)]
    return lines


def markdown(found: Summary, axioms: Sequence[Axiom]) -> str:
    """Return the same tables as Markdown, with every way of measuring and the counterexamples."""
    lines = ["# Meta-evaluation", "", *(f"- {line}" for line in _about(found))]
    for title, rows in _tables(found, axioms):
        lines += ["", f"## {title}", "", *_grid(rows)]
    broken = [f"{a.measure}, {a.property}: {a.counterexample}" for a in axioms if a.counterexample]
    if broken:
        lines += ["", "## Counterexamples, and why there is no verdict", "", *(f"- {clean(line)}" for line in broken)]
    rows = [["way", *found.systems, "queries", "ties", "power"]]
    rows += [
        [
            line.way.label,
            *(f"{mean:.4f}" for mean in line.means),
            str(line.queries),
            str(line.ties),
            f"{line.power:.2f}",
        ]
        for line in found.lines
    ]
    return "\n".join([*lines, "", "## Every way of measuring", "", *_grid(rows), ""])


def _about(found: Summary) -> list[str]:
    lines = [
        f"{len(found.lines)} ways of measuring {len(found.systems)} systems ({', '.join(found.systems)}) on "
        f"{found.queries:,} queries that all of them answer",
        "tau: Kendall's tau-b between the orders of systems; power: share of pairs of systems whose paired difference "
        f"is significant (t test, {found.level:g}, uncorrected)",
    ]
    if found.queries < 30:
        lines.append(f"caution: {found.queries} queries are few; orders may differ by chance alone")
    if found.unmeasured:
        lines.append(f"without a value on any query: {'; '.join(found.unmeasured)}")
    return lines


def _tables(found: Summary, axioms: Sequence[Axiom]) -> list[tuple[str, Rows]]:
    tables = [
        ("Agreement of measures (mean tau over all assumptions)", _measures(found)),
        ("What the order depends on (pairs that differ in one assumption)", _axes(found)),
    ]
    if axioms:
        tables.append(
            (
                PROPERTIES,
                _axioms(axioms),
            )
        )
    return tables


def _measures(found: Summary) -> Rows:
    rows = [["", *found.measures, "power (lowest, mean, highest)"]]
    for i, name in enumerate(found.measures):
        power = ", ".join(f"{value:.2f}" for value in found.power(name))
        rows.append([name, *(_tau(value) for value in found.between[i]), power])
    return rows


def _axes(found: Summary) -> Rows:
    rows = [["measure", "assumption", "pairs", "mean tau", "lowest", "between"]]
    for one in found.axes:
        between = " and ".join(label.removeprefix(f"{one.measure} ") for label in one.between)
        rows.append([one.measure, one.axis, str(one.pairs), _tau(one.mean), _tau(one.lowest), between])
    return rows


def _axioms(axioms: Sequence[Axiom]) -> Rows:
    measures = list(dict.fromkeys(axiom.measure for axiom in axioms))
    verdict = {(axiom.property, axiom.measure): MARKS[axiom.verdict] for axiom in axioms}
    properties = dict.fromkeys(axiom.property for axiom in axioms)
    return [["property", *measures], *([name, *(verdict[name, one] for one in measures)] for name in properties)]


def _tau(value: float) -> str:
    return f"{value:+.2f}" if np.isfinite(value) else "none"


def _columns(rows: Rows) -> list[str]:
    width = [max(len(clean(row[column])) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(clean(cell).ljust(n) for cell, n in zip(row, width, strict=True)).rstrip() for row in rows]


def _grid(rows: Rows) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(rows[0]), line(["---"] * len(rows[0])), *(line(row) for row in rows[1:])]
