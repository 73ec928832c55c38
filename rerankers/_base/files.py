"""Files: text lines with their numbers from plain, gzip or zstandard files; atomic writes."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import tempfile
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from rerankers._base.errors import ConfigError, InputError, MissingError, Problems
from rerankers._base.unpack import unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSED = (".gz", ".zst")
MAX_LINE = 64 << 20  # bytes: a longer line is an error, not an out-of-memory kill


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressing ``.gz`` and ``.zst``.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when the path is a folder, a pipe or a socket, or may not be read; while it is read, when an archive unpacks to
        far more than a text file does (`rerankers._base.unpack`).
    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):  # opening one waits, and it can be read once only
            found = "a pipe or socket, which can be read once only"
            raise InputError.one(str(path), found, "a file", mend="Write what comes out of it into a file first.")
        if path.suffix == ".gz":
            return unpacked(path, gzip.open(path, "rb"))
        if path.suffix == ".zst":
            import pyarrow as pa

            return unpacked(path, pa.input_stream(str(path), compression="zstd"))
        return path.open("rb")
    except FileNotFoundError:
        raise MissingError(f"{path}: no such file. Check the path; relative paths start at {Path.cwd()}") from None
    except OSError as error:
        raise InputError.one(str(path), error.strerror or str(error), "a readable file") from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield (line number from 1, text without its line end) of a UTF-8 file.

    ``\n`` and ``\r\n`` end a line, a byte-order mark is skipped and a last line without an end counts.

    Raises
    ------
    InputError
        with the line number: bytes that are not UTF-8, a truncated or broken archive, a line over 64 MiB.
    """
    for number, _, text in _lines(path):
        yield number, text


def collect_lines(path: Path, problems: Problems) -> Iterator[tuple[int, int, str]]:
    """Yield (line number, byte offset in the unpacked file, text); a line that cannot be read ends the lines.

    What `read_lines` would raise joins ``problems`` instead, so that it is reported with the problems before it.
    """
    try:
        yield from _lines(path)
    except InputError as error:
        problems.kept.extend(error.problems)


def lines_at(path: Path, offsets: NDArray[np.int64]) -> Iterator[str]:
    """Yield the lines that start at byte offsets of the unpacked file (`collect_lines`), in the order given.

    A plain file is read by seeking. A compressed file cannot seek: ascending offsets are met while it streams past,
    for any other order it is unpacked once into an unnamed temporary file. Memory holds one line at a time.

    Raises
    ------
    InputError
        when there is no line at an offset any more, or it is not UTF-8.
    """
    if path.suffix in COMPRESSED and len(offsets) and bool((offsets[1:] > offsets[:-1]).all()):
        yield from _lines_passing(path, offsets)
        return
    with open_bytes(path) as source, tempfile.TemporaryFile() as spool:
        stream: IO[bytes] = source
        if path.suffix in COMPRESSED:
            try:
                shutil.copyfileobj(source, spool, 1 << 20)
            except (EOFError, zlib.error) as error:
                raise _changed(path) from error
            stream = cast("IO[bytes]", spool)
        for offset in offsets.tolist():
            stream.seek(offset)
            raw = stream.readline(MAX_LINE + 1)
            if not raw:
                raise _changed(path)
            yield decoded(path, None, raw.removeprefix(BYTE_ORDER_MARK) if offset == 0 else raw)


def _lines_passing(path: Path, offsets: NDArray[np.int64]) -> Iterator[str]:
    wanted = iter(offsets.tolist())
    target = next(wanted)
    for _, offset, text in _lines(path):
        if offset == target:
            yield text
            target = next(wanted, None)
            if target is None:
                return
    raise _changed(path)


def _changed(path: Path) -> InputError:
    return InputError.one(
        str(path), "a file that has changed since it was first read", "the same file", mend="Start over."
    )


def _lines(path: Path) -> Iterator[tuple[int, int, str]]:
    number, offset = 0, 0
    with open_bytes(path) as stream:
        while True:
            try:
                raw = stream.readline(MAX_LINE + 1)
            except (EOFError, OSError, zlib.error) as error:
                raise InputError.one(
                    str(path),
                    f"a truncated or broken archive ({error})",
                    "a complete file",
                    line=number + 1,
                    mend="Fetch or write the file again.",
                ) from error
            if not raw:
                return
            number += 1
            if len(raw) > MAX_LINE:
                raise InputError.one(str(path), "a line over 64 MiB", "one record a line", line=number)
            size = len(raw)
            if number == 1:
                raw = raw.removeprefix(BYTE_ORDER_MARK)
            yield number, offset, decoded(path, number, raw)
            offset += size


def decoded(path: Path, number: int | None, raw: bytes) -> str:
    """Return the text of a line without its end.

    Raises
    ------
    InputError
        with the line's number, for bytes that are not UTF-8.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError.one(
            str(path), f"a byte that is not UTF-8 ({error.reason} at byte {error.start})", "UTF-8 text", line=number
        ) from error
    return text.removesuffix("\n").removesuffix("\r")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it is renamed to ``path``, on failure removed.

    The temporary name keeps the suffixes, so that writers which look at them behave the same.

    Raises
    ------
    ConfigError
        when the folder cannot be written or the disk is full.
    """
    temporary = path.with_name(f".{uuid.uuid4().hex}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        # What the caller does inside may fail for other reasons: a file of its own that is not there, say.
        if error.filename is not None and Path(os.fsdecode(error.filename)) not in (temporary, path, *path.parents):
            raise
        raise unwritable(path, error) from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        elif os.path.lexists(temporary):  # also False where the folder cannot be entered
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def unwritable(path: Path, error: OSError) -> ConfigError:
    """Return the error that says a path cannot be written, and why."""
    reason = error.strerror or str(error)
    return ConfigError(
        f"{path}: cannot be written ({reason}); expected a folder that may be written and has room. "
        "Choose another with output=DIR or paths.cache=DIR."
    )
