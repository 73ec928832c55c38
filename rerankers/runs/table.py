"""Runs as tables with named columns: Arrow tables, data frames, CSV and TSV files with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import collect_lines
from rerankers.runs.columns import by_appearance, distinct, names_of, note_not_finite, real_numbers, whole_numbers
from rerankers.runs.draft import Draft, raise_if_any
from rerankers.runs.rows import MOST_SAMPLES, Rows, draft_of, sample_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIASES = {
    "qid": ("qid", "query_id", "q_id"),
    "docno": ("docno", "doc_id", "id"),
    "sample": ("sample",),
    "rank": ("rank",),
    "score": ("score",),
}
EXPECTED = "columns qid, docno, rank or score, and sample where there are several rankings a query"
_LINES_A_CHUNK = 100_000


def columns_of(names: list[str], where: str) -> dict[str, str]:
    """Return which of a table's columns stands for each column of a run.

    Raises
    ------
    InputError
        when one is missing, or a name occurs twice.
    """
    found = {ours: next((a for a in aliases if a in names), "") for ours, aliases in ALIASES.items()}
    present = {ours: name for ours, name in found.items() if name}
    missing = [ours for ours in ("qid", "docno") if ours not in present]
    if missing or not {"rank", "score"} & present.keys():
        raise InputError.one(where, f"columns {', '.join(map(str, names)) or 'none'}", EXPECTED)
    twice = [name for name in present.values() if names.count(name) > 1]
    if twice:
        raise InputError.one(where, f"column {twice[0]} more than once", EXPECTED)
    return present


def read_frame(frame: Any, where: str, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read an Arrow table or anything that offers itself as Arrow data, such as a pandas or polars frame.

    Raises
    ------
    InputError
        when columns are missing or cannot be read as Arrow data.
    """
    try:
        if not isinstance(frame, pa.Table | pa.RecordBatch) and hasattr(frame, "columns"):
            names = list(frame.columns)
            frame = frame[list(columns_of(names, where).values())]  # other columns may be no Arrow data
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, KeyError, UnicodeError) as error:
        raise InputError.one(where, f"data that Arrow cannot hold ({error})", EXPECTED) from error
    return read_table(table, where, problems, counts)


def read_table(
    table: pa.Table, where: str, problems: Problems, counts: dict[str, int], line: NDArray[np.int64] | None = None
) -> Draft:
    """Read a table of ranked documents; messages name rows from 1, or the line of each row where ``line`` has it.

    Raises
    ------
    InputError
        when columns are missing, of the wrong kind, or have values that cannot be read; when there is no row.
    """
    present = columns_of(table.column_names, where)
    if not table.num_rows:
        problems.raise_if_any()
        raise InputError.one(where, "no row", "at least one ranked document")
    columns = {ours: table[name] for ours, name in present.items()}
    try:
        query, qids = names_of("query id", columns["qid"], line, problems)
        doc, docnos = names_of("document id", columns["docno"], line, problems)
        sample, label = _samples(columns.get("sample"), table.num_rows, line, problems, counts)
        rank = whole_numbers("rank", columns["rank"], line, problems) if "rank" in columns else None
        score = real_numbers("score", columns["score"], line, problems) if "score" in columns else None
    except (pa.ArrowException, TypeError) as error:
        problems.add(None, str(error), "ids as text or whole numbers, ranks and scores as numbers")
        raise InputError(problems.kept) from error
    if rank is None and score is None:
        problems.add(None, "neither ranks nor scores", EXPECTED)
    if problems and score is not None:  # those of the scores come with them
        note_not_finite("score", score, line, problems)
    raise_if_any(problems)
    return draft_of(Rows(qids, docnos, query, sample, doc, rank, score, label, line), problems, counts)


def _samples(
    column: pa.ChunkedArray | None,
    rows: int,
    line: NDArray[np.int64] | None,
    problems: Problems,
    counts: dict[str, int],
) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """Return the code of each row's sample, and the number of each sample by code, None where these are the same."""
    if column is None:
        return np.zeros(rows, dtype=np.int32), None
    if pa.types.is_integer(column.type) and not column.null_count:
        number = column.to_numpy()
        if number.min() >= 0 and number.max() < MOST_SAMPLES:
            return number.astype(np.int32, copy=False), None
    code, names = by_appearance(*distinct(*names_of("sample", column, line, problems)))
    return code, sample_labels(names.to_pylist(), counts)


def delimiter(header: str) -> str | None:
    """Return what separates the columns of a header line with the columns of a run, None where it is no such line."""
    for sign in ("\t", ","):
        names = {name.strip().strip('"') for name in header.split(sign)}
        if names & set(ALIASES["qid"]) and names & set(ALIASES["docno"]):
            return sign
    return None


def read_delimited(path: Path, sign: str, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read a CSV file (``"`` quotes a field) or a TSV file (nothing does), whose first line names the columns.

    Raises
    ------
    InputError
        when lines have another number of fields than the header, or quotes are wrong; and as `read_table`.
    """
    where = str(path)
    records = _records(path, sign, problems, counts)
    header = [name.strip() for name in next(records, (0, [""]))[1]]
    problems.raise_if_any()
    present = columns_of(header, where)
    pick = [header.index(name) for name in present.values()]
    chunks: list[pa.Table] = []
    kept: list[list[str | None]] = []
    lines: list[int] = []
    for number, fields in records:
        if len(fields) != len(header):
            problems.add(number, f"{len(fields)} fields", f"{len(header)} fields as in the header")
            continue
        kept.append([fields[index] or None for index in pick])
        lines.append(number)
        if len(kept) >= _LINES_A_CHUNK:
            chunks.append(_text_table(kept, list(present)))
            kept = []
    chunks.append(_text_table(kept, list(present)))
    return read_table(pa.concat_tables(chunks), where, problems, counts, np.array(lines, dtype=np.int64))


def _records(path: Path, sign: str, problems: Problems, counts: dict[str, int]) -> Iterator[tuple[int, list[str]]]:
    lines = (line for _, _, line in collect_lines(path, problems))
    reader = csv.reader(
        lines, delimiter=sign, quoting=csv.QUOTE_MINIMAL if sign == "," else csv.QUOTE_NONE, strict=True
    )
    try:
        for fields in reader:
            if not fields or (len(fields) == 1 and not fields[0].strip()):
                counts["blank_lines"] = counts.get("blank_lines", 0) + 1
            else:
                yield reader.line_num, fields
    except csv.Error as error:
        problems.add(reader.line_num, f"a line that is no CSV ({error})", "fields in proper quotes or in none")


def _text_table(rows: list[list[str | None]], names: list[str]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table([pa.array(column, pa.large_string()) for column in columns], names=names)
