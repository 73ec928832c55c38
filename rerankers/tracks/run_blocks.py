"""The lines of a run in blocks, as far as they can be read: damage and long lines hide no other line."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rerankers._base.byte_blocks import count_lines
from rerankers._base.errors import InputError
from rerankers._base.files import MAX_LINE, open_bytes

if TYPE_CHECKING:
    from typing import IO

__all__ = ["run_blocks"]

_PIECE = 1 << 14  # bytes unpacked at a time: no more than these are lost where an archive is damaged


def run_blocks(path: Path, size: int, longest: int = MAX_LINE) -> Iterator[tuple[int, bytes, bool]]:
    r"""Yield (number of its first line from 1, bytes of whole lines, True) of a plain, gzip or zstandard file.

    A block ends with ``\n``, but for a last line without an end. Of a line over ``longest`` bytes (number, about as
    many of its first bytes, False) is yielded, and the lines after it follow.

    Parameters
    ----------
    size
        bytes of a block, about.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when the archive is truncated or broken; the whole lines before the damage have been yielded.
    """
    number, cut, skipping = 1, 0, False
    held = bytearray()  # its first ``cut`` bytes are whole lines
    damage: InputError | None = None
    with open_bytes(path) as stream:
        while True:
            try:
                piece = _piece(path, stream)
            except InputError as error:
                damage = error
                break
            if not piece:
                break
            if skipping:
                end = piece.find(b"\n") + 1
                if not end:
                    continue
                piece, number, skipping = piece[end:], number + 1, False
            end = piece.rfind(b"\n") + 1
            cut = len(held) + end if end else cut
            held += piece
            if cut and len(held) >= size:
                block = bytes(held[:cut])
                yield number, block, True
                number, cut = number + count_lines(block), 0
                del held[: len(block)]
            if len(held) - cut > longest:
                yield number, bytes(held), False
                held.clear()
                skipping = True
    rest = bytes(held[:cut]) if damage is not None else bytes(held)
    if rest:
        yield number, rest, True
    if damage is not None:
        raise damage


def _piece(path: Path, stream: IO[bytes]) -> bytes:
    """Return what can be unpacked at once, nothing at the end."""
    try:
        return cast("BufferedIOBase", stream).read1(_PIECE)
    except (EOFError, OSError, zlib.error) as error:
        found = f"a truncated or broken archive ({error})"
        raise InputError.one(str(path), found, "a complete file", mend="Fetch or write the file again.") from error
