"""A replay cache of JSON lines: read whole, appended line by line under a lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import COMPRESSED, open_bytes, read_lines, unwritable
from rerankers.llm.records import Record, read_record


class JSONLReplies:
    """A `rerankers.llm.records.Replies` in a file of lines.

    A last line without its end that is no record is what a killed writer left: it is counted in ``damaged``, and
    whoever writes next takes it off. Any other line that is no record is an `InputError` with its number.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.place = str(path)
        self.damaged = 0
        self._path = path
        self._records: dict[str, Record] = {}
        self._end = 0  # bytes that were read
        self._line = 0
        self._ended = True  # whether the last record that was read has its line end
        self._file: int | None = None
        if not read_only:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise unwritable(path, error) from error
        if path.name.endswith(COMPRESSED):
            self._take([text for _, text in read_lines(path)])
        else:
            with open_bytes(path) as stream:
                # Not in the middle of another's writing. Where files cannot be locked nobody can write here either.
                with suppress(OSError):
                    fcntl.flock(stream.fileno(), fcntl.LOCK_SH)
                self._read(stream.read())

    def find(self, keys: Sequence[str]) -> dict[str, Record]:
        """Return key -> record of those that are there."""
        return {key: self._records[key] for key in keys if key in self._records}

    def add(self, records: Sequence[Record]) -> dict[str, Record]:
        """Append records; those that another process appended first are kept instead."""
        if self._file is None:
            raise RuntimeError(f"{self.place} was opened for reading")
        with self._locked(self._file):
            self._catch_up(self._file)
            new = {record.key: record for record in records if record.key not in self._records}
            if new:
                lines = "".join(f"{record.line()}\n" for record in new.values())
                self._append(self._file, (lines if self._ended else f"\n{lines}").encode())
                self._ended = True
            self._records.update(new)
            self._line += len(new)
        return {record.key: self._records[record.key] for record in records}

    def every(self) -> Iterable[Record]:
        """Yield all records, in the order of the lines."""
        return iter(self._records.values())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @contextmanager
    def _locked(self, file: int) -> Iterator[None]:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        except OSError as error:
            raise unwritable(self._path, error) from error
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _catch_up(self, file: int) -> None:
        """Read what others have appended, and take off a line that one of them did not finish."""
        size = os.fstat(file).st_size
        if size > self._end:
            before = self.damaged
            self._read(os.pread(file, size - self._end, self._end))
            self.damaged = before  # seen before, or taken off now
        if os.fstat(file).st_size > self._end:
            os.ftruncate(file, self._end)

    def _append(self, file: int, lines: bytes) -> None:
        written = 0
        try:
            while written < len(lines):
                written += os.write(file, lines[written:])
            os.fsync(file)
        except OSError:
            os.ftruncate(file, self._end)  # no half line stays where the disk is full
            raise
        self._end += len(lines)

    def _read(self, content: bytes) -> None:
        """Take the complete lines of what follows the bytes that were read."""
        if not self._ended and content[:1] == b"\n":
            content, self._end, self._ended = content[1:], self._end + 1, True
        complete = content.rfind(b"\n") + 1
        self._take(self._text(content[:complete]).split("\n")[:-1])
        self._end += complete
        tail = content[complete:]
        if tail.strip():
            try:
                record = read_record(tail.decode())
            except ValueError:
                self.damaged += 1
                return
            self._records.setdefault(record.key, record)
            self._line += 1
            self._end += len(tail)
            self._ended = False

    def _text(self, content: bytes) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            line = self._line + 1 + content[: error.start].count(b"\n")
            raise InputError.one(self.place, "a byte that is not UTF-8", "UTF-8 text", line=line) from None

    def _take(self, lines: Iterable[str]) -> None:
        problems = Problems(self.place)
        for text in lines:
            self._line += 1
            if not text.strip():
                continue
            try:
                record = read_record(text)
            except ValueError as error:
                problems.add(self._line, str(error), "one reply as the replay cache writes it, in JSON")
                continue
            self._records.setdefault(record.key, record)
        problems.raise_if_any()
