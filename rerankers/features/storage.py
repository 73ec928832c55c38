"""Columns of features in a parquet file, every bit of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa

from rerankers.features.base import Columns
from rerankers.values.table import ParquetWriter, one_array, open_table, reading

FILE: Final = "features.parquet"
_KIND: Final = "features"
_ROWS: Final = 1 << 20


def write_columns(folder: Path, columns: Columns, pairs: int) -> None:
    """Write columns of ``pairs`` values each."""
    facts = {
        "kind": _KIND,
        "pairs": pairs,
        "names": list(columns.values),
        "sources": {name: list(each) for name, each in columns.sources.items()},
        "per_query": sorted(columns.per_query),
        "counts": dict(columns.counts),
    }
    table = pa.table(
        {name: pa.array(column, pa.float64(), from_pandas=False) for name, column in columns.values.items()}
    )
    with ParquetWriter(folder / FILE, facts, schema=table.schema, rows=_ROWS) as writer:
        writer.write(table)


def read_columns(folder: Path) -> Columns:
    """Read columns.

    Raises
    ------
    InputError
        when the file is broken.
    """
    file, facts = open_table(folder / FILE, _KIND)
    with file, reading(folder / FILE):
        table = file.read()
        values = {name: one_array(table[name]).to_numpy() for name in facts["names"]}
        if any(len(column) != facts["pairs"] for column in values.values()):
            raise ValueError(f"expected {facts['pairs']} rows")
        sources = {name: tuple(each) for name, each in facts["sources"].items()}
        return Columns(values, sources, frozenset(facts["per_query"]), facts["counts"])
