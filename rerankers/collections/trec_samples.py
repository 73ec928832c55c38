"""The query files of TREC Fair Ranking 2019 and 2020: JSON lines with the candidates of each query, judged or not."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems
from rerankers._base.files import read_lines
from rerankers.collections.json_records import fit_id, json_records, kind_of, note_duplicates
from rerankers.values.collection import Counts, Topics
from rerankers.values.qrels import QrelsTable, met

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORM = '{"qid": 12, "query": "…", "frequency": 0.1, "documents": [{"doc_id": "d3", "relevance": 1}]}'
UNJUDGED = -(2**15)
_LOWEST, _HIGHEST = UNJUDGED + 1, 2**15 - 1
_IDS_A_CHUNK = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Queries with their candidates, in the order of the file.

    Attributes
    ----------
    topics
        the Q queries.
    frequency
        float64 (Q,), how often a query is asked (relative; it need not sum to 1), NaN where it is not said.
    indptr
        int64 (Q + 1,), the candidates of query i are pairs indptr[i]:indptr[i + 1].
    docno
        Arrow large_string (pairs,).
    grade
        int16 (pairs,), `UNJUDGED` where the relevance is null or missing.
    counts
        ``sample_queries``, ``sample_pairs``; where there are any, ``sample_pairs_unjudged``,
        ``sample_queries_unjudged``, ``sample_queries_without_relevant`` (judged ones), ``sample_queries_without_text``,
        ``sample_queries_without_candidates``, ``negative_grades``, ``blank_sample_lines``.
    """

    topics: Topics
    frequency: NDArray[np.float64]
    indptr: NDArray[np.int64]
    docno: pa.LargeStringArray
    grade: NDArray[np.int16]
    counts: Counts

    @property
    def query(self) -> NDArray[np.int64]:
        """int64 (pairs,), the query of each candidate."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int64), np.diff(self.indptr))

    def qrels(self) -> QrelsTable:
        """Return the judged pairs."""
        judged = self.grade != UNJUDGED
        qid = self.topics.ids.names.take(pa.array(self.query[judged]))
        return QrelsTable(qid, self.docno.filter(pa.array(judged)), self.grade[judged], self.counts)


def read_sample(path: str | Path) -> Sample:
    """Read a query file (plain, ``.gz`` or ``.zst``), one query a line.

    ``relevance`` is a whole number, or null for "not judged"; other keys than those of `FORM` are left alone.

    Raises
    ------
    InputError
        with every problem and its line: broken JSON, missing keys, a query or a candidate twice, a relevance that is
        no whole number; or a file without queries.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    blank = [0]
    rows = _Rows(problems)
    for number, _, record in json_records(Path(path), problems, blank):
        rows.add(number, record)
    if not rows.qids and not problems:
        problems.add(None, "no query", f"lines of the form {FORM}")
    note_duplicates(pa.array(rows.qids, pa.large_string()), np.array(rows.line, np.int64), "query", problems)
    problems.raise_if_any()
    return rows.sample(blank[0])


def is_sample(path: str | Path) -> bool:
    """Return whether a file's first line that holds anything begins a JSON object."""
    return next((text for _, text in read_lines(Path(path)) if text.strip()), "").lstrip().startswith("{")


class _Rows:
    """Queries on their way into arrays."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.qids: list[str] = []
        self.line = array("q")
        self._texts: list[str] = []
        self._frequency = array("d")
        self._lengths = array("q")
        self._grade = array("h")
        self._pending: list[str] = []
        self._chunks: list[pa.LargeStringArray] = []

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        missing = [key for key in ("qid", "documents") if key not in record]
        if missing:
            self.problems.add(number, f"a query without {' and '.join(missing)}", FORM)
            return
        qid = fit_id(record["qid"], "qid", number, self.problems)
        text = record.get("query") or ""
        if not isinstance(text, str):
            self.problems.add(number, f"a query that is {kind_of(text)}", "text")
            text = ""
        if qid is None:
            return
        candidates = dict(self._candidates(number, record["documents"]))
        self.qids.append(qid)
        self.line.append(number)
        self._texts.append(text)
        self._frequency.append(self._frequency_of(number, record.get("frequency")))
        self._lengths.append(len(candidates))
        self._grade.extend(candidates.values())
        self._pending += candidates
        if len(self._pending) >= _IDS_A_CHUNK:
            self._flush()

    def _candidates(self, number: int, documents: Any) -> Iterator[tuple[str, int]]:
        if not isinstance(documents, list):
            self.problems.add(number, f"documents that are {kind_of(documents)}", FORM)
            return
        seen: set[str] = set()
        for entry in documents:
            if not isinstance(entry, Mapping) or "doc_id" not in entry:
                self.problems.add(number, "a document without doc_id", FORM)
                continue
            docno = fit_id(entry["doc_id"], "doc_id", number, self.problems)
            grade = self._grade_of(number, entry.get("relevance"))
            if docno is None:
                continue
            if docno in seen:
                self.problems.add(number, f"document {docno!r} again in one query", "each candidate once")
            seen.add(docno)
            yield docno, grade

    def _grade_of(self, number: int, value: Any) -> int:
        if value is None:
            return UNJUDGED
        whole = type(value) is int or (type(value) is float and value.is_integer())
        if not whole or not _LOWEST <= value <= _HIGHEST:
            self.problems.add(number, f"relevance {value!r}", f"a whole number from {_LOWEST} to {_HIGHEST}, or null")
            return UNJUDGED
        return int(value)

    def _frequency_of(self, number: int, value: Any) -> float:
        if value is None:
            return float("nan")
        if type(value) not in (int, float) or not 0 <= value < float("inf"):
            self.problems.add(number, f"frequency {value!r}", "a number of at least 0, or null")
            return float("nan")
        return float(value)

    def _flush(self) -> None:
        self._chunks.append(pa.array(self._pending, pa.large_string()))
        self._pending = []

    def sample(self, blank: int) -> Sample:
        self._flush()
        lengths, grade = np.array(self._lengths, np.int64), np.array(self._grade, np.int16)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        judged = grade != UNJUDGED
        row = np.repeat(np.arange(len(lengths)), lengths)
        judged_in = np.bincount(row[judged], minlength=len(lengths)) > 0
        relevant_in = np.bincount(row[grade > 0], minlength=len(lengths)) > 0
        counts = met(
            sample_queries=len(lengths),
            sample_pairs=len(grade),
            sample_pairs_unjudged=int(np.sum(~judged)),
            sample_queries_unjudged=int(np.sum(~judged_in)),
            sample_queries_without_relevant=int(np.sum(judged_in & ~relevant_in)),
            sample_queries_without_text=sum(not text.strip() for text in self._texts),
            sample_queries_without_candidates=int(np.sum(lengths == 0)),
            negative_grades=int(np.sum(judged & (grade < 0))),
            blank_sample_lines=blank,
        )
        topics = Topics.of(self.qids, self._texts)
        return Sample(topics, np.array(self._frequency), indptr, pa.concat_arrays(self._chunks), grade, counts)
