"""Frames at the door: pandas, polars, Arrow, columns or records, under the names of three libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from rerankers._base.errors import InputError

NAMES = {
    "qid": ("qid", "query_id", "q_id"),
    "docno": ("docno", "doc_id", "id"),
    "grade": ("label", "relevance", "grade", "rel", "score"),
    "query": ("query", "text", "title"),
    "group": ("group",),
    "attribute": ("attribute",),
    "weight": ("weight",),
}
"""Our name -> the names that are accepted: ours (which are PyTerrier's), ir_measures', ranx'."""


def is_frame(value: Any) -> bool:
    """Return whether a value is a table of some library: one that offers Arrow data, or has columns and rows."""
    if isinstance(value, pa.Table | pa.RecordBatch):
        return True
    return hasattr(value, "__arrow_c_stream__") and hasattr(value, "columns")  # a column alone offers Arrow data too


def is_table(value: Any) -> bool:
    """Return whether a value is a frame, or columns by name (``{"docno": [...]}``), or a list of records."""
    if is_frame(value):
        return True
    if isinstance(value, Mapping):
        return bool(value) and all(_is_column(column) for column in value.values())
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(row, Mapping) for row in value)


def nameless(value: Any) -> bool:
    """Return whether a value is what frames have where there is nothing: None, not-a-number, pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # NA is neither equal to itself nor not; nor is an array, which is something
        return getattr(value, "ndim", None) is None


def _is_column(value: Any) -> bool:
    """Return whether a value is one column: a list, or one dimension of numpy, pandas, polars or Arrow."""
    if isinstance(value, list | tuple | pa.Array | pa.ChunkedArray):
        return True
    return getattr(value, "ndim", None) == 1 or hasattr(value, "to_arrow")


def columns(frame: Any, wanted: Iterable[str], where: str, optional: Iterable[str] = ()) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a frame under our names.

    Parameters
    ----------
    frame
        as `is_table` says.
    wanted, optional
        keys of `NAMES`.
    where
        begins messages.

    Raises
    ------
    InputError
        for a column that is missing, or data that Arrow cannot hold.
    """
    needed, maybe = list(wanted), list(optional)
    present = _names(frame)
    found = {name: next((one for one in NAMES[name] if one in present), None) for name in [*needed, *maybe]}
    missing = [name for name in needed if found[name] is None]
    if missing:
        expected = "; ".join(f"{name} ({', '.join(NAMES[name])})" for name in needed)
        raise InputError.one(where, f"columns {', '.join(present) or 'none'}", f"the columns {expected}")
    chosen = {name: column for name, column in found.items() if column is not None}
    table = table_of(frame, where, list(chosen.values()))
    return {name: table[column] for name, column in chosen.items()}


def table_of(frame: Any, where: str, names: list[str] | None = None) -> pa.Table:
    """Return a frame (or some of its columns) as an Arrow table; raises `InputError` where Arrow cannot hold it."""
    try:
        if isinstance(frame, pa.RecordBatch):
            frame = pa.Table.from_batches([frame])
        if isinstance(frame, pa.Table):
            return frame if names is None else frame.select(names)
        if isinstance(frame, Mapping):
            return pa.table({str(name): frame[name] for name in frame if names is None or name in names})
        if isinstance(frame, list | tuple):
            table = pa.Table.from_pylist(list(frame))
            return table if names is None else table.select(names)
        return pa.table(frame if names is None else frame[names])
    except (pa.ArrowException, TypeError, KeyError, ValueError, UnicodeError) as error:
        raise InputError.one(where, f"data that Arrow cannot hold ({error})", "columns of text and numbers") from error


def _names(frame: Any) -> list[str]:
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return list(frame.schema.names)
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    if isinstance(frame, list | tuple):
        return list(dict.fromkeys(str(name) for row in frame for name in row))
    return [str(name) for name in frame.columns]


def rows(parts: Mapping[str, pa.ChunkedArray]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of columns as Python values, a chunk at a time."""
    table = pa.table(dict(parts))
    for batch in table.to_batches(max_chunksize=10_000):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
