"""A ledger in one SQLite file: killed at any moment it keeps whole turns, and several processes take turns."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import ConfigError, InputError
from rerankers.ledger.ledger import Config, Ledger, Row, check_config, join_spans
from rerankers.ledger.marks import Mark, Marks
from rerankers.ledger.sqlite_file import (
    APPLICATION,
    TABLES,
    VERSION,
    check_rows,
    clear,
    packed,
    plain,
    queries,
    read_config,
    read_ledger,
    read_marks,
    read_names,
    unpacked,
)
from rerankers.ledger.store import CHUNK, Stretch, Turn, check_chunk, spans_of

_POLL = 0.0005  # seconds between two looks whether it is one's turn
_YIELD = 0.001  # seconds left to others after a turn


@dataclass(frozen=True, slots=True)
class SQLite:
    """Keep the ledger in a file that outlives the job.

    A job continues what the file has served: with the same configuration, candidates and entities, and sequences that
    begin as they did. Otherwise it is refused before anything is written. What is believed about relevance may change
    from job to job, as it does where feedback comes in: it is no part of the configuration, rankings that were served
    stay as they are, and later ones heed what is believed then.

    Attributes
    ----------
    path
        the file; it is made where there is none. It needs a file system with locks: no network drive.
    chunk
        impressions between two commits. No ranking depends on it.
    timeout
        seconds to wait for one's turn.
    """

    path: str = "ledger.sqlite"
    chunk: int = CHUNK
    timeout: float = 60.0

    def __post_init__(self) -> None:
        check_chunk(self.chunk)
        if not self.path or not self.timeout >= 0:
            raise ConfigError(f"ledger.path, timeout: found {self.path!r}, {self.timeout}; expected a path, 0 or more")

    def open(self, config: Config) -> SQLiteStore:
        """Open the file, or make it.

        Raises
        ------
        InputError
            for a ledger of another configuration, a file that is none, and one that cannot be written.
        """
        return SQLiteStore(Path(self.path), config, self.timeout)


class SQLiteStore:
    """See `rerankers.ledger.store.Store`. Write-ahead log, every commit synced to the disk."""

    def __init__(self, path: Path, config: Config, timeout: float = 60.0) -> None:
        self.path, self.config, self._timeout = path, dict(config), timeout
        self._seen = -1
        with clear(path):
            self._base = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._base.close()
            raise

    def _prepare(self) -> None:
        """Make the tables of a new file; check those of an old one."""
        with clear(self.path):
            self._patiently("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            self._patiently("BEGIN IMMEDIATE")
            try:
                known = self._base.execute("PRAGMA application_id").fetchone()[0]
                tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                if not tables:
                    self._make()
                elif known != APPLICATION:
                    raise InputError.one(str(self.path), "a database that is no ledger", "a ledger or no file")
                stored = read_config(self._base, self.path)
                check_rows(self._base, self.path)
                self._base.execute("COMMIT")
            except BaseException:
                self.rollback()
                raise
        check_config(str(self.path), stored, plain(self.config))

    def _make(self) -> None:
        for statement in (*TABLES, f"PRAGMA application_id={APPLICATION}", f"PRAGMA user_version={VERSION}"):
            self._base.execute(statement)
        self._base.execute("INSERT INTO config VALUES (?)", (json.dumps(plain(self.config), sort_keys=True),))

    def _patiently(self, statement: str) -> None:
        """Run a statement that needs the file for itself, as soon as nobody else has it."""
        end = time.monotonic() + self._timeout
        while True:
            try:
                self._base.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                    raise
                time.sleep(_POLL)
            else:
                return

    def begin(self) -> bool:
        """See `Store`."""
        with clear(self.path):
            self._patiently("BEGIN IMMEDIATE")
            version = int(self._base.execute("PRAGMA data_version").fetchone()[0])
        changed, self._seen = version != self._seen, version
        return changed

    def positions(self) -> dict[str, int]:
        """See `Store`."""
        with clear(self.path):
            return dict(self._base.execute("SELECT sequence, max(stop) FROM position GROUP BY sequence"))

    def marks(self) -> dict[str, Mark]:
        """See `Store`."""
        with clear(self.path):
            return read_marks(self._base)

    def asked(self, sequence: str, since: int) -> Iterator[tuple[int, list[str]]]:
        """See `Store`."""
        with clear(self.path):
            names = read_names(self._base)
            rows = self._base.execute(
                "SELECT first, query FROM ranking WHERE sequence=? AND first + length(query) / 4 > ? ORDER BY first",
                (sequence, since),
            )
            yield from ((first, queries(codes, names)) for first, codes in rows)

    def balances(self, accounts: Sequence[str]) -> tuple[dict[tuple[str, str], Row], dict[str, int]]:
        """See `Store`."""
        balances: dict[tuple[str, str], Row] = {}
        counts: dict[str, int] = {}
        with clear(self.path):
            for name in accounts:
                found = self._base.execute("SELECT impressions FROM account WHERE name=?", (name,)).fetchone()
                if found is None:
                    continue
                counts[name] = found[0]
                rows = self._base.execute("SELECT entity, served, due, touched FROM balance WHERE account=?", (name,))
                balances.update({(name, row[0]): row[1:] for row in rows})
        return balances, counts

    def commit(self, turn: Turn) -> None:
        """See `Store`."""
        spans = self._grown(turn.stretches)
        with clear(self.path):
            self._base.executemany(
                "INSERT INTO balance VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET served=excluded.served, due=excluded.due, touched=excluded.touched",
                ((*key, *row) for key, row in turn.balances.items()),
            )
            self._base.executemany("INSERT OR REPLACE INTO account VALUES (?, ?)", turn.counts.items())
            self._base.executemany("DELETE FROM position WHERE sequence=?", ((name,) for name in spans))
            self._base.executemany(
                "INSERT INTO position VALUES (?, ?, ?)",
                ((name, *span) for name, parts in spans.items() for span in parts),
            )
            codes = self._coded(turn.marks)
            rows = (packed(stretch, codes) for stretch in turn.stretches)
            self._base.executemany("INSERT INTO ranking VALUES (?, ?, ?, ?, ?)", rows)
            self._base.execute("COMMIT")
        time.sleep(_YIELD)

    def _coded(self, marks: Marks) -> dict[str, int]:
        """Return the codes of queries; those that are new are given one."""
        self._base.executemany(
            "INSERT INTO query (name, candidates, entities) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            ((name, *mark) for name, mark in marks.items()),
        )
        return {name: code for code, name in read_names(self._base).items()}

    def _grown(self, stretches: Sequence[Stretch]) -> dict[str, tuple[tuple[int, int], ...]]:
        """Return the spans of the sequences of some stretches, these included."""
        added = spans_of(stretches)
        known: dict[str, tuple[tuple[int, int], ...]] = {}
        for name in added:
            rows = self._base.execute("SELECT first, stop FROM position WHERE sequence=? ORDER BY first", (name,))
            known[name] = tuple((first, stop) for first, stop in rows)
        return join_spans([known, added])

    def rollback(self) -> None:
        """See `Store`."""
        self._seen = -1
        if self._base.in_transaction:
            self._base.execute("ROLLBACK")

    def stretches(self, sequences: Sequence[str]) -> Iterator[Stretch]:
        """See `Store`."""
        with clear(self.path):
            names = read_names(self._base)
            for name in sequences:
                rows = self._base.execute("SELECT * FROM ranking WHERE sequence=? ORDER BY first", (name,))
                yield from (unpacked(row, names) for row in rows)

    def ledger(self) -> Ledger:
        """See `Store`."""
        with clear(self.path):
            return read_ledger(self._base, self.path)

    def close(self) -> None:
        """Close the file; the log is folded into it by whoever closes it last."""
        self._base.close()

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
