"""A long run in pieces of whole queries, so that no more than one piece is in memory.

Lines of a query stand together in nearly every file. Where they do not, pieces would have parts of a query: that is
told, and the file has to be read whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import COMPRESSED, open_bytes
from rerankers.runs import parquet, table, trec
from rerankers.runs.draft import Draft, build, raise_if_any
from rerankers.runs.policy import is_policy
from rerankers.runs.read import first_line, read_run
from rerankers.runs.run import Run, run_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 1 << 22
"""Ranked documents of a piece, about 1.1 GB while they are read; the last query of a piece may make it longer."""
_MOST = ("sample_names_numbered",)  # counts of a file of which pieces each have the whole


class QueriesApartError(Exception):
    """The lines of a query do not stand together: no piece of the file says anything by itself."""


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
        at the end, with everything that is wrong with a file; pieces from the first that is wrong on are not given.
    QueriesApartError
        where two pieces would have the same query; what was given so far is void.
    """
    form = _form(path)
    if form is None:
        yield read_run(path)
        return
    problems, name = Problems(str(path)), run_name(path)
    seen = _Seen()
    apart = False
    for part in _of_parquet(path, rows) if form == parquet.MAGIC else _of_text(path, rows, problems):
        apart = apart or not seen.add(part.rows[part.qid])
        if problems or apart:  # the rest is only looked at for queries that stand apart, and for wrong lines
            continue
        try:
            yield part.run(name, problems)
        except InputError as error:
            problems.kept = problems.kept or list(error.problems)
    if apart:
        raise QueriesApartError(str(path))
    raise_if_any(problems)


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
        first = first_line(path)
    except InputError:
        return None  # told of by whoever reads it whole
    if first is None or first.lstrip().startswith("{") or table.delimiter(first) is not None:
        return None
    return b"" if len(first.split()) == len(trec.COLUMNS) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Rows of whole queries, not looked at yet."""

    rows: pa.Table
    qid: str
    draft: Callable[[Problems, dict[str, int]], Draft]

    def run(self, name: str, problems: Problems) -> Run:
        counts: dict[str, int] = {}
        return build(self.draft(problems, counts), name, problems, counts)


def _of_text(path: Path, rows: int, problems: Problems) -> Iterator[_Part]:
    blank = {"blank_lines": 0}
    last = 0
    for piece in _pieces(trec.read_tables(path, problems, blank), "qid", rows):
        last += piece.num_rows
        met, blank["blank_lines"] = dict(blank), 0
        yield _Part(piece, "qid", partial(_text_draft, piece, met))
    if not last and not problems:
        raise InputError.one(str(path), "no line", f"lines of {trec.FORM}")


def _text_draft(rows: pa.Table, met: Mapping[str, int], problems: Problems, counts: dict[str, int]) -> Draft:
    counts.update(met)
    return trec.draft_of_table(rows, problems, counts)


def _of_parquet(path: Path, rows: int) -> Iterator[_Part]:
    where = str(path)
    try:
        with pq.ParquetFile(path) as file:
            present = table.columns_of(file.schema_arrow.names, where)
            names, total, first = list(present.values()), file.metadata.num_rows, 1
            batches = (pa.Table.from_batches([one]) for one in file.iter_batches(1 << 18, columns=names))
            empty = file.schema_arrow.empty_table()
            for piece in _pieces(batches, present["qid"], rows) if total else [empty]:
                last = first + piece.num_rows
                line = None if piece.num_rows == total else np.arange(first, last, dtype=np.int64)
                yield _Part(piece, present["qid"], partial(_table_draft, piece, where, line))
                first = last
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: names that are not UTF-8
        found = f"no readable parquet file ({error})"
        raise InputError.one(where, found, "a parquet file", mend="Fetch or write the file again.") from error


def _table_draft(
    rows: pa.Table, where: str, line: NDArray[np.int64] | None, problems: Problems, counts: dict[str, int]
) -> Draft:
    return table.read_table(rows, where, problems, counts, line)


def _pieces(tables: Iterator[pa.Table], qid: str, rows: int) -> Iterator[pa.Table]:
    """Yield tables of about so many rows that end with a query."""
    waiting: list[pa.Table] = []
    held = 0
    for found in tables:
        waiting.append(found)
        held += found.num_rows
        if held < rows:
            continue
        whole = pa.concat_tables(waiting)
        cut = _last_query(whole, qid)
        if cut:
            yield whole.slice(0, cut)
        rest = whole.slice(cut)
        waiting, held = ([_copied(rest)] if rest.num_rows else []), rest.num_rows
    if held:
        yield pa.concat_tables(waiting)


class _Seen:
    """Query ids of the pieces so far."""

    def __init__(self) -> None:
        self._names = pa.array([], pa.large_string())

    def add(self, column: pa.ChunkedArray) -> bool:
        """Take the ids of a piece; return whether all of them are new."""
        plain = column.unify_dictionaries().combine_chunks() if pa.types.is_dictionary(column.type) else column
        if isinstance(plain, pa.ChunkedArray):
            plain = plain.combine_chunks()
        names = pc.unique(plain.dictionary if pa.types.is_dictionary(plain.type) else plain).cast(pa.large_string())
        if pa.types.is_dictionary(plain.type):
            names = names.filter(pa.array(np.isin(np.arange(len(names)), plain.indices.to_numpy(zero_copy_only=False))))
        known = pc.any(pc.is_in(names, value_set=self._names)).as_py() if len(self._names) else False
        self._names = pa.concat_arrays([self._names, names])
        return not known


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
