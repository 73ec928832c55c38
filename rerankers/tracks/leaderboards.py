"""The published result tables of the tracks, as data that is checked when it is read."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rerankers._base.errors import InputError, Problems, choose
from rerankers._base.files import read_lines

FOLDER = Path(__file__).with_name("tables")
INDEX = FOLDER / "tables.yaml"
TEXTS = ("run", "team", "note")
STATUS = ("official", "orientation", "order")
BETTER = ("lower", "higher")


@dataclass(frozen=True, slots=True)
class Entry:
    """One published run.

    Attributes
    ----------
    run
        its name.
    values
        column -> number as printed.
    about
        column -> text, for instance the team; may be empty.
    """

    run: str
    values: Mapping[str, float]
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A published table with what a reader has to know about it; ``tables/tables.yaml`` says what each word is.

    Attributes
    ----------
    name
        for instance ``trec2020-rerank``.
    entries
        the runs in the order of the table.
    decimals
        how many of them the table prints in the column by which runs are placed.
    """

    name: str
    title: str
    key: str
    column: str
    better: str
    presets: tuple[str, ...]
    units: int
    constant: Mapping[str, tuple[float, float]]
    status: str
    source: str
    caveats: tuple[str, ...]
    columns: Mapping[str, str]
    entries: tuple[Entry, ...]
    decimals: int


def leaderboards() -> tuple[str, ...]:
    """Return the names of all tables, by year and task."""
    return tuple(_index())


def leaderboard(name: str) -> Leaderboard:
    """Return a table by name.

    Raises
    ------
    ConfigError
        for a name that is none.
    """
    return read_leaderboard(choose("leaderboard", name, _index()), _index()[name], FOLDER)


def read_leaderboard(name: str, node: Mapping[str, Any], folder: Path) -> Leaderboard:
    """Read the table that an entry of the index describes.

    Parameters
    ----------
    name
        what it is called.
    node
        the entry.
    folder
        where the file is.

    Raises
    ------
    InputError
        with every problem: a header other than the columns of the entry, a run twice, a number that is none; or words
        of the entry that are none of those allowed.
    """
    path = folder / str(node["file"])
    problems = Problems(str(path))
    columns = {str(column): str(words) for column, words in node["columns"].items()}
    lines = [row for row in csv.reader(text for _, text in read_lines(path)) if row]
    for word, allowed in (("status", STATUS), ("better", BETTER), ("column", tuple(columns))):
        if node[word] not in allowed:
            problems.add(None, f"{word} {node[word]!r}", f"one of {', '.join(allowed)}")
    if not lines or lines[0] != list(columns) or lines[0][0] != "run":
        problems.add(1, f"the header {lines[0] if lines else 'of an empty file'}", ",".join(columns))
    problems.raise_if_any()
    rows = [dict(zip(columns, row, strict=False)) for row in lines[1:]]
    entries = tuple(_entry(line, row, columns, problems) for line, row in enumerate(rows, 2))
    for line, entry in enumerate(entries, 2):
        if entry in entries[: line - 2] or entry.run in {other.run for other in entries[: line - 2]}:
            problems.add(line, f"run {entry.run!r} again", "each run once")
    problems.raise_if_any()
    return Leaderboard(
        name=name,
        title=str(node["title"]),
        key=str(node["key"]),
        column=str(node["column"]),
        better=str(node["better"]),
        presets=tuple(node["presets"]),
        units=int(node["units"]),
        constant={key: (float(value), float(within)) for key, (value, within) in node["constant"].items()},
        status=str(node["status"]),
        source=str(node["source"]),
        caveats=tuple(node["caveats"]),
        columns=columns,
        entries=entries,
        decimals=max(len(row[str(node["column"])].partition(".")[2]) for row in rows),
    )


def _entry(line: int, row: Mapping[str, str], columns: Mapping[str, str], problems: Problems) -> Entry:
    values: dict[str, float] = {}
    for column in columns:
        text = row.get(column)
        if text is None:
            problems.add(line, f"{len(row)} fields", f"{len(columns)}")
            break
        if column not in TEXTS:
            values[column] = _number(text)
            if not math.isfinite(values[column]):
                problems.add(line, f"{column} {text!r}", "a number")
    about = {column: row[column] for column in TEXTS if column != "run" and column in row}
    return Entry(row["run"], values, about)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@cache
def _index() -> Mapping[str, Mapping[str, Any]]:
    import yaml

    found = yaml.safe_load("\n".join(text for _, text in read_lines(INDEX)))
    if not isinstance(found, dict):
        raise InputError.one(str(INDEX), f"{type(found).__name__}", "names with their tables")
    return found
