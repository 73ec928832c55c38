"""The results on a terminal or in a log: systems by main measures, never wider than the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rerankers.report.keys import UTILITIES, Key, attributes, explained, in_order
from rerankers.report.tables import gaps, notes
from rerankers.report.text import NOTHING, cells, clean, interval, number, wrap

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from rerankers.report.data import ReportData

_WIDEST = 120
_NAME = 32  # cells of a system's name before it goes on in a second line
_GAP = 2  # cells before a column


def terminal_table(data: ReportData, console: Console | None = None, every: bool = False) -> None:
    """Print the main measures of every system.

    Where the columns do not fit side by side, further tables follow below; no number is ever cut. Without a
    terminal the text is plain. Missing values are ``-`` with the reason below.

    Parameters
    ----------
    console
        a rich console; by default standard output.
    every
        show every measure there is, not the main ones only.
    """
    from rich.console import Console
    from rich.text import Text

    console = console or Console(highlight=False)
    columns = [_column(data, key, console.encoding) for key in main_columns(data.keys, every)]
    names = [_plain(wrap(system, _NAME, 3), console.encoding) for system in data.systems]
    left = _width(["system", *names])
    room = min(console.width, _WIDEST) - left
    beyond = [] if every else _beyond(data, console.encoding, room)
    for title, part in (("", columns), ("What the groups explain:", beyond)):
        for place, chunk in enumerate(_chunks(part, room)):
            if place or title:
                console.print()
            if title and not place:
                console.print(Text(title), soft_wrap=True)
            for line in _lines(names, left, chunk, len(data.methods)):
                console.print(line, soft_wrap=True)
    shown = {column.key.text for column in [*columns, *beyond]}
    missing = notes(data, [gap for gap in gaps(data) if gap.measure in shown])
    if missing:
        console.print()
    for note in missing:
        text = f"-: {note.reason} ({'; '.join(note.places)})"
        console.print(Text(_plain(clean(text), console.encoding)), soft_wrap=True)


def main_columns(texts: Sequence[str], every: bool = False) -> list[Key]:
    """Return what a summary shows: main measures, no constants; documents first.

    Of several attributes only the losses are shown; the report has the rest, and so has ``every``.
    """
    if every:
        return list(in_order(texts))
    shown = [key for key in in_order(texts) if key.base != "EET" and not key.part]
    keys = [key for key in shown if key.main] or shown
    order = [None, *attributes(keys)]
    if len(order) > 2:
        keys = [key for key in keys if key.attribute is None or key.base == "EEL"]
    return sorted(keys, key=lambda key: order.index(key.attribute))


def _beyond(data: ReportData, encoding: str, room: int) -> list[_Column]:
    """Return the columns of placebos and excesses; nothing without any.

    The interval of an excess is beside it where there is room. Of several measures only excess and p-value are shown:
    the measures themselves stand above.
    """
    keys = in_order(data.keys)
    found = explained(keys)
    several = sum(key.part == "excess" for _, mine in found for key in mine) > 1
    utility = [key for key in keys if key.base in UTILITIES and key.attribute is None and not key.part][:1]
    columns = [_column(data, key, encoding) for key in (utility if found else [])]
    for key in (key for _, mine in found for key in mine):
        if key.part == "systematic" or (several and key.part not in ("excess", "excess_p")):
            continue
        columns.append(_column(data, key, encoding))
        if key.part == "excess_p":
            columns[-1] = replace(columns[-1], header=["p"], width=_GAP + _width(["p", *columns[-1].values]))
        if key.part == "excess" and not several:
            texts = [interval(data.interval(system, key.text)) or "-" for system in data.systems]
            head = [data.percent, "interval"]
            width = _GAP + _width([*head, *texts])
            columns += [_Column(key, head, texts, width)] if width <= room else []
    return columns


@dataclass(frozen=True, slots=True)
class _Column:
    """A key with the lines of its header, its values as text, and its width in cells, the gap before it included."""

    key: Key
    header: Sequence[str]
    values: Sequence[str]
    width: int


def _column(data: ReportData, key: Key, encoding: str) -> _Column:
    header = key.label.split(" ")
    if key.attribute is not None:
        name = wrap(key.attribute, 12, 2) or "group"
        header = [*_plain(name, encoding).split("\n"), *header]
    values = [number(data.mean(system, key.text)).replace(NOTHING, "-") for system in data.systems]
    return _Column(key, header, values, _GAP + _width([*header, *values]))


def _chunks(columns: Sequence[_Column], room: int) -> list[list[_Column]]:
    # no loss is shown without utility beside it, as long as both fit
    beside = [column for column in columns[:1] if column.key.base in UTILITIES]
    chunks: list[list[_Column]] = []
    for column in columns:
        if not chunks or sum(other.width for other in (*chunks[-1], column)) > room:
            fits = chunks and sum(other.width for other in (*beside, column)) <= room
            chunks.append(list(beside) if fits else [])
        chunks[-1].append(column)
    return chunks


def _lines(names: Sequence[str], left: int, columns: Sequence[_Column], methods: int) -> Iterable[Text]:
    from rich.text import Text

    rows = max(len(column.header) for column in columns)
    for row in range(rows):
        heads = [[*[""] * (rows - len(column.header)), *column.header][row] for column in columns]
        yield Text(_row("system" if row == rows - 1 else "", left, heads, columns), style="bold")
    yield Text("-" * (left + sum(column.width for column in columns)), style="dim")
    for place, name in enumerate(names):
        first, *more = name.split("\n")
        style = "bold" if place < methods else ""
        yield Text(_row(first, left, [column.values[place] for column in columns], columns), style=style)
        yield from (Text(f"  {line}", style=style) for line in more)


def _row(name: str, left: int, values: Iterable[str], columns: Iterable[_Column]) -> str:
    text = name + " " * (left - cells(name))
    for value, column in zip(values, columns, strict=True):
        text += " " * (column.width - cells(value)) + value
    return text.rstrip()


def _width(texts: Iterable[str]) -> int:
    return max(cells(line) for text in texts for line in text.split("\n"))


def _plain(text: str, encoding: str) -> str:
    # a log in a narrow encoding gets escapes instead of an error
    return text.encode(encoding, "backslashreplace").decode(encoding)
