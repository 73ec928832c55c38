"""The lines of a qrels file: many at once where they are plain, one by one where they are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError, Problems
from rerankers._base.fields import Fields
from rerankers._base.files import collect_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GRADE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_LOWEST, _HIGHEST = -32768, 32767
_LINES_A_CHUNK = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class QrelsLines:
    """Judgments as they stand in the file.

    Attributes
    ----------
    qids, docnos
        Arrow large_string, the names of the codes, each once.
    query, doc
        int32 (lines,), codes.
    grade
        int16 (lines,).
    number
        int64 (lines,), line numbers.
    blank
        lines without any field.
    """

    qids: pa.LargeStringArray
    docnos: pa.LargeStringArray
    query: NDArray[np.int32]
    doc: NDArray[np.int32]
    grade: NDArray[np.int16]
    number: NDArray[np.int64]
    blank: int


def plain_lines(path: Path) -> QrelsLines | None:
    """Read a file whose lines are all right and of one width, in plain ASCII; None for any other file.

    Beyond that, there is more white space than blanks and tabs.

    Raises
    ------
    MissingError
        when there is no such file.
    """
    width, lines = 0, list[tuple[Any, ...]]()
    try:
        for first, block in read_blocks(path):
            width = width or len(block.lstrip().partition(b"\n")[0].split())
            found = _plain_block(block, width, first)
            if found is None:
                return None
            lines.append(found)
    except InputError:  # found again line by line, after the problems before it
        return None
    if not lines:
        return None
    qids, docnos, grades, numbers, blank = zip(*lines, strict=True)
    qid, docno = (_one(parts) for parts in (qids, docnos))
    grade, number = np.concatenate(grades), np.concatenate(numbers)
    query, doc = (column.indices.to_numpy() for column in (qid, docno))
    return QrelsLines(qid.dictionary, docno.dictionary, query, doc, grade, number, sum(blank))


def _one(parts: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    return parts[0] if len(parts) == 1 else pa.chunked_array(parts).unify_dictionaries().combine_chunks()


def _plain_block(block: bytes, width: int, first: int) -> tuple[Any, ...] | None:
    """Return ids (dictionaries), grades, line numbers and how many lines are blank, None where a line is not plain."""
    fields = Fields.split(block, width, first, plain=True) if width in (3, 4) else None
    grade = None if fields is None else fields.whole(width - 1)
    if fields is None or grade is None or not _LOWEST <= grade.min(initial=0) <= grade.max(initial=0) <= _HIGHEST:
        return None
    names = (fields.names(column) for column in (0, width - 2))
    qid, docno = (pa.DictionaryArray.from_arrays(pa.array(code), texts) for code, texts in names)
    return qid, docno, grade.astype(np.int16), fields.line, fields.blank


def read_lines(path: Path, problems: Problems) -> QrelsLines:
    """Read any file line by line, noting every problem."""
    rows = _Rows()
    for number, _, text in collect_lines(path, problems):
        fields = text.split()
        if len(fields) == 4:
            rows.add(number, fields[0], fields[2], fields[3], problems)
        elif len(fields) == 3:
            rows.add(number, fields[0], fields[1], fields[2], problems)
        elif fields:
            problems.add(number, f"{len(fields)} fields", "qid iter docno grade, or qid docno grade")
        else:
            rows.blank += 1
    return rows.lines()


class _Rows:
    """Rows on their way into Arrow, in chunks, so that memory holds few Python strings."""

    def __init__(self) -> None:
        self.qid: list[str] = []
        self.docno: list[str] = []
        self.grade: list[int] = []
        self.number: list[int] = []
        self.chunks: list[tuple[Any, ...]] = []
        self.blank = 0
        self._grades: dict[str, int | None] = {}

    def add(self, number: int, qid: str, docno: str, grade: str, problems: Problems) -> None:
        value = self._grades.get(grade)
        if value is None:
            value = self._grades[grade] = _grade(grade)
            if value is None:
                problems.add(number, f"grade {grade!r}", f"a whole number from {_LOWEST} to {_HIGHEST}")
                return
        self.qid.append(qid)
        self.docno.append(docno)
        self.grade.append(value)
        self.number.append(number)
        if len(self.number) >= _LINES_A_CHUNK:
            self._flush()

    def _flush(self) -> None:
        names = [pa.array(column, pa.large_string()) for column in (self.qid, self.docno)]
        self.chunks.append((*names, np.array(self.grade, np.int16), np.array(self.number, np.int64)))
        for column in (self.qid, self.docno, self.grade, self.number):
            column.clear()

    def lines(self) -> QrelsLines:
        self._flush()
        qid, docno, grade, number = zip(*self.chunks, strict=True)
        coded = [pa.concat_arrays(column).dictionary_encode() for column in (qid, docno)]
        query, doc = (column.indices.to_numpy() for column in coded)
        qids, docnos = (column.dictionary for column in coded)
        return QrelsLines(qids, docnos, query, doc, np.concatenate(grade), np.concatenate(number), self.blank)


def _grade(text: str) -> int | None:
    if not _GRADE.fullmatch(text):
        return None
    value = int(text.partition(".")[0])
    return value if _LOWEST <= value <= _HIGHEST else None
