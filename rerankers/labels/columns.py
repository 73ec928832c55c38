"""Ids, titles and texts of a block of JSON lines by Arrow's reader, many lines at once."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rerankers._base.byte_blocks import count_lines
from rerankers.labels.counting import Utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE_FEED, _RETURN, _OPEN, _CLOSE = (ord(sign) for sign in "\n\r{}")


class Wanted(NamedTuple):
    """Names of the fields: those that an id may stand under, title, text."""

    ids: Sequence[str]
    title: str
    text: str


def arrow_columns(block: bytes, wanted: Wanted) -> tuple[list[str], Utf8, Utf8] | None:
    """Return ids, titles and texts of whole lines, or None where they must be looked at one by one.

    That is whenever Python's reader might say something else: no object a line and nothing else, bytes that are not
    UTF-8, a value of another type, an id or a text that is missing, ids under different names, a field twice.
    """
    import pyarrow as pa

    if len({*wanted.ids, wanted.title, wanted.text}) < len(wanted.ids) + 2 or not _objects(block):
        return None
    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    for kind in (pa.string(), pa.int64()):  # ids are all texts or all whole numbers, else they are looked at one by one
        table = _table(block, wanted, kind)
        if table is not None:
            break
    else:
        return None
    used = [name for name in wanted.ids if table.column(name).null_count < table.num_rows]
    if not used or table.column(used[0]).null_count or table.column(wanted.text).null_count:
        return None
    ids = table.column(used[0]).cast(pa.string()).to_pylist()
    return ids, _utf8(table.column(wanted.title)), _utf8(table.column(wanted.text))


def _table(block: bytes, wanted: Wanted, kind: Any) -> Any:
    """Return the columns of a block, or None where a value is of another type or a line holds no single object."""
    import pyarrow as pa
    import pyarrow.json as pj

    fields = [(name, kind) for name in wanted.ids] + [(name, pa.string()) for name in (wanted.title, wanted.text)]
    parse = pj.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")
    read = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    try:
        table = pj.read_json(io.BytesIO(block), read_options=read, parse_options=parse)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return table if table.num_rows == count_lines(block) else None


def _objects(block: bytes) -> bool:
    """Return whether every line begins with ``{`` and ends with ``}``: as many objects as lines are then one a line.

    No object can break between ``}`` and ``{``, for a comma would have to stand there.
    """
    signs = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(signs == _LINE_FEED)
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    starts = np.append(0, ends[:-1] + 1)
    if int((ends - starts).min()) < 2:
        return False
    last = signs[ends - 1]
    last = np.where(last == _RETURN, signs[ends - 2], last)
    return bool(np.all(signs[starts] == _OPEN) and np.all(last == _CLOSE))


def _utf8(column: Any) -> Utf8:
    """Return a column of texts as bytes; what is null has none."""
    chunk = column.combine_chunks()
    chunk = chunk.chunk(0) if hasattr(chunk, "chunk") else chunk
    offset, number = chunk.offset, len(chunk)
    _, bounds, data = chunk.buffers()
    at = np.frombuffer(bounds, dtype=np.int32)[offset : offset + number + 1].astype(np.int64)
    return Utf8(np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, np.uint8), at)
