"""The file that a ledger is kept in: its tables, reading it, and what can go wrong with it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rerankers._base.errors import InputError, MissingError
from rerankers._base.json_text import parse_json
from rerankers.ledger.ledger import Config, Ledger, join_spans
from rerankers.ledger.marks import Mark
from rerankers.ledger.store import Stretch

APPLICATION = 0x46524C44  # "FRLD", which says in the file that it is a ledger
VERSION = 2
TABLES = (
    "CREATE TABLE config (json TEXT NOT NULL)",
    "CREATE TABLE account (name TEXT PRIMARY KEY, impressions INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE balance (account TEXT NOT NULL, entity TEXT NOT NULL, served INTEGER NOT NULL,"
    " due INTEGER NOT NULL, touched INTEGER NOT NULL, PRIMARY KEY (account, entity)) WITHOUT ROWID",
    "CREATE TABLE position (sequence TEXT NOT NULL, first INTEGER NOT NULL, stop INTEGER NOT NULL,"
    " PRIMARY KEY (sequence, first)) WITHOUT ROWID",
    "CREATE TABLE query (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, candidates TEXT NOT NULL,"
    " entities TEXT NOT NULL)",
    "CREATE TABLE ranking (sequence TEXT NOT NULL, first INTEGER NOT NULL, query BLOB NOT NULL, length BLOB NOT NULL,"
    " item BLOB NOT NULL, PRIMARY KEY (sequence, first))",
)

_SOUND = {
    "config": ("text(json)",),
    "account": ("text(name)", "integer(impressions)", "impressions >= 0"),
    "balance": ("text(account)", "text(entity)", "integer(served)", "integer(due)", "integer(touched)"),
    "position": ("text(sequence)", "integer(first)", "integer(stop)", "0 <= first AND first < stop"),
    "query": ("integer(code)", "text(name)", "text(candidates)", "text(entities)"),
    "ranking": (
        *("text(sequence)", "integer(first)", "blob(query)", "blob(length)", "blob(item)"),
        *("length(query) = length(length)", "length(query) % 4 = 0", "length(item) % 4 = 0"),
    ),
}
"""Table -> what holds in every row; ``kind(column)`` says of which kind its values are."""


def check_rows(base: sqlite3.Connection, path: Path) -> None:
    """Raise `InputError` for rows that no ledger has: SQLite itself takes values of any kind in every column."""
    for table, rules in _SOUND.items():
        tests = [re.sub(r"^(text|integer|blob)\((\w+)\)$", r"typeof(\2) = '\1'", rule) for rule in rules]
        sound = " AND ".join(f"({test})" for test in tests)
        query = f"SELECT count(*) FROM {table} WHERE ({sound}) IS NOT TRUE"  # noqa: S608 - our own words alone
        wrong = base.execute(query).fetchone()[0]
        if wrong:
            raise _damaged(path, f"{wrong} rows of the table {table} with values that do not belong there")


def _damaged(path: Path, found: str) -> InputError:
    return InputError.one(str(path), found, "a ledger as it was written", mend="Bring back a copy, or take a new one.")


def read_config(base: sqlite3.Connection, path: Path) -> dict[str, object]:
    """Return what a ledger was kept with; `InputError` for a form of another version."""
    version = base.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        mend = "Take a new ledger: another version of the package keeps them in another form."
        raise InputError.one(str(path), f"a ledger of version {version}", f"version {VERSION}", mend=mend)
    row = base.execute("SELECT json FROM config").fetchone()
    try:
        stored: object = parse_json(row[0])
    except (TypeError, ValueError) as error:
        raise _damaged(path, f"no configuration ({error})") from error
    if not isinstance(stored, dict):
        raise _damaged(path, f"a configuration that is a {type(stored).__name__}")
    return stored


def read_ledger(base: sqlite3.Connection, path: Path) -> Ledger:
    """Return the ledger of an open file."""
    balances = {(row[0], row[1]): row[2:] for row in base.execute("SELECT * FROM balance")}
    spans = [{name: ((first, stop),)} for name, first, stop in base.execute("SELECT * FROM position")]
    counts = dict(base.execute("SELECT name, impressions FROM account"))
    return Ledger.of(read_config(base, path), balances, counts, join_spans(spans), read_marks(base))


def read_marks(base: sqlite3.Connection) -> dict[str, Mark]:
    """Return the marks of all queries that were served."""
    return {name: Mark(*mark) for name, *mark in base.execute("SELECT name, candidates, entities FROM query")}


def read_names(base: sqlite3.Connection) -> dict[int, str]:
    """Return code -> query."""
    return dict(base.execute("SELECT code, name FROM query"))


def open_ledger(path: Path) -> Ledger:
    """Read the ledger of a file without changing it, while others may write to it.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        for a file that is no ledger.
    """
    if not path.is_file():
        raise MissingError(f"{path}: found no file; expected a ledger, as method runs with ledger=sqlite leave it")
    with clear(path):
        base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60.0, isolation_level=None)
        try:
            if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise InputError.one(str(path), "a file that is no ledger", "a ledger")
            base.execute("BEGIN")  # one state throughout
            check_rows(base, path)
            return read_ledger(base, path)
        finally:
            base.close()


@contextmanager
def clear(path: Path) -> Iterator[None]:
    """Turn what SQLite says into what can be done about it."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        hints = {
            "locked": "Another process holds it: wait, or raise ledger.timeout.",
            "readonly": "Make the file and its folder writable, or take another ledger.path.",
            "unable to open": "Is the folder there, and may it be written?",
            "full": "Make room; the ledger holds all turns that were committed, and the job resumes there.",
            "not a database": "Take another ledger.path.",
        }
        mend = next((hint for word, hint in hints.items() if word in text), "")
        raise InputError.one(
            str(path), f"a ledger that cannot be used ({text})", "a file to write to", mend=mend
        ) from (error)


def plain(config: Config) -> dict[str, object]:
    """Return a configuration as it comes back from JSON."""
    plain: dict[str, object] = json.loads(json.dumps(dict(config)))
    return plain


def packed(stretch: Stretch, codes: Mapping[str, int]) -> tuple[str, int, bytes, bytes, bytes]:
    """Return a stretch as a row of the table."""
    query = np.array([codes[name] for name in stretch.query], dtype=np.int32)
    parts = [part.astype("<i4").tobytes() for part in (query, stretch.length, stretch.item)]
    return stretch.sequence, stretch.first, parts[0], parts[1], parts[2]


def unpacked(row: tuple[str, int, bytes, bytes, bytes], names: Mapping[int, str]) -> Stretch:
    """Return a row of the table as a stretch."""
    length, item = (np.frombuffer(part, dtype="<i4").astype(np.int32) for part in row[3:])
    return Stretch(row[0], row[1], queries(row[2], names), length, item)


def queries(codes: bytes, names: Mapping[int, str]) -> list[str]:
    """Return the names of packed queries."""
    found = np.frombuffer(codes, dtype="<i4").tolist()
    unknown = next((code for code in found if code not in names), None)
    if unknown is not None:
        raise InputError.one("ledger", f"rankings of a query number {unknown} without a name", "it as written")
    return [names[code] for code in found]
