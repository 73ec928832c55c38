"""The tables of a comparison, whatever they are written as: main table, all measures, optimum, seeds, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.report.comparison_table import (
    BETTER,
    OTHER,
    WORSE,
    Column,
    Line,
    Part,
    Sheet,
    Value,
    decimals_of,
    written,
)
from rerankers.report.data import ANCHORS
from rerankers.report.keys import Key
from rerankers.report.tables import sections as measure_sections
from rerankers.stages.compare_optimum import SHARE
from rerankers.stages.sweeps import UTILITY

if TYPE_CHECKING:
    from rerankers.report import ReportData
    from rerankers.stages.compare_optimum import Optimum
    from rerankers.stages.compare_options import TableOptions
    from rerankers.stages.compare_rows import Row
    from rerankers.stages.compare_sections import Section
    from rerankers.stages.differences import Difference, Differences

SEEDS, TIER = "seeds", "tier"


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A section with what is known of it.

    Attributes
    ----------
    section
        its rows.
    report
        the same in the form that the terminal's tables are made of.
    against
        paired differences.
    best
        the optimum.
    letters
        (row, measure) -> letters of the notes on missing values.
    marks
        (row, measure) -> ``better``, ``worse`` or ``other`` than the baseline (`marks_of`).
    """

    section: Section
    report: ReportData
    against: Differences
    best: Optimum
    letters: Mapping[tuple[str, str], str] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)


def main_sheet(parts: Sequence[Shown], keys: Sequence[Key], options: TableOptions) -> Sheet:
    """Return the table of a paper: for every collection its runs, its anchors and its fronts.

    Parameters
    ----------
    keys
        its measures.
    """
    columns = _columns(parts, keys, options)
    runs_of = [row for one in parts for row in one.section.runs]
    told = [SEEDS] if any(row.seeds > 1 for row in runs_of) else []
    told += [TIER] if len({row.tier for row in runs_of}) > 1 else []
    body = []
    for one in parts:
        title = one.section.title if len(parts) > 1 else ""
        runs = [_line(one, row, keys, told) for row in one.section.runs]
        body.append(Part(title, _with_best(runs, columns, len(told), options)))
        anchors = [_line(one, row, keys, told, row.name.removeprefix(ANCHOR)) for row in _anchors(one.section)]
        if anchors:
            body.append(Part("anchors", anchors, runs=False))
        fronts = _front_lines(one.best, keys, told)
        if fronts:
            body.append(Part(f"best that can be had with {SHARE:.0%} of the static utility", fronts, runs=False))
    return Sheet("Results", "system", [*(Column(name) for name in told), *columns], body, slug="results")


def measure_sheets(one: Shown, options: TableOptions, several: bool) -> list[Sheet]:
    """Return tables of all measures of a section."""
    out = []
    for title, keys in measure_sections(one.report):
        columns = _columns([one], keys, options)
        rows = [*one.section.runs, *_anchors(one.section)]
        runs = [_line(one, row, keys, ()) for row in rows if not row.is_anchor]
        anchors = [_line(one, row, keys, ()) for row in rows if row.is_anchor]
        body = [Part("", _with_best(runs, columns, 0, options))]
        body += [Part("", anchors, runs=False)] if anchors else []
        out.append(Sheet(f"{one.section.title}: {title}" if several else title, "system", columns, body))
    return out


def seed_sheet(parts: Sequence[Shown], keys: Sequence[Key], options: TableOptions) -> Sheet | None:
    """Return the standard deviations of means over seeds; None where no row has several."""
    columns = [
        replace(column, better="", decimals=min(12, column.decimals + 1)) for column in _columns(parts, keys, options)
    ]
    body = []
    for one in parts:
        lines = [
            Line(row.name, [str(row.seeds), *(Value(row.spread.get(key.text)) for key in keys)])
            for row in one.section.runs
            if row.seeds > 1
        ]
        if lines:
            body.append(Part(one.section.title if len(parts) > 1 else "", lines))
    if not body:
        return None
    notes = ["Standard deviation of the mean over queries, from seed to seed (one less than the seeds in its divisor)."]
    return Sheet("Spread over seeds", "system", [Column(SEEDS), *columns], body, notes, "seeds")


def optimum_sheet(parts: Sequence[Shown], options: TableOptions) -> Sheet | None:
    """Return how far runs lie above the fronts of their own jobs; None without fronts."""
    body = []
    for one in parts:
        title = f"{one.section.title}: " if len(parts) > 1 else ""
        for loss, front in dict.fromkeys((found.loss, found.front) for found in one.best.distances):
            lines = [
                Line(found.run, [Value(found.utility), Value(found.value), Value(found.least),
                                 Value(found.above, found.low, found.high)])
                for found in one.best.distances
                if (found.loss, found.front) == (loss, front)
            ]  # fmt: skip
            body.append(Part(f"{title}{loss}, {front}", lines))
    if not body:
        return None
    above = [line.cells[3] for part in body for line in part.lines]
    decimals = (
        options.decimals
        if options.decimals is not None
        else decimals_of([one for one in above if isinstance(one, Value)])
    )
    columns = [Column(title, "", decimals) for title in ("utility", "loss", "least loss at that utility", "above")]
    notes = [
        "A front is the best for each weight of utility, by what is known: the judgments (oracle), the truth behind a "
        "generated world (true), or what methods believe (plug-in). – where a run has more utility than the front."
    ]
    return Sheet("Distance from the optimum", "system", columns, body, notes, "optimum")


def mark_of(row: Difference, against: Differences, correction: str) -> str:
    """Return ``better``, ``worse`` or ``other`` for a difference that the test tells from 0, else ``""``."""
    p = {"max_t": row.max_t, "holm": row.holm, "none": row.p}[correction]
    mean = row.interval.mean
    if p > against.options.alpha or not mean:
        return ""
    if not row.key.better:
        return OTHER
    return BETTER if (mean > 0) == (row.key.better == "higher") else WORSE


def marks_of(against: Differences, correction: str) -> dict[tuple[str, str], str]:
    """Return (run, measure) -> mark of its difference to the baseline."""
    baseline = against.baseline
    return {
        (row.run, row.key.text): mark
        for row in against.rows
        if row.baseline == baseline and (mark := mark_of(row, against, correction))
    }


def title_of(key: Key) -> str:
    """Return what heads a measure's column: the attribute of groups behind it."""
    if key.attribute is None:
        return key.label
    return f"{key.label} ({key.attribute})" if key.attribute else f"group {key.label}"


def _columns(parts: Sequence[Shown], keys: Sequence[Key], options: TableOptions) -> list[Column]:
    out = []
    for key in keys:
        values = [_value(row, key) for one in parts for row in one.section.runs]
        decimals = decimals_of(values) if options.decimals is None else options.decimals
        out.append(Column(title_of(key), key.better, decimals))
    return out


def _value(row: Row, key: Key) -> Value:
    pair = row.intervals.get(key.text)
    low, high = (None, None) if pair is None else (pair[0], pair[1])
    return Value(row.means.get(key.text), low, high)


def _line(one: Shown, row: Row, keys: Sequence[Key], told: Sequence[str], name: str = "") -> Line:
    about = {SEEDS: str(row.seeds), TIER: row.tier.replace("_", " ")}
    cells: list[Value | str] = [about[one] for one in told]
    for key in keys:
        place = (row.name, key.text)
        cells.append(replace(_value(row, key), mark=one.marks.get(place, ""), note=one.letters.get(place, "")))
    return Line(name or row.name, cells)


def _with_best(lines: Sequence[Line], columns: Sequence[Column], before: int, options: TableOptions) -> list[Line]:
    """Mark the best number of each column among runs, those that read the same too; nothing for a single run."""
    cells = [list(line.cells) for line in lines]
    for place, column in enumerate(columns, before):
        own = [row[place] for row in cells]
        known = [one.mean for one in own if isinstance(one, Value) and one.mean is not None]
        if not column.better or len(known) < 2:
            continue
        best = written(max(known) if column.better == "higher" else min(known), column.decimals)
        for row, value in zip(cells, own, strict=True):
            if isinstance(value, Value) and value.mean is not None and written(value.mean, column.decimals) == best:
                row[place] = replace(value, best=True)
    return [Line(line.name, row) for line, row in zip(lines, cells, strict=True)]


def _anchors(section: Section) -> list[Row]:
    rank = {ANCHOR + name: place for place, name in enumerate(ANCHORS)}
    return sorted((row for row in section.rows if row.is_anchor), key=lambda row: rank.get(row.system, len(rank)))


def _front_lines(best: Optimum, keys: Sequence[Key], told: Sequence[str]) -> list[Line]:
    out = []
    for found in best.points:
        if found.loss not in {key.text for key in keys}:
            continue
        reached = found.point.loss is not None
        cells: list[Value | str] = [""] * len(told)
        for key in keys:
            if key.text == UTILITY:
                cells.append(Value(found.point.utility if reached else None))
            elif key.text == found.loss:
                cells.append(Value(found.point.loss, found.point.low, found.point.high))
            else:
                cells.append("")
        out.append(Line(found.name, cells))
    return out
