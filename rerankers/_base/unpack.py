"""Archives that unpack to what a file may hold: a few kilobytes must not become terabytes (an archive bomb)."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, Any

from rerankers._base.errors import InputError

MOST_RATIO = 250
"""Bytes that a byte of an archive may unpack to. Runs, judgments and texts shrink five- to thirtyfold."""
ALWAYS_FINE = 256 << 20
"""Bytes that any archive may unpack to."""
BUFFER = 1 << 16


def unpacked(path: Path, stream: Any) -> IO[bytes]:
    """Return a stream of unpacked bytes that ends with an error where there are far too many.

    Parameters
    ----------
    path
        the archive.
    stream
        what unpacks it, with ``read1`` and ``close``.
    """
    return io.BufferedReader(_Bounded(path, stream), BUFFER)


class _Bounded(io.RawIOBase):
    def __init__(self, path: Path, stream: Any) -> None:
        self._path, self._stream, self._read = path, stream, 0
        self._most = max(ALWAYS_FINE, MOST_RATIO * os.stat(path).st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One step at a time: what comes before damage is handed on before the damage is met.
        piece = self._stream.read1(len(buffer))
        count = len(piece)
        buffer[:count] = piece
        self._read += count
        if self._read > self._most:
            raise InputError.one(
                str(self._path),
                f"an archive that unpacks to more than {self._most >> 20:,} MiB, {MOST_RATIO} times its size",
                "an archive of a text file",
                mend="If that is what it holds, unpack it yourself and give the plain file.",
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
