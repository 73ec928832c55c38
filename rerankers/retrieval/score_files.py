"""Tables of scores of (query, document) pairs: CSV or TSV with a header ``qid``, ``doc_id`` and columns of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import Problems, choose
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Candidates, Ids, Topics

QUERY_COLUMNS, DOCUMENT_COLUMNS = ("qid", "query_id", "q_id"), ("docno", "doc_id", "id")


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of pairs by name, each pair once.

    Attributes
    ----------
    qids, docnos
        of the pairs.
    value
        float64, as many, finite.
    blank
        rows of the file without a number, where they are allowed; they are no pairs.
    """

    qids: list[str]
    docnos: list[str]
    value: NDArray[np.float64]
    blank: int = 0

    def placed(self, rows: Candidates, topics: Topics, docs: Ids) -> Placed:
        """Find the pairs among the documents of ``rows``, which are coded by ``docs``."""
        doc, query = docs.codes(self.docnos).astype(np.int64), topics.ids.codes(self.qids)
        width = len(docs)
        own = rows.query[rows.row_index].astype(np.int64) * width + rows.doc
        order = np.argsort(own)
        key = np.where((query >= 0) & (doc >= 0), query.astype(np.int64) * width + doc, -1)
        place = np.minimum(np.searchsorted(own[order], key), max(len(own) - 1, 0))
        known = own[order][place] == key if len(own) else np.zeros(len(key), dtype=bool)
        score = np.full(rows.nnz, np.nan)
        score[order[place[known]]] = self.value[known]
        return Placed(score, int(np.sum(~known)))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Scores along some rows: ``score`` float64 (nnz,), NaN where there is none, and how many pairs are elsewhere."""

    score: NDArray[np.float64]
    elsewhere: int


def read_scores(path: str, column: str | None, *, probability: bool = False, blanks: bool = False) -> Scores:
    """Read one column of a table of scores.

    Parameters
    ----------
    path
        of the file.
    column
        its name; None takes the only column beside the ids, or ``est_relevance``.
    probability
        whether numbers outside [0, 1] are errors.
    blanks
        whether a row may have nothing there; else that is an error.

    Raises
    ------
    MissingError
        when the file is not there.
    ConfigError
        for a column that the file does not have.
    InputError
        with every problem of the file and its line.
    """
    problems = Problems(path)
    table = Table(Path(path).expanduser(), problems)
    problems.raise_if_any()
    query, document, score = _columns(table, column, problems)
    found, first, blank = Scores([], [], np.empty(0)), dict[tuple[str, str], int](), 0
    values: list[float] = []
    for number, row in table:
        qid, docno = (fit_id(row[at], table.header[at], number, problems) for at in (query, document))
        if blanks and not row[score].strip():
            blank += 1
            continue
        value = _number(row[score])
        if value is None or (probability and not 0.0 <= value <= 1.0):
            expected = "a number from 0 to 1" if probability else "a finite number"
            problems.add(number, f"{table.header[score]} {row[score]!r}", expected)
        elif qid is not None and docno is not None:
            before = first.setdefault((qid, docno), number)
            if before != number:
                problems.add(number, f"query {qid!r}, document {docno!r} again, as in line {before}", "each pair once")
            found.qids.append(qid)
            found.docnos.append(docno)
            values.append(value)
    problems.raise_if_any()
    return Scores(found.qids, found.docnos, np.array(values, dtype=np.float64), blank)


def _columns(table: Table, column: str | None, problems: Problems) -> tuple[int, int, int]:
    query, document = table.column(*QUERY_COLUMNS), table.column(*DOCUMENT_COLUMNS)
    if query is None or document is None:
        problems.add(1, f"the header {', '.join(table.header)}", "qid,doc_id and a column of numbers")
        problems.raise_if_any()
    others = [name for at, name in enumerate(table.header) if at not in (query, document)]
    if column is None:
        column = others[0] if len(others) == 1 else "est_relevance"
    chosen = choose(f"{problems.where}, column of scores", column, others)
    return query or 0, document or 0, table.header.index(chosen)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
