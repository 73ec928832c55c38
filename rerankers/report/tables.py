"""The results tables: systems by measures, with intervals, and a note for every missing value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING

from rerankers.report.data import decoded
from rerankers.report.keys import Key, attributes, bare_is_group_loss, explained, find, in_order, parse
from rerankers.report.text import interval, number, words

if TYPE_CHECKING:
    from rerankers.report.data import ReportData
    from rerankers.report.extras import Optimum

_NO_MEAN = "not computed for this system"
_NO_PART = {"systematic_share": "the loss is 0, or has no value", "excess_p": "no labels were shuffled, or no value"}
_OVER_SEEDS = "has no mean over seeds (seeds=apart shows it seed by seed)"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number as shown; ``marks`` are the letters of its notes, ``reason`` the text on hover."""

    value: str
    interval: str = ""
    marks: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One table: a title, its columns and, for each system, one cell a column; ``optimum`` the same of fronts."""

    title: str
    columns: Sequence[Key]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    optimum: Sequence[tuple[str, Sequence[Cell]]] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """A value that is missing for some units of one system and measure."""

    system: str
    measure: str
    reason: str
    missing: int
    units: int


@dataclass(frozen=True, slots=True)
class Note:
    """One reason for missing values: its letter, the reason and where it applies."""

    mark: str
    reason: str
    places: Sequence[str]


def gaps(data: ReportData) -> list[Gap]:
    """Return every missing value of the results, counted by system, measure and reason."""
    import pyarrow.compute as pc

    found: list[Gap] = []
    told: set[tuple[str, str]] = set()
    lost = decoded(data.measures.filter(pc.is_null(data.measures["value"], nan_is_null=True)))
    if len(lost):
        units = _units(data)
        counted = lost.group_by(["system", "measure", "reason"], use_threads=False).aggregate(
            [("unit", "count_distinct")]
        )
        for row in counted.to_pylist():
            place = (row["system"], row["measure"])
            told.add(place)
            reason = words(row["reason"]) if row["reason"] else "no reason given"
            found.append(Gap(*place, reason, row["unit_count_distinct"], units[place]))
    absent = [
        Gap(system, key, _absent(data, system, key), 0, 0)
        for system in data.systems
        for key in data.keys
        if data.mean(system, key) is None and (system, key) not in told
    ]
    keys = {key.text: place for place, key in enumerate(in_order(data.keys))}
    systems = {system: place for place, system in enumerate(data.systems)}
    return sorted(
        (gap for gap in (*found, *absent) if gap.system in systems),
        key=lambda gap: (keys.get(gap.measure, len(keys)), systems[gap.system], gap.reason),
    )


def _absent(data: ReportData, system: str, key: str) -> str:
    """Say why a system has no mean of a measure that no single value is missing of."""
    part = parse(key).part
    return _OVER_SEEDS if part in _NO_PART and system in data.over_seeds else _NO_PART.get(part, _NO_MEAN)


def _units(data: ReportData) -> dict[tuple[str, str], int]:
    counted = data.measures.group_by(["system", "measure"], use_threads=False).aggregate([("unit", "count_distinct")])
    return {(row["system"], row["measure"]): row["unit_count_distinct"] for row in counted.to_pylist()}


def notes(data: ReportData, found: Sequence[Gap]) -> list[Note]:
    """Return one note a reason, each saying for which measures, queries and systems it holds."""
    by_reason: dict[str, list[Gap]] = defaultdict(list)
    for gap in found:
        by_reason[gap.reason].append(gap)
    return [
        Note(_mark(index), reason, _places(data, gap_list))
        for index, (reason, gap_list) in enumerate(by_reason.items())
    ]


def _mark(index: int) -> str:
    high, low = divmod(index, len(ascii_lowercase))
    return (ascii_lowercase[high - 1] if high else "") + ascii_lowercase[low]


def _places(data: ReportData, found: Iterable[Gap]) -> list[str]:
    # measures that lack the same number of queries for the same systems share a line
    systems: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for gap in found:
        systems[gap.measure, gap.missing, gap.units].append(gap.system)
    measures: dict[tuple[int, int, tuple[str, ...]], list[str]] = defaultdict(list)
    for (measure, missing, units), named in systems.items():
        measures[missing, units, tuple(sorted(named, key=data.systems.index))].append(measure)
    return [_place(data, names, *key) for key, names in measures.items()]


def _place(data: ReportData, names: Sequence[str], missing: int, units: int, systems: Sequence[str]) -> str:
    who = "every system" if len(systems) == len(data.systems) else ", ".join(systems)
    how_many = f"{missing} of {units} {data.units}, " if missing else ""
    return f"{', '.join(key.text for key in in_order(names))}: {how_many}{who}"


def result_tables(data: ReportData) -> tuple[list[ResultTable], list[Note]]:
    """Return one table of what users and documents get and one for each attribute, and the notes of all of them.

    A group table begins with utility: no group loss stands without it.
    """
    found = gaps(data)
    named = notes(data, found)
    marks = {note.reason: note.mark for note in named}
    by_place: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for gap in found:
        by_place[gap.system, gap.measure].append(gap)
    tables = []
    for title, columns in sections(data):
        rows = [
            (system, [_cell(data, system, key, by_place[system, key.text], marks) for key in columns])
            for system in data.systems
        ]
        tables.append(ResultTable(title, columns, rows, _optimum(data, columns)))
    return tables, named


def _optimum(data: ReportData, columns: Sequence[Key]) -> list[tuple[str, list[Cell]]]:
    """Return the rows of fronts in a table with their loss: nothing but utility and loss is known of them."""
    loss = next((key for key in columns if key.base == "EEL" and not key.part), None)
    if loss is None or any(key.part for key in columns):
        return []
    return [
        (f"{one.front} at {one.at}", [_of_front(one, key, loss) for key in columns])
        for one in data.extras.optima
        if one.groups == (loss.attribute is not None)
    ]


def _of_front(one: Optimum, key: Key, loss: Key) -> Cell:
    if key.base == "utility":
        return Cell(number(one.utility))
    if key != loss:
        return Cell("", reason="not a point of its own: a mixture of the front's policies")
    if one.loss is None:
        return Cell(number(None), reason="the front does not reach this utility")
    return Cell(number(one.loss), interval(one.interval))


def sections(data: ReportData) -> list[tuple[str, list[Key]]]:
    """Divide the keys into (title, columns): utility and documents, groups by attribute, then what groups explain."""
    keys = in_order(data.keys)
    title = "Utility and groups" if bare_is_group_loss(keys) else "Utility and exposure of documents"
    documents = [key for key in keys if key.attribute is None and not key.part]
    others = [key for key in documents if not key.main]
    parts = [(title, [key for key in documents if key.main]), ("Other measures", others)]
    beside = find(keys, "utility", None) or find(keys, "nDCG", None)
    for attribute in attributes(keys):
        columns = [key for key in keys if key.attribute == attribute and not key.part]
        name = data.attribute_name(attribute)
        title = f"Exposure of groups: {name}" if name else "Exposure of groups"
        parts.append((title, [beside, *columns] if beside and columns else columns))
    for of, columns in explained(keys):
        name = data.attribute_name(of or "")
        title = f"What the groups explain: {name}" if name else "What the groups explain"
        parts.append((title, [beside, *(key for key in columns if key != beside)] if beside else columns))
    return [(title, columns) for title, columns in parts if columns]


def _cell(data: ReportData, system: str, key: Key, found: Sequence[Gap], marks: dict[str, str]) -> Cell:
    reason = "; ".join(
        f"{gap.reason} ({gap.missing} of {gap.units} {data.units})" if gap.missing else gap.reason for gap in found
    )
    return Cell(
        number(data.mean(system, key.text)),
        interval(data.interval(system, key.text)),
        ",".join(sorted(marks[gap.reason] for gap in found)),
        reason,
    )
