"""Differences between runs as they are shown: on the terminal, in comparison.md and in differences.csv."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rerankers.report.comparison_markdown import grid, plain
from rerankers.report.comparison_table import Column, Line, Part, Sheet, Value, decimals_of
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


def _sentence(found: Differences) -> str:
    told = heading(found)
    return told[0].upper() + told[1:]


def sentences(found: Differences) -> list[str]:
    """Return what limits the table."""
    out = [
        f"note: {key}: {count:,} queries without a value in some compared run are left out of all of them"
        for key, count in found.left_out.items()
    ]
    out += [f"note: {key}: no value of {', '.join(runs)}" for key, runs in found.without.items()]
    fewest = min((row.units for row in found.rows), default=FEW_UNITS)
    if fewest < FEW_UNITS:
        what = "queries" if found.options.clusters is None else "clusters"
        out.append(
            f"caution: only {fewest} {what} (fewer than {FEW_UNITS}): intervals are too short, and a difference that "
            "is not found may still be there"
        )
    return out


def markdown(found: Differences, title: str = "Differences") -> list[str]:
    """Return the section of comparison.md, no lines without comparisons."""
    if not found.rows:
        return []
    out = ["", f"## {title}", "", f"{_sentence(found)}.", ""]
    rows = [_cells(row, found) for row in found.rows]
    out += grid(_header(found), [[measure, plain(run), plain(other), *rest] for measure, run, other, *rest in rows])
    return [*out, "", *_explained(found), "", *(f"- {sentence}" for sentence in sentences(found)), ""]


def _explained(found: Differences) -> list[str]:
    out = [
        f"In brackets the {found.level:.0%} interval: the differences that the sign-flip test does not reject. p: that "
        "test of one comparison; max-T p: adjusted for all comparisons of this table, with their dependence; Holm p: "
        "adjusted without it. The test takes differences for as likely to be d as -d where systems are equal."
    ]
    if found.options.margin is not None:
        out.append(
            f"Same: both one-sided t tests against a margin of {found.options.margin:g} reject at "
            f"{found.options.alpha:g}."
        )
    return out


def sheet(
    found: Differences, title: str = "Differences", decimals: int | None = None, slug: str = "differences"
) -> Sheet | None:
    """Return the comparisons as a table, measure after measure; None without any."""
    if not found.rows:
        return None
    body, spans = [], []
    one_baseline = len({row.baseline for row in found.rows}) == 1
    head = f"minus {found.rows[0].baseline}" if one_baseline else "run minus baseline"
    for text in dict.fromkeys(row.key.text for row in found.rows):
        lines = []
        for row in found.rows:
            if row.key.text == text:
                spans.append(Value(row.interval.mean, row.interval.low, row.interval.high))
                p = [_p(row.p), _p(row.max_t), _p(row.holm)]
                same = list(_same(row.same)) if found.options.margin is not None else []
                name = row.run if one_baseline else f"{row.run} − {row.baseline}"
                lines.append(Line(name, [spans[-1], *p, *same]))
        body.append(Part(text, lines))
    columns = [Column("difference", "", decimals_of(spans) if decimals is None else decimals)]
    columns += [Column(name) for name in _header(found)[5:]]
    return Sheet(
        title,
        head,
        columns,
        body,
        [f"{_sentence(found)}.", *_explained(found), *sentences(found)],
        slug,
    )


def comma_separated(parts: Sequence[tuple[str, Differences]]) -> str:
    """Return one row a collection and comparison in full precision, empty where there is no value."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(("collection", *CSV_HEADER))
    for title, row, margin in ((title, row, found.options.margin) for title, found in parts for row in found.rows):
        one, two = row.same, row.same_drawn
        out.writerow(
            [
                title,
                row.key.text,
                row.run,
                row.baseline,
                row.interval.mean,
                row.interval.low,
                row.interval.high,
                row.units,
            ]
            + [row.p, row.max_t, row.holm, margin if one is not None else None]
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
