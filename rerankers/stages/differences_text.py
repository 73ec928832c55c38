"""Differences between runs as they are shown: on the terminal, in comparison.md and in differences.csv."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rerankers.report.text import clean, interval, number
from rerankers.stats.paired import FEW_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerankers.stages.differences import Difference, Differences
    from rerankers.stats.equivalence import Equivalence

NOTHING = "-"
MOST_LINES = 40
"""Rows on the terminal; where there are more, those that stand out."""
HEADER = ("measure", "run", "minus", "difference", "interval", "p", "max-T p", "Holm p")
SAME = ("not lower", "same")
CSV_HEADER = (
    "measure", "run", "baseline", "difference", "low", "high", "units", "p", "p_max_t", "p_holm", "margin",
    "p_not_lower", "p_not_higher", "p_same", "same", "p_same_bootstrap", "same_bootstrap",
)  # fmt: skip


def lines(found: Differences) -> list[str]:
    """Return what the terminal shows: a heading, an aligned row a comparison, sentences."""
    if not found.rows:
        return []
    shown = list(found.rows)
    if len(shown) > MOST_LINES:
        shown = [row for row in shown if row.max_t <= found.options.alpha][:MOST_LINES]
    header = list(_header(found))
    cells = [header, *(_cells(row, found) for row in shown)]
    width = [max(len(row[column]) for row in cells) for column in range(len(header))]
    out = ["", heading(found)]
    out += ["  ".join(cell.ljust(size) for cell, size in zip(row, width, strict=True)).rstrip() for row in cells]
    if len(shown) < len(found.rows):
        out.append(f"{len(found.rows) - len(shown)} more comparisons are in differences.csv (output=DIR)")
    return [clean_line(line) for line in [*out, *sentences(found)]]


def heading(found: Differences) -> str:
    """Return what the table is, in a line."""
    units = sorted({row.units for row in found.rows})
    span = f"{units[0]:,}" if len(units) == 1 else f"{units[0]:,} to {units[-1]:,}"
    what = "queries" if found.options.clusters is None else "clusters of queries"
    how = "all" if found.exact else f"{found.patterns:,}"
    return f"differences, paired over {span} {what}; {len(found.rows)} comparisons, {how} sign patterns"


def sentences(found: Differences) -> list[str]:
    """Return what limits the table."""
    out = [
        f"note: {key}: {count:,} queries without a value in some compared run are left out of all of them"
        for key, count in found.left_out.items()
    ]
    fewest = min((row.units for row in found.rows), default=FEW_UNITS)
    if fewest < FEW_UNITS:
        what = "queries" if found.options.clusters is None else "clusters"
        out.append(
            f"caution: only {fewest} {what} (fewer than {FEW_UNITS}): intervals are too short, and a difference that "
            "is not found may still be there"
        )
    return out


def markdown(found: Differences) -> list[str]:
    """Return the section of comparison.md, no lines without comparisons."""
    if not found.rows:
        return []
    header = list(_header(found))

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    told = heading(found)
    out = ["", "## Differences", "", told[0].upper() + told[1:] + ".", "", line(header), line(["---"] * len(header))]
    out += [line(_cells(row, found)) for row in found.rows]
    out += [
        "",
        f"In brackets the {found.level:.0%} interval: the differences that the sign-flip test does not reject. p: that",
        "test of one comparison; max-T p: adjusted for all comparisons of this table, with their dependence; Holm p:",
        "adjusted without it. The test takes differences for as likely to be d as -d where systems are equal.",
    ]
    if found.options.margin is not None:
        out += [
            f"Same: both one-sided t tests against a margin of {found.options.margin:g} reject at "
            f"{found.options.alpha:g}."
        ]
    return [*out, "", *(f"- {sentence}" for sentence in sentences(found)), ""]


def comma_separated(found: Differences) -> str:
    """Return one row a comparison in full precision, empty where there is no value."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(CSV_HEADER)
    for row in found.rows:
        one, two = row.same, row.same_drawn
        out.writerow(
            [row.key.text, row.run, row.baseline, row.interval.mean, row.interval.low, row.interval.high, row.units]
            + [row.p, row.max_t, row.holm, found.options.margin if one is not None else None]
            + ([None] * 4 if one is None else [one.not_lower, one.not_higher, one.p, one.equivalent])
            + ([None] * 2 if two is None else [two.p, two.equivalent])
        )
    return text.getvalue()


def clean_line(line: str) -> str:
    """Return a line without what would harm a terminal, its blanks kept."""
    return "".join(clean(letter) or letter for letter in line)


def _header(found: Differences) -> tuple[str, ...]:
    return HEADER if found.options.margin is None else (*HEADER, *SAME)


def _cells(row: Difference, found: Differences) -> list[str]:
    span = None if row.interval.low is None or row.interval.high is None else (row.interval.low, row.interval.high)
    cells = [row.key.text, row.run, row.baseline, number(row.interval.mean), interval(span) or NOTHING]
    cells += [_p(row.p), _p(row.max_t), _p(row.holm)]
    return cells if found.options.margin is None else [*cells, *_same(row.same)]


def _same(one: Equivalence | None) -> tuple[str, str]:
    if one is None or one.p is None or one.not_lower is None:
        return NOTHING, NOTHING
    return _p(one.not_lower), f"{'yes' if one.equivalent else 'no'} ({_p(one.p)})"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"
