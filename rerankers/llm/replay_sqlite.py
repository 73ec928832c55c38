"""A replay cache in an SQLite file, which any number of processes may share."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.files import unwritable
from rerankers.llm.records import Record, read_record

APPLICATION = 0x4652_4C52  # "FRLR", which says in the file that it holds replies
VERSION = 1
_TABLE = "CREATE TABLE reply (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, record TEXT NOT NULL)"
_KEYS = 500  # looked up at once
_WAIT = 60.0  # seconds for other writers


class SQLiteReplies:
    """A `rerankers.llm.records.Replies` in a database with a write-ahead log: a killed writer leaves whole records."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.place = str(path)
        self.damaged = 0
        self._path = path
        with self._clear():
            self._base = self._for_reading() if read_only else self._for_writing()

    def find(self, keys: Sequence[str]) -> dict[str, Record]:
        """Return key -> record of those that are there."""
        found: dict[str, Record] = {}
        with self._clear():
            for start in range(0, len(keys), _KEYS):
                part = list(keys[start : start + _KEYS])
                marks = ",".join("?" * len(part))
                query = f"SELECT record FROM reply WHERE key IN ({marks})"  # noqa: S608 - question marks alone
                found.update((record.key, record) for record in self._records(self._base.execute(query, part)))
        return found

    def add(self, records: Sequence[Record]) -> dict[str, Record]:
        """Keep records in one transaction; those that another process kept first stay."""
        with self._clear():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                self._base.executemany(
                    "INSERT INTO reply (key, record) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [(record.key, record.line()) for record in records],
                )
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise
        return self.find([record.key for record in records])

    def every(self) -> Iterable[Record]:
        """Yield all records, in the order in which they came."""
        with self._clear():
            yield from self._records(self._base.execute("SELECT record FROM reply ORDER BY number"))

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def _records(self, rows: Iterable[tuple[object]]) -> Iterator[Record]:
        for (text,) in rows:
            if not isinstance(text, str):  # SQLite takes values of any kind in every column
                raise self._unusable(f"a record that is a {type(text).__name__}")
            try:
                yield read_record(text)
            except ValueError as error:
                raise self._unusable(f"a record with {error}") from error

    def _for_writing(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab"):
                pass
        except OSError as error:
            raise unwritable(self._path, error) from error
        base = sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            self._set_up(base)
        except BaseException:
            base.close()
            raise
        return base

    def _set_up(self, base: sqlite3.Connection) -> None:
        until = time.monotonic() + _WAIT
        while base.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                base.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:  # this one does not wait for others by itself
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.02)
        base.execute("BEGIN IMMEDIATE")
        if base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            base.execute(_TABLE)
            base.execute(f"PRAGMA application_id = {APPLICATION}")
            base.execute(f"PRAGMA user_version = {VERSION}")
        base.execute("COMMIT")
        self._check(base)

    def _for_reading(self) -> sqlite3.Connection:
        # In a folder that may not be written the log's index cannot be made: without a log none is needed.
        log = self._path.with_name(f"{self._path.name}-wal")
        for mode in ("mode=ro", "immutable=1"):
            base = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?{mode}", uri=True, timeout=_WAIT, check_same_thread=False
            )
            try:
                self._check(base)
            except BaseException as error:
                base.close()
                if isinstance(error, sqlite3.OperationalError) and mode == "mode=ro" and not log.exists():
                    continue
                raise
            return base
        raise self._unusable("a file that cannot be opened")

    def _check(self, base: sqlite3.Connection) -> None:
        if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise self._unusable("a database that holds no replies")
        version = base.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise self._unusable(f"version {version}; this package keeps version {VERSION}")

    def _unusable(self, found: str) -> InputError:
        return InputError.one(
            self.place, found, "a replay cache", mend="Take another file with llm.cache=FILE, or bring back a copy."
        )

    @contextmanager
    def _clear(self) -> Iterator[None]:
        """Turn what SQLite says into what can be done about it."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if any(word in text for word in ("readonly", "full", "unable to open", "disk I/O")):
                raise ConfigError(
                    f"{self.place}: cannot be written ({text}); expected a place that may be written and has room. "
                    "Choose another with llm.cache=FILE."
                ) from error
            if "locked" in text:
                raise ConfigError(f"{self.place}: another process has held it for {_WAIT:g} s. Wait for it.") from error
            raise self._unusable(f"a damaged or foreign file ({text})") from error
