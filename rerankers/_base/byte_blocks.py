"""Files in blocks of whole lines, for readers that parse many lines at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.files import BYTE_ORDER_MARK, MAX_LINE, open_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_BYTES = 8 << 20


def read_blocks(path: Path, size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    r"""Yield (number of its first line from 1, bytes of whole lines) of a plain, gzip or zstandard file.

    A block ends with ``\n``, but for a last line without an end. A byte-order mark at the start is skipped.

    Parameters
    ----------
    size
        bytes read at a time; a block holds about as many.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when the archive is truncated or broken, or a line is over 64 MiB.
    """
    number, rest, start = 1, b"", True
    with open_bytes(path) as stream:
        while True:
            try:
                piece = stream.read(size)
            except (EOFError, OSError, zlib.error) as error:
                found = f"a truncated or broken archive ({error})"
                raise InputError.one(
                    str(path), found, "a complete file", mend="Fetch or write the file again."
                ) from error
            if not piece:
                break
            if start:
                piece, start = piece.removeprefix(BYTE_ORDER_MARK), False
            cut = piece.rfind(b"\n") + 1
            if cut:
                block, rest = rest + memoryview(piece)[:cut], piece[cut:]
                yield number, block
                number += line_ends(block)
            else:
                rest += piece
            if len(rest) > MAX_LINE:
                raise InputError.one(str(path), "a line over 64 MiB", "one record a line", line=number)
    if rest:
        yield number, rest


def line_ends(block: bytes) -> int:
    r"""Return how many ``\n`` a block holds."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))


def count_lines(block: bytes) -> int:
    r"""Return the number of lines of a block; a last one may lack its ``\n``."""
    return line_ends(block) + (not block.endswith(b"\n"))


def filled_lines(block: bytes) -> NDArray[np.int64]:
    r"""Return which lines of a block hold anything, int64, from 0."""
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    return np.flatnonzero(np.diff(ends, prepend=-1) > 1)
