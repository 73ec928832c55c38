"""Rows that are appended block by block and read as one array: in memory while they are few, else in a file.

The file has no name from the moment it is open, so that it goes with the process, however that ends.
"""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

MOST_BYTES = 16 << 20
"""Held in memory by one spool; 16 MiB."""


class Spool:
    """Rows of one width.

    Parameters
    ----------
    dtype
        of the entries.
    width
        entries a row; None for single entries instead of rows.
    folder
        where the file is made, on a disk with room for the rows; None keeps everything in memory.
    most
        bytes held in memory before there is a file; None for `MOST_BYTES`.
    """

    def __init__(
        self, dtype: DTypeLike, width: int | None = None, folder: Path | None = None, most: int | None = None
    ) -> None:
        self._dtype, self._width, self._folder = np.dtype(dtype), width, folder
        self._most = MOST_BYTES if most is None else most
        self._pieces: list[NDArray[Any]] = []
        self._bytes = self._rows = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows, (n, width) or (n,).

        Raises
        ------
        OSError
            where the disk is full.
        """
        expected = rows.shape[:1] if self._width is None else (len(rows), self._width)
        if rows.shape != expected:
            raise ValueError(f"found rows of shape {rows.shape}; expected {expected}")
        piece = np.ascontiguousarray(rows, dtype=self._dtype)
        self._rows += len(piece)
        self._bytes += piece.nbytes
        if self._file is not None:
            self._file.write(piece.data.cast("B") if piece.size else b"")
            return
        self._pieces.append(piece)
        if self._folder is not None and self._bytes > self._most:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - open as long as the spool is
            weakref.finalize(self, self._file.close)
            for one in self._pieces:
                self._file.write(one.data.cast("B") if one.size else b"")
            self._pieces = []

    def array(self) -> NDArray[Any]:
        """Return all rows so far; those in a file are mapped, not read. Whoever writes to them changes the spool."""
        shape = (self._rows,) if self._width is None else (self._rows, self._width)
        if self._file is None:
            if len(self._pieces) != 1:
                whole = np.concatenate(self._pieces) if self._pieces else np.empty(shape, self._dtype)
                self._pieces = [whole]
            return self._pieces[0]
        if not self._bytes:
            return np.empty(shape, self._dtype)
        self._file.flush()
        return np.asarray(np.memmap(self._file, self._dtype, "r+", 0, shape))
