"""The text form of runs: `qid Q0 docno rank score tag`, with a sample number in the second column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import ConfigError, InputError, Problem, Problems
from rerankers._base.fields import Fields
from rerankers._base.files import atomic_path
from rerankers.runs.columns import WHOLE, codes_of, real_number
from rerankers.runs.compress import GzipWriter, open_for_text
from rerankers.runs.draft import Draft
from rerankers.runs.piece import Piece, Sink
from rerankers.runs.rows import Rows, draft_of, sample_labels

COLUMNS = ("qid", "sample", "docno", "rank", "score", "tag")
FORM = "six fields: qid Q0 docno rank score tag"
_NAME = pa.dictionary(pa.int32(), pa.large_string())
_SCHEMA = pa.schema(
    {
        "qid": _NAME,
        "sample": _NAME,
        "docno": _NAME,
        "rank": pa.int64(),
        "score": pa.float64(),
        "line": pa.int64(),
    }
)


def read_trec(path: Path, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read a run in text form; fields are separated by blanks or tabs.

    Raises
    ------
    InputError
        when lines are not of the form, when there are none, or when the archive is broken.
    """
    tables = list(read_tables(path, problems, counts))
    problems.raise_if_any()
    if not sum(table.num_rows for table in tables):
        raise InputError.one(str(path), "no line", f"lines of {FORM}")
    return draft_of_table(pa.concat_tables(tables), problems, counts)


def draft_of_table(table: pa.Table, problems: Problems, counts: dict[str, int]) -> Draft:
    """Return the rankings in rows of `read_tables`."""
    query, qids = codes_of(table["qid"])
    sample, samples = codes_of(table["sample"])
    doc, docnos = codes_of(table["docno"])
    rank, score, line = (table[name].to_numpy() for name in ("rank", "score", "line"))
    label = sample_labels(samples.to_pylist(), counts)
    return draft_of(Rows(qids, docnos, query, sample, doc, rank, score, label, line), problems, counts)


def read_tables(path: Path, problems: Problems, counts: dict[str, int]) -> Iterator[pa.Table]:
    """Yield the lines of a run in text form, some megabytes at a time; what is wrong is noted."""
    try:
        for first, block in read_blocks(path):
            table = _parse_regular(first, block, counts)
            yield _parse_lines(first, block, problems, counts) if table is None else table
    except InputError as error:  # reported together with the lines before it
        problems.kept.extend(error.problems)


def _parse_regular(first: int, block: bytes, counts: dict[str, int] | None = None) -> pa.Table | None:
    """Parse a block at once, counting blank lines, or return None where any of its lines is wrong."""
    fields = Fields.split(block, len(COLUMNS), first)
    rank = None if fields is None else fields.whole(COLUMNS.index("rank"))
    if fields is None or rank is None:
        return None
    score = fields.real(COLUMNS.index("score"), rank)
    if score is None or not np.isfinite(score).all():
        return None
    if counts is not None and fields.blank:
        counts["blank_lines"] = counts.get("blank_lines", 0) + fields.blank
    names = [
        pa.DictionaryArray.from_arrays(pa.array(code), texts)
        for code, texts in (fields.names(COLUMNS.index(name)) for name in ("qid", "sample", "docno"))
    ]
    return pa.table([*names, rank, score, fields.line], schema=_SCHEMA)


def _parse_lines(first: int, block: bytes, problems: Problems, counts: dict[str, int]) -> pa.Table:
    """Parse a block line by line, noting every problem."""
    kept: list[tuple[str, str, str, int, float, int]] = []
    lines = block.removesuffix(b"\n").split(b"\n")
    for number, raw in enumerate(lines, first):
        try:
            line = raw.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            problems.add(number, f"a byte that is not UTF-8 ({error.reason} at byte {error.start})", "UTF-8 text")
            continue
        fields = [field for field in line.replace("\t", " ").split(" ") if field]
        if not fields:
            counts["blank_lines"] = counts.get("blank_lines", 0) + 1
        elif "\r" in line:
            problems.add(number, "a carriage return inside the line", "lines that end in \\n or \\r\\n")
        elif len(fields) != len(COLUMNS):
            problems.add(number, f"{len(fields)} fields", FORM)
        else:
            qid, sample, docno, rank, score, _ = fields
            value = real_number(score)
            if not WHOLE.fullmatch(rank):
                problems.add(number, f"rank {rank!r}", "a whole number")
            elif not math.isfinite(value):
                problems.add(number, f"score {score!r}", "a finite number")
            else:
                kept.append((qid, sample, docno, int(rank), value, number))
    columns = list(zip(*kept, strict=True)) or [()] * len(_SCHEMA)
    plain = pa.schema([pa.field(f.name, pa.large_string() if f.type == _NAME else f.type) for f in _SCHEMA])
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, plain, strict=True)], schema=plain).cast(_SCHEMA)


def checked_tag(tag: str) -> str:
    """Return the tag when it is one word.

    Raises
    ------
    ConfigError
        when it is not.
    """
    if not tag or _unprintable([tag]):
        raise ConfigError(f"tag: found {tag!r}; expected one word without white space")
    return tag


def _unprintable(names: Sequence[str] | pa.LargeStringArray) -> list[str]:
    """Return the names with white space or control characters, which would break the line into other fields."""
    array = names if isinstance(names, pa.Array) else pa.array(names, pa.large_string())
    found: list[str] = array.filter(pc.match_substring_regex(array, r"[\p{Z}\p{Cc}]|^$")).to_pylist()
    return found


@contextmanager
def open_sink(path: Path, tag: str) -> Iterator[Sink]:
    """Open a text file for writing runs, whole or not at all."""
    with atomic_path(path) as temporary, open_for_text(temporary) as stream:
        yield _TextSink(stream, tag)


class _TextSink:
    def __init__(self, stream: IO[bytes] | GzipWriter, tag: str) -> None:
        self._stream, self._tag = stream, tag
        self._tails: list[str] = []

    def check(self, where: str, qids: Sequence[str], docnos: pa.LargeStringArray) -> None:
        wrong = [("query id", name) for name in _unprintable(qids)]
        wrong += [("document id", name) for name in _unprintable(docnos)]
        if wrong:
            expected, mend = "ids without white space in a text run", "Write run.parquet, or rename them."
            raise InputError(Problem(where, f"{what} {name!r}", expected, mend=mend) for what, name in wrong)

    def write(self, piece: Piece) -> None:
        place = piece.place
        deepest = int(place.max(initial=-1)) + 1
        self._tails += [f" {rank} {1 / rank!r} {self._tag}\n" for rank in range(len(self._tails) + 1, deepest + 1)]
        heads = [f"{qid} {label} " for qid, label in zip(piece.qid, piece.label.tolist(), strict=True)]
        text = pc.binary_join_element_wise(
            pa.array(heads, pa.large_string()).take(pa.array(piece.ranking)),
            piece.docno,
            pa.array(self._tails, pa.large_string()).take(pa.array(place)),
            pa.scalar("", pa.large_string()),
        )
        # The texts of the lines lie one after the other in the array's memory: that is the file.
        if len(text):
            ends = np.frombuffer(text.buffers()[1], dtype=np.int64)
            self._stream.write(memoryview(text.buffers()[2])[: int(ends[len(text)])])
