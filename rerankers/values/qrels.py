"""Relevance judgments in a file: `qid iter docno grade`, read whole, with every problem of the file at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers.values.ragged import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids

_GRADE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_LINES_A_CHUNK = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class QrelsTable:
    """Judged pairs by name, in the order of their file, each pair once.

    Attributes
    ----------
    qid, docno
        Arrow large_string (rows,).
    grade
        int16 (rows,), as judged: -1 and -100 stay what they are.
    counts
        ``judgments``; and, where there are any, ``negative_grades``, ``duplicate_judgments`` (equal lines beyond the
        first), ``blank_qrels_lines``.
    """

    qid: pa.LargeStringArray
    docno: pa.LargeStringArray
    grade: NDArray[np.int16]
    counts: Counts

    def bind(self, topics: Ids, docs: Ids) -> tuple[Judgments, Counts]:
        """Code the pairs: one row per topic that has any, topics in their order, documents by code.

        Returns
        -------
        judgments, counts
            counts, where there are any: ``judgments_of_unknown_queries``, ``judged_queries_unknown`` (how many
            queries those are) and ``judgments_of_unknown_documents``, all left out; ``queries_without_judgments``
            and ``queries_without_relevant`` (judged, but nothing has a grade above 0), both kept.
        """
        query = topics.codes(self.qid)
        doc = docs.codes(self.docno)
        stranger = query < 0
        known = ~stranger & (doc >= 0)
        order = np.flatnonzero(known)
        order = order[np.lexsort((doc[order], query[order]))]
        rows, lengths = np.unique(query[order], return_counts=True)
        grade = self.grade[order]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        judgments = Judgments(rows, indptr, doc[order], {"grade": grade})
        relevant = np.unique(query[order][grade > 0])
        return judgments, met(
            judgments_of_unknown_queries=int(stranger.sum()),
            judged_queries_unknown=pc.count_distinct(self.qid.filter(pa.array(stranger))).as_py(),
            judgments_of_unknown_documents=int((~stranger & (doc < 0)).sum()),
            queries_without_judgments=len(topics) - len(rows),
            queries_without_relevant=len(rows) - len(relevant),
        )


def met(**counts: int) -> Counts:
    """Return the counts that are not zero, in their order."""
    return {name: count for name, count in counts.items() if count}


def read_qrels(path: str | Path) -> QrelsTable:
    """Read a qrels file (plain, ``.gz`` or ``.zst``).

    A line has four fields, ``qid iter docno grade`` with any ``iter``, or three, ``qid docno grade``, separated by
    white space. A grade is a whole number from -32768 to 32767; ``1.0`` is one, ``0.5`` is not.

    Raises
    ------
    InputError
        with every problem and its line: a wrong number of fields, a grade that is no whole number, two different
        grades for one pair (both lines are named), no judgment at all.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    rows = _Rows()
    for number, _, text in collect_lines(Path(path), problems):
        fields = text.split()
        if len(fields) == 4:
            rows.add(number, fields[0], fields[2], fields[3], problems)
        elif len(fields) == 3:
            rows.add(number, fields[0], fields[1], fields[2], problems)
        elif fields:
            problems.add(number, f"{len(fields)} fields", "qid iter docno grade, or qid docno grade")
        else:
            rows.blank += 1
    if not rows.number and not rows.chunks and not problems:
        problems.add(None, "no judgment", "at least one line: qid iter docno grade")
    table = rows.table(problems)
    problems.raise_if_any()
    return table


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
                problems.add(number, f"grade {grade!r}", "a whole number from -32768 to 32767")
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

    def table(self, problems: Problems) -> QrelsTable:
        self._flush()
        qid, docno = (pa.concat_arrays([chunk[side] for chunk in self.chunks]) for side in (0, 1))
        grade, number = (np.concatenate([chunk[side] for chunk in self.chunks]) for side in (2, 3))
        keep = _first_of_each(qid, docno, grade, number, problems)
        kept = pa.array(keep)
        counts = met(
            judgments=len(keep),
            negative_grades=int((grade[keep] < 0).sum()),
            duplicate_judgments=len(grade) - len(keep),
            blank_qrels_lines=self.blank,
        )
        return QrelsTable(qid.take(kept), docno.take(kept), grade[keep], counts)


def _grade(text: str) -> int | None:
    if not _GRADE.fullmatch(text):
        return None
    value = int(text.partition(".")[0])
    return value if -32768 <= value <= 32767 else None


def _first_of_each(
    qid: pa.Array, docno: pa.Array, grade: NDArray[np.int16], number: NDArray[np.int64], problems: Problems
) -> NDArray[np.int64]:
    """Return the rows to keep, ascending: the first line of each pair; pairs judged differently are problems."""
    query, doc = (pc.dictionary_encode(column).indices.to_numpy().astype(np.int64) for column in (qid, docno))
    key = query * (1 + int(doc.max(initial=0))) + doc
    _, first, pair = np.unique(key, return_index=True, return_inverse=True)
    differs = np.flatnonzero(grade != grade[first[pair]])
    for row in differs.tolist():
        before = int(first[pair[row]])
        problems.add(
            int(number[row]),
            f"grade {grade[row]} for query {qid[row].as_py()!r}, document {docno[row].as_py()!r}",
            f"grade {grade[before]} as in line {number[before]}",
            mend="Keep one of the two lines.",
        )
    return np.sort(first)
