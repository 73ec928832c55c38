"""Arrow tables in parquet files: lists for ragged rows, atomic writing, and errors that name the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import atomic_path
from rerankers._base.json_text import parse_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FACTS = b"fair_rerankers"


def list_type(item: pa.DataType) -> pa.DataType:
    """Return the type of a list column without missing items, so that its items come back without a copy."""
    return pa.large_list(pa.field("item", item, nullable=False))


def to_lists(indptr: NDArray[np.int64], items: NDArray[Any] | pa.Array) -> pa.LargeListArray:
    """Return list i = items[indptr[i]:indptr[i + 1]]."""
    values = items if isinstance(items, pa.Array) else pa.array(items)
    return pa.LargeListArray.from_arrays(pa.array(indptr), values, type=list_type(values.type))


def from_lists(column: pa.ChunkedArray | pa.LargeListArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return (indptr, items), the opposite of `to_lists`."""
    lists = one_array(column) if isinstance(column, pa.ChunkedArray) else column
    offsets = lists.offsets.to_numpy()
    return (offsets - offsets[0]).astype(np.int64, copy=False), lists.flatten()


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; without a copy where it is one already."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([*column.chunks, _nothing(column.type)])


def _nothing(kind: pa.DataType) -> pa.Array:
    return pa.array([], kind)


class ParquetWriter:
    """Writes a parquet file, whole or not at all; a context manager.

    Parameters
    ----------
    path
        the file.
    facts
        about the whole file, as JSON in its metadata; ``kind`` says what it holds.
    schema
        its columns; None: those of the first table, of which there must be one then, be it empty.
    rows
        rows of a row group; the bytes of the file then do not depend on how the rows arrive. None: a row group for
        each call of `write`.
    typed
        whether the file tells readers the exact Arrow types; without, text columns are plain text to every reader.
    **options
        further options of pyarrow's writer. Everything is compressed by zstd unless they say otherwise.
    """

    def __init__(
        self,
        path: Path,
        facts: Mapping[str, Any] | None = None,
        schema: pa.Schema | None = None,
        rows: int | None = None,
        *,
        typed: bool = True,
        **options: Any,
    ) -> None:
        self._path, self._facts, self._schema, self._rows = path, facts, schema, rows
        self._options = {"compression": "zstd", "store_schema": typed} | options
        self._stack = ExitStack()
        self._writer: Any = None
        self._waiting: list[pa.Table] = []
        self._count = 0

    def __enter__(self) -> Self:
        if self._schema is not None:
            self._open(self._schema)
        return self

    def _open(self, schema: pa.Schema) -> None:
        self._schema = schema
        known = schema.with_metadata(None) if self._facts is None else with_facts(schema, self._facts)
        temporary = self._stack.enter_context(atomic_path(self._path))
        self._writer = self._stack.enter_context(pq.ParquetWriter(temporary, known, **self._options))

    def write(self, table: pa.Table) -> None:
        """Add rows.

        Raises
        ------
        ValueError
            when the columns are not those of the file.
        """
        if self._writer is None:
            self._open(table.schema)
        if not table.schema.equals(self._schema):
            both = (table.schema, self._schema)
            found, expected = (", ".join(f"{field.name} {field.type}" for field in each or ()) for each in both)
            raise ValueError(f"{self._path}: columns {found}; expected {expected} as before")
        self._waiting.append(table)
        self._count += table.num_rows
        if self._rows is None:
            self._write_group(self._count)
        while self._rows is not None and self._count >= self._rows:
            self._write_group(self._rows)

    def _write_group(self, rows: int) -> None:
        whole = pa.concat_tables(self._waiting)
        self._writer.write_table(whole.slice(0, rows).combine_chunks(), row_group_size=max(rows, 1))
        self._waiting = [whole.slice(rows)]
        self._count -= rows

    def __exit__(self, *exception: Any) -> None:
        if exception[0] is not None:
            self._stack.__exit__(*exception)
            return
        with self._stack:
            if self._writer is None:
                raise ValueError(f"{self._path}: nothing was written; expected at least one block, be it empty")
            if self._count:
                self._write_group(self._count)


def open_table(path: Path, kind: str) -> tuple[pq.ParquetFile, dict[str, Any]]:
    """Return a parquet file that `ParquetWriter` wrote, and its facts.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when it is no parquet file, or holds another kind of value than ``kind``.
    """
    if not path.exists():
        raise MissingError(f"{path}: no such file. Run the stage that writes it again.")
    with reading(path):
        file = pq.ParquetFile(path)
        facts = facts_of(file.schema_arrow)
    if facts.get("kind") != kind:
        file.close()
        raise InputError.one(str(path), f"a parquet file of {facts.get('kind', 'no kind')!r}", f"one of {kind!r}")
    return file, facts


def with_facts(schema: pa.Schema, facts: Mapping[str, Any]) -> pa.Schema:
    """Return a schema with facts about the whole file in its metadata, and nothing else there."""
    return schema.with_metadata({_FACTS: json.dumps(facts, sort_keys=True)})


def facts_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the facts in the metadata of a file; none where another program wrote it.

    Raises
    ------
    ValueError
        where they are no JSON.
    """
    facts = parse_json((schema.metadata or {}).get(_FACTS, b"{}").decode("utf-8"))
    return facts if isinstance(facts, dict) else {}


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong inside into an `InputError` about the file."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        mend = "Delete it and run the stage that writes it again."
        raise InputError.one(str(path), f"a file that cannot be read ({error})", "a whole file", mend=mend) from error
