"""The parquet form of runs: columns `qid, sample, rank, docno, score`, sample from 0 and rank from 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rerankers._base.errors import InputError, Problems
from rerankers.runs.draft import Draft
from rerankers.runs.piece import Piece, Sink
from rerankers.runs.table import columns_of, read_table
from rerankers.values.table import ParquetWriter

MAGIC = b"PAR1"
SCHEMA = pa.schema(
    [
        pa.field("qid", pa.large_string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("docno", pa.large_string(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
    ]
)
_ROWS = 1 << 20
# What unpacks quickest: zstd gains little on shuffled ids, and runs of ranks and scores need no dictionary beside it.
_PACKING: dict[str, Any] = {
    "compression": {name: "snappy" if name == "docno" else "zstd" for name in SCHEMA.names},
    "use_dictionary": ["qid", "sample", "docno"],
}


def read_parquet(path: Path, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read a parquet file with the columns of a run; messages name its rows from 1.

    Raises
    ------
    InputError
        when it is no parquet file, or as `read_table`.
    """
    where = str(path)
    try:
        facts = pq.read_metadata(path)
        present = columns_of(facts.schema.to_arrow_schema().names, where)
        with pq.ParquetFile(path, metadata=facts, read_dictionary=[present["qid"], present["docno"]]) as file:
            table = file.read(columns=list(present.values()), use_threads=pa.cpu_count() > 1)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: names that are not UTF-8
        raise InputError.one(
            where, f"no readable parquet file ({error})", "a parquet file", mend="Fetch or write the file again."
        ) from error
    return read_table(table, where, problems, counts)


@contextmanager
def open_sink(path: Path) -> Iterator[Sink]:
    """Open a parquet file for writing runs, whole or not at all, in row groups of about a million rows."""
    with ParquetWriter(path, schema=SCHEMA, rows=_ROWS, typed=False, **_PACKING) as writer:
        yield _ParquetSink(writer)


class _ParquetSink:
    def __init__(self, writer: ParquetWriter) -> None:
        self._writer = writer

    def check(self, where: str, qids: Sequence[str], docnos: pa.LargeStringArray) -> None:
        """Parquet holds any text."""

    def write(self, piece: Piece) -> None:
        rank = piece.place + 1
        columns = [
            pa.array(piece.qid, pa.large_string()).take(pa.array(piece.ranking)),
            pa.array(np.repeat(piece.label, piece.length).astype(np.int32, copy=False)),
            pa.array(rank.astype(np.int32)),
            piece.docno,
            pa.array(1.0 / rank),
        ]
        self._writer.write(pa.table(columns, schema=SCHEMA))
