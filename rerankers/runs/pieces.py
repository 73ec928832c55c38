"""A long run in pieces of whole queries, so that no more than one piece is in memory.

Lines of a query stand together in nearly every file. Where they do not, two pieces have the same query: whoever reads
pieces has to look out for that, and read the file whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import COMPRESSED, open_bytes, read_lines
from rerankers.runs import parquet, table, trec
from rerankers.runs.draft import build, raise_if_any
from rerankers.runs.policy import is_policy
from rerankers.runs.read import read_run
from rerankers.runs.run import Run, run_name

ROWS = 1 << 22
"""Ranked documents of a piece, about 700 MB while they are read; the last query of a piece may make it longer."""
_MOST = ("sample_names_numbered",)  # counts of a file of which pieces each have the whole


def run_pieces(path: Path, rows: int = ROWS) -> Iterator[Run]:
    """Yield a run in pieces, in the order of the file; see `rerankers.runs.read_run`.

    Text runs and parquet files come in pieces, other forms as one.

    Parameters
    ----------
    rows
        ranked documents of a piece.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        at the end, with everything that is wrong with a file; for a parquet file at the first piece that is wrong.
    """
    form = _form(path)
    if form is None:
        yield read_run(path)
    elif form == parquet.MAGIC:
        yield from _of_parquet(path, rows)
    else:
        yield from _of_text(path, rows)


def add_counts(total: Counter[str], counts: Mapping[str, int]) -> None:
    """Add up what was met in pieces of one file."""
    for name, number in counts.items():
        total[name] = max(total[name], number) if name in _MOST else total[name] + number


def _form(path: Path) -> bytes | None:
    """Return the magic of a parquet file, nothing for a text run, None for what is read whole."""
    if path.is_dir():
        return None
    with open_bytes(path) as stream:
        magic = b"" if path.suffix in COMPRESSED else stream.read(8)
    if magic.startswith(parquet.MAGIC):
        return None if is_policy(path) else parquet.MAGIC
    try:
        first = next((line for _, line in read_lines(path) if line.strip()), None)
    except InputError:
        return None  # told of by whoever reads it whole
    if first is None or first.lstrip().startswith("{") or table.delimiter(first) is not None:
        return None
    return b"" if len(first.split()) == len(trec.COLUMNS) else None


def _of_text(path: Path, rows: int) -> Iterator[Run]:
    problems, blank = Problems(str(path)), {"blank_lines": 0}
    name = run_name(path)
    waiting: list[pa.Table] = []
    held = read = 0
    for found in trec.read_tables(path, problems, blank):
        waiting.append(found)
        held += found.num_rows
        if held < rows:
            continue
        whole = _together(waiting)
        cut = _last_query(whole)
        if cut:
            yield from _piece(whole.slice(0, cut), name, problems)
        read += cut
        rest = whole.slice(cut)
        waiting, held = ([_copied(rest)] if rest.num_rows else []), rest.num_rows
    if held:
        yield from _piece(_together(waiting), name, problems, blank)
    raise_if_any(problems)
    if not read and not held:
        raise InputError.one(str(path), "no line", f"lines of {trec.FORM}")


def _piece(rows: pa.Table, name: str, problems: Problems, met: Mapping[str, int] | None = None) -> Iterator[Run]:
    """Yield the piece, or nothing from the first problem on: the file is then only read for its other problems."""
    counts = dict(met or {})
    try:
        if not problems:
            yield build(trec.draft_of_table(rows, problems, counts), name, problems, counts)
    except InputError:
        if not problems:
            raise


def _of_parquet(path: Path, rows: int) -> Iterator[Run]:
    where, name = str(path), run_name(path)
    first = 1
    waiting: list[pa.Table] = []
    held = 0
    try:
        with pq.ParquetFile(path) as file:
            present = table.columns_of(file.schema_arrow.names, where)
            total = file.metadata.num_rows
            for batch in file.iter_batches(1 << 18, columns=list(present.values())):
                waiting.append(pa.Table.from_batches([batch]))
                held += batch.num_rows
                if held < rows:
                    continue
                whole = _together(waiting)
                cut = _last_query(whole, present["qid"])
                if cut:
                    yield _parquet_piece(whole.slice(0, cut), where, name, first, total)
                    first += cut
                rest = whole.slice(cut)
                waiting, held = ([_copied(rest)] if rest.num_rows else []), rest.num_rows
    except (pa.ArrowException, OSError) as error:
        found = f"no readable parquet file ({error})"
        raise InputError.one(where, found, "a parquet file", mend="Fetch or write the file again.") from error
    if held or first == 1:
        whole = _together(waiting) if waiting else file.schema_arrow.empty_table()
        yield _parquet_piece(whole, where, name, first, total)


def _parquet_piece(rows: pa.Table, where: str, name: str, first: int, total: int) -> Run:
    problems, counts = Problems(where), dict[str, int]()
    line = None if rows.num_rows == total else np.arange(first, first + rows.num_rows, dtype=np.int64)
    return build(table.read_table(rows, where, problems, counts, line), name, problems, counts)


def _together(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables)


def _copied(rows: pa.Table) -> pa.Table:
    """Return rows that hold no more memory than they need: slices keep what they are cut from."""
    return rows.take(pa.array(np.arange(rows.num_rows)))


def _last_query(rows: pa.Table, column: str = "qid") -> int:
    """Return the first of the rows at the end that are of one query."""
    last = rows[column][rows.num_rows - 1]
    for start in range(rows.num_rows, 0, -(1 << 16)):
        low = max(0, start - (1 << 16))
        other = pc.not_equal(rows[column].slice(low, start - low).cast(pa.large_string()), last.cast(pa.large_string()))
        places = np.flatnonzero(other.fill_null(True).to_numpy())
        if len(places):
            return low + int(places[-1]) + 1
    return 0
