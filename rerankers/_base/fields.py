"""Fields of text lines as arrays: names as codes, numbers as numbers, many lines at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_SPARE = 8  # bytes are compared eight at a time, so that as many may be looked at beyond the end of a field
_LONGEST = 1 << 30  # bytes of a block, whose places are int32


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Lines of W fields; lines without any field are left out.

    Attributes
    ----------
    block
        uint8, the bytes of the lines, and eight more.
    start, stop
        int32 (W, lines), the bytes of each field.
    line
        int64 (lines,), the number of each line.
    blank
        how many lines were left out.
    """

    block: NDArray[np.uint8]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    line: NDArray[np.int64]
    blank: int

    @classmethod
    def split(cls, block: bytes, width: int, first: int = 1, *, plain: bool = False) -> Self | None:
        r"""Return the fields of whole lines, separated by blanks and tabs.

        Lines end with ``\n`` or ``\r\n``; the last one may end with neither.

        Parameters
        ----------
        first
            number of the first line.
        plain
            whether to take nothing but ASCII without other control characters.

        Returns
        -------
        Fields, or None
            None where a line has neither 0 nor ``width`` fields or a carriage return inside, where the bytes are no
            UTF-8, and where they are not ``plain`` though they should be.
        """
        from rerankers._base.fields_loops import split_lines

        if len(block) > _LONGEST or not (block.isascii() or (not plain and _is_text(block))):
            return None
        size = len(block) + (not block.endswith(b"\n"))
        padded = np.zeros(size + _SPARE, dtype=np.uint8)
        padded[: len(block)] = np.frombuffer(block, dtype=np.uint8)
        padded[size - 1] = ord("\n")
        most = size // (2 * width) + 1
        start, stop = np.empty((width, most), dtype=np.int32), np.empty((width, most), dtype=np.int32)
        line = np.empty(most, dtype=np.int64)
        filled, lines = split_lines(padded[:size], first, plain, start, stop, line)
        return None if filled < 0 else cls(padded, start[:, :filled], stop[:, :filled], line[:filled], lines - filled)

    def __len__(self) -> int:
        return len(self.line)

    def names(self, column: int) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
        """Return the code of each line's text, int32 (lines,), and the texts by code, in order of appearance."""
        from rerankers._base.fields_loops import code_texts, hash_texts

        start, stop, lines = self.start[column], self.stop[column], len(self)
        hashed, code, first = np.empty(lines, np.uint64), np.empty(lines, np.int32), np.empty(lines, np.int32)
        hash_texts(self._words, start, stop, hashed)
        found = code_texts(self._words, start, stop, hashed, code, first)
        return code, self._texts(column, first[:found])

    def whole(self, column: int) -> NDArray[np.int64] | None:
        """Return whole numbers, int64 (lines,), or None where a text is none of up to 18 digits."""
        from rerankers._base.numbers_loops import read_whole

        value = np.empty(len(self), dtype=np.int64)
        return value if read_whole(self.block, self.start[column], self.stop[column], value) else None

    def real(self, column: int, like: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the floats next to decimal numbers, float64 (lines,), or None where a text is none.

        Numbers beyond the floats are infinite.

        Parameters
        ----------
        like
            int64 (lines,): where lines of equal value often hold the same number, reading is quicker.
        """
        import pyarrow as pa

        from rerankers._base.numbers_loops import read_real

        value, source = np.empty(len(self)), np.empty(len(self), dtype=np.int32)
        start, stop = self.start[column], self.stop[column]
        if not read_real(self.block, self._words, start, stop, like, value, source):
            return None
        hard = np.flatnonzero(np.isnan(value))
        if len(hard):
            read = hard[source[hard] == hard]
            value[read] = self._texts(column, read).cast(pa.float64()).to_numpy()
            value[hard] = value[source[hard]]
        return value

    @property
    def _words(self) -> NDArray[np.uint64]:
        """The eight bytes from each byte on as one number."""
        return np.ndarray(len(self.block) - _SPARE + 1, np.uint64, self.block, 0, (1,))

    def _texts(self, column: int, rows: NDArray[np.int32]) -> pa.LargeStringArray:
        """Return the texts of some lines."""
        import pyarrow as pa

        from rerankers._base.fields_loops import copy_texts

        start, stop = self.start[column][rows], self.stop[column][rows]
        bounds = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(stop - start, out=bounds[1:])
        text = np.empty(bounds[-1], dtype=np.uint8)
        copy_texts(self.block, start, bounds, text)
        return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(bounds), pa.py_buffer(text))


def _is_text(block: bytes) -> bool:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
