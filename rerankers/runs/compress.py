"""A gzip file compressed by several threads, with the same bytes however the data arrives."""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LEVEL = 4  # of 9; run text shrinks about twelvefold, level 6 takes twice the time for five per cent less
CHUNK = 1 << 20  # bytes compressed on their own, so that threads can share the work
_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"  # deflate; no flags, no time, no file name, no system
_END = b"\x03\x00"  # an empty last deflate block


class GzipWriter:
    """Compresses what it is given into one gzip member (RFC 1952), which every gzip reader takes.

    Chunks of fixed size are deflated apart, each flushed to a byte boundary, and joined in order.
    """

    def __init__(self, stream: IO[bytes], pool: ThreadPoolExecutor, ahead: int) -> None:
        self._stream, self._pool, self._ahead = stream, pool, ahead
        self._rest = bytearray()
        self._running: deque[Future[bytes]] = deque()
        self._checksum = self._size = 0
        stream.write(_HEADER)

    def write(self, data: bytes | memoryview) -> None:
        """Add data; it must not change afterwards."""
        view = memoryview(data)
        while len(view):
            room = CHUNK - len(self._rest)
            if room == CHUNK and len(view) >= CHUNK:
                self._deflate(view[:CHUNK])
            else:
                self._rest += view[:room]
                if len(self._rest) == CHUNK:
                    self._deflate(memoryview(self._rest))
                    self._rest = bytearray()
            view = view[room:]

    def _deflate(self, chunk: memoryview) -> None:
        self._checksum = zlib.crc32(chunk, self._checksum)
        self._size += len(chunk)
        self._running.append(self._pool.submit(_deflated, chunk))
        while len(self._running) > self._ahead:
            self._stream.write(self._running.popleft().result())

    def finish(self) -> None:
        """Write what is left, and the end of the member."""
        if self._rest:
            self._deflate(memoryview(self._rest))
        while self._running:
            self._stream.write(self._running.popleft().result())
        self._stream.write(_END + struct.pack("<II", self._checksum, self._size & 0xFFFFFFFF))


def _deflated(chunk: memoryview) -> bytes:
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflate.compress(chunk) + deflate.flush(zlib.Z_SYNC_FLUSH)


@contextmanager
def open_for_text(path: Path) -> Iterator[IO[bytes] | GzipWriter]:
    """Open a file for writing bytes, compressed where its name ends in ``.gz``."""
    with path.open("wb") as stream:
        if path.suffix != ".gz":
            yield stream
            return
        threads = min(4, os.cpu_count() or 1)
        pool = ThreadPoolExecutor(threads)
        try:
            writer = GzipWriter(stream, pool, 2 * threads)
            yield writer
            writer.finish()
        finally:
            pool.shutdown(cancel_futures=True)
