"""The end of a sweep: one table of its points, the same as ``sweep.csv``, what failed, and what to type next."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import FairRerankersError
from rerankers._base.files import write_text
from rerankers.stages import sweep_states
from rerankers.stages.sweep_states import DONE, FAILED, NOT_RUN, THERE, State
from rerankers.stages.sweep_value import directions, read_means

if TYPE_CHECKING:
    from rich.console import Console

    from rerankers.report.keys import Key

CSV_FILE = "sweep.csv"
_WIDEST = 120


@dataclass(frozen=True, slots=True)
class Row:
    """A point, or one of several systems that it measured, with its means."""

    state: State
    system: str
    means: Mapping[str, float | None]


def finish(
    folder: Path,
    command: str,
    names: Sequence[str],
    words: Sequence[tuple[str, ...]],
    stopped: str | None = None,
    keys: Sequence[str] = (),
) -> int:
    """Write ``sweep.csv``, print the table, warnings and failures, and return the highest exit code.

    Parameters
    ----------
    folder
        of the sweep.
    command
        of its points.
    names, words
        of the points, in their order.
    stopped
        what ended the sweep before its points, None where nothing did.
    keys
        the measures that are optimised.
    """
    noted = sweep_states.read(folder)
    states = [noted.get(name, State(name, own, NOT_RUN)) for name, own in zip(names, words, strict=True)]
    rows = [row for state in states for row in _rows(folder, state)]
    columns = list(dict.fromkeys(key for state in states for key in sweep_states.short(state.words)))
    unwritten = _written(folder, _comma_separated(rows, columns)) if rows else None
    if rows:
        _print(rows, columns)
    _print_warnings(folder, states)
    _print_best(states, keys)
    for state in states:
        if state.state == FAILED:
            print(f"fair-rerank {command}: {sweep_states.told(state)}: {state.error}", file=sys.stderr)
    missing = [state.name for state in states if state.state == NOT_RUN]
    if stopped is not None:
        print(f"fair-rerank {command}: the sweep stopped: {stopped}", file=sys.stderr)
    if missing:
        print(
            f"fair-rerank {command}: {len(missing)} of {len(states)} points have not run; the same command runs them",
            file=sys.stderr,
        )
    if unwritten is not None:
        print(f"fair-rerank {command}: {unwritten}", file=sys.stderr)
    elif rows:
        print(f"sweep: {folder / CSV_FILE} ({_counted(states)})")
    if sum(bool(row.means) for row in rows) > 1:
        print(f"compare: fair-rerank compare {shlex.quote(str(folder))}")
    codes = [state.code for state in states]
    codes += [] if unwritten is None else [unwritten.exit_code]
    return max([*codes, FairRerankersError.exit_code if stopped is not None or missing else 0], default=0)


def _written(folder: Path, text: str) -> FairRerankersError | None:
    """Write ``sweep.csv``; return what is in the way, so that what became of the points is told all the same."""
    try:
        write_text(folder / CSV_FILE, text)
    except FairRerankersError as error:
        return error
    return None


def _rows(folder: Path, state: State) -> list[Row]:
    if state.state not in (DONE, THERE):
        return [Row(state, "", {})]
    found = read_means(folder / state.name)
    return [Row(state, system, means) for system, means in found.items()] or [Row(state, "", {})]


def _several(rows: Sequence[Row]) -> bool:
    """Whether points have several systems, so that a column has to tell them apart."""
    return len({row.state.name for row in rows}) < len(rows)


def _comma_separated(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return all means but placebos and their like; an empty field is a mean that there is not."""
    from rerankers.report.keys import parse

    keys = [key for key in dict.fromkeys(key for row in rows for key in row.means) if not parse(key).part]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["point", *columns, "system", "state", "seconds", *keys, "exit_code", "error"])
    for row in rows:
        values = sweep_states.short(row.state.words)
        means = ["" if row.means.get(key) is None else repr(row.means[key]) for key in keys]
        seconds = "" if row.state.seconds is None else row.state.seconds
        own = [row.state.name, *(values.get(column, "") for column in columns), row.system, row.state.state, seconds]
        writer.writerow([*own, *means, row.state.code, " ".join(row.state.error.split())])
    return stream.getvalue()


def _print(rows: Sequence[Row], columns: Sequence[str], console: Console | None = None) -> None:
    """Print the table; measures that do not fit beside the others follow in further tables."""
    from rich.console import Console
    from rich.text import Text

    from rerankers.report.terminal import main_columns
    from rerankers.report.text import NOTHING, number

    console = console or Console(highlight=False)
    left = ["point", *columns, *(["system"] if _several(rows) else []), "state"]
    fixed = [_left_cells(row, columns, _several(rows)) for row in rows]
    keys = main_columns(list(dict.fromkeys(key for row in rows for key in row.means)))
    values = [[number(row.means.get(key.text)).replace(NOTHING, "-") for row in rows] for key in keys]
    heads = [_head(key, console.encoding) for key in keys]
    used = sum(max(len(text) for text in column) + 2 for column in zip(left, *fixed, strict=True))
    room = max(console.width if console.is_terminal else _WIDEST, used + 24) - used
    print()
    widths = [_width(head, cells) for head, cells in zip(heads, values, strict=True)]
    for place, chunk in enumerate(_chunks(widths, room) or [[]]):
        if place:
            print()
        table: Any = _table(left, fixed, [heads[one] for one in chunk], [values[one] for one in chunk], rows)
        wide = Console(file=console.file, width=max(console.width, used + room), highlight=False)
        wide.print(table, soft_wrap=False)
    if not keys:
        console.print(Text("no measures"))


def _table(
    left: Sequence[str],
    fixed: Sequence[Sequence[str]],
    heads: Sequence[str],
    values: Sequence[Sequence[str]],
    rows: Sequence[Row],
) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in left:
        table.add_column(Text(name), vertical="bottom", no_wrap=True)
    for head in heads:
        table.add_column(Text(head, justify="right"), justify="right", vertical="bottom", no_wrap=True)
    for place, row in enumerate(rows):
        style = {FAILED: "red", NOT_RUN: "yellow"}.get(row.state.state)
        cells = [*fixed[place], *(column[place] for column in values)]
        table.add_row(*(Text(cell) for cell in cells), style=style)
    return table


def _left_cells(row: Row, columns: Sequence[str], several: bool) -> list[str]:
    values = sweep_states.short(row.state.words)
    return [
        row.state.name,
        *(values.get(column, "-") for column in columns),
        *([row.system or "-"] if several else []),
        row.state.state,
    ]


def _head(key: Key, encoding: str) -> str:
    """Return a measure in lines: its attribute, its name, and which way is better."""
    arrow = {"higher": "↑", "lower": "↓"}.get(key.better, "")
    try:
        arrow.encode(encoding)
    except UnicodeEncodeError:
        arrow = {"↑": "(more)", "↓": "(less)"}[arrow]
    head = f"{key.label} {arrow}".strip()
    return head if key.attribute is None else f"{key.attribute or 'group'}\n{head}"


def _width(head: str, values: Sequence[str]) -> int:
    return max(len(line) for text in (head, *values) for line in text.split("\n")) + 2


def _chunks(widths: Sequence[int], room: int) -> list[list[int]]:
    found: list[list[int]] = []
    for place, width in enumerate(widths):
        if not found or sum(widths[one] for one in found[-1]) + width > room:
            found.append([])
        found[-1].append(place)
    return found


def _print_warnings(folder: Path, states: Sequence[State]) -> None:
    """Print the warnings that all points have, and where the others are."""
    ran = [state for state in states if state.state == DONE]
    found = sweep_states.gathered_warnings(ran)
    for warning, names in found.items():
        if len(names) == len(ran):
            print(f"warning (every point): {warning}")
    others = dict.fromkeys(name for names in found.values() if len(names) < len(ran) for name in names)
    if others:
        print(f"more warnings in {folder / 'N' / 'report.html'}, N = {', '.join(others)}")


def _print_best(states: Sequence[State], keys: Sequence[str]) -> None:
    """Print the best point, or of several measures those that no other is better than in all."""
    sides = directions(keys)
    found = [(state, _list(state.value)) for state in states if state.value is not None]
    if not keys or not all(sides) or not found:
        return
    signs = [1.0 if side == "maximize" else -1.0 for side in sides]
    worth = [[sign * value for sign, value in zip(signs, values, strict=True)] for _, values in found]
    for (state, values), own in zip(found, worth, strict=True):
        beaten = any(other != own and all(b >= a for a, b in zip(own, other, strict=True)) for other in worth)
        if not beaten:
            shown = ", ".join(f"{key} {value:.6g}" for key, value in zip(keys, values, strict=True))
            print(f"best: {sweep_states.told(state)}: {shown}")


def _list(value: float | list[float] | None) -> list[float]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _counted(states: Sequence[State]) -> str:
    found = {name: sum(state.state == name for state in states) for name in (DONE, THERE, FAILED, NOT_RUN)}
    several = {THERE: "were there"}
    return ", ".join(
        f"{number} {several.get(name, name) if number > 1 else name}" for name, number in found.items() if number
    )
