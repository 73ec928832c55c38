"""Files: text lines with their numbers from plain, gzip or zstandard files; atomic writes."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from rerankers._base.errors import ConfigError, InputError, MissingError

COMPRESSED = (".gz", ".zst")
MAX_LINE = 64 << 20  # bytes: a longer line is an error, not an out-of-memory kill


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressing ``.gz`` and ``.zst``.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when the path is a folder or may not be read.
    """
    try:
        if path.suffix == ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        if path.suffix == ".zst":
            import pyarrow as pa

            return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
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
    number = 0
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
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            yield number, _decode(path, number, raw)


def _decode(path: Path, number: int, raw: bytes) -> str:
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
        raise unwritable(path, error) from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


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
