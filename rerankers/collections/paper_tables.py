"""The tables of papers, authors and who wrote what that TREC Fair Ranking 2020 derived from its corpus."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems, choose
from rerankers._base.fingerprint import fingerprint
from rerankers.collections.author_table import AuthorTable
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id, note_duplicates
from rerankers.collections.number_columns import NumberColumns
from rerankers.values.authors import Authors
from rerankers.values.ids import Ids
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts

PAPER, AUTHOR = "paper_sha", "corpus_author_id"
TEXTS = {"title": "paper_title", "venue": "paper_venue"}
NUMBERS = {"year": "paper_year", "n_citations": "n_citations", "n_key_citations": "n_key_citations"}
AUTHOR_NUMBERS = ("num_citations", "num_papers", "i10", "h_index")


@dataclass(frozen=True, slots=True, eq=False)
class PaperTexts:
    """Titles and venues, held in memory: a store of texts as `DocumentStore` describes it.

    Attributes
    ----------
    docno
        Arrow large_string (papers,), ascending.
    columns
        field -> Arrow large_string (papers,).
    fingerprint
        of all of it.
    """

    docno: pa.LargeStringArray
    columns: Mapping[str, pa.LargeStringArray]
    fingerprint: str

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the text fields."""
        return tuple(self.columns)

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields that are not empty, joined by a blank), docnos ascending.

        Raises
        ------
        ConfigError
            for a field that there is not.
        """
        for field in fields:
            choose("text field", field, self.fields)
        columns = [self.columns[field] for field in fields]
        for row, docno in enumerate(self.docno):
            yield docno.as_py(), " ".join(filter(None, (column[row].as_py() for column in columns)))


@dataclass(frozen=True, slots=True, eq=False)
class PaperTable:
    """Papers, ascending by id.

    Attributes
    ----------
    texts
        the store.
    fields
        year, n_citations, n_key_citations: float64 (papers,), NaN where one is blank.
    counts
        ``papers``; where there are any, ``papers_without_title``, ``papers_without_year``,
        ``paper_numbers_not_read``, ``blank_paper_lines``.
    """

    texts: PaperTexts
    fields: Mapping[str, NDArray[np.float64]]
    counts: Counts


def read_papers(path: Path) -> PaperTable:
    """Read ``paper_sha,paper_title,paper_year,paper_venue,n_citations,n_key_citations``, a title in several lines too.

    Raises
    ------
    InputError
        with every problem and its line: a column that is missing, an id that will not do, a paper twice.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    place = _columns(table, [PAPER, *TEXTS.values(), *NUMBERS.values()], problems)
    names: list[str] = []
    line = array("q")
    texts: dict[str, list[str]] = {field: [] for field in TEXTS}
    numbers, unread = NumberColumns(), 0
    for number, row in table:
        docno = fit_id(row[place[PAPER]], PAPER, number, problems)
        if docno is None:
            continue
        for field, column in TEXTS.items():
            texts[field].append(row[place[column]].strip())
        for field, column in NUMBERS.items():
            value = _number(row[place[column]])
            unread += value is None
            numbers.put(field, len(names), math.nan if value is None else value)
        names.append(docno)
        line.append(number)
    docno_array = pa.array(names, pa.large_string())
    note_duplicates(docno_array, np.array(line, np.int64), "paper", problems)
    problems.raise_if_any()
    order = np.argsort(np.array(names, dtype=object)) if names else np.empty(0, np.int64)
    picked = pa.array(order)
    columns = {field: pa.array(column, pa.large_string()).take(picked) for field, column in texts.items()}
    fields = {field: column[order] for field, column in numbers.arrays(len(names)).items()}
    docno_array = docno_array.take(picked)
    mark = fingerprint("papers", docno_array.to_pylist(), {field: c.to_pylist() for field, c in columns.items()})
    counts = met(
        papers=len(names),
        papers_without_title=sum(not title for title in texts["title"]),
        papers_without_year=int(np.isnan(fields.get("year", np.empty(0))).sum()),
        paper_numbers_not_read=unread,
        blank_paper_lines=table.blank,
    )
    return PaperTable(PaperTexts(docno_array, columns, mark), fields, counts)


def read_author_numbers(path: Path) -> AuthorTable:
    """Read ``corpus_author_id,…,num_citations,num_papers,i10,h_index,h_class``; names are not looked at.

    Raises
    ------
    InputError
        with every problem and its line.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    place = _columns(table, [AUTHOR, *AUTHOR_NUMBERS], problems)
    names: list[str] = []
    line = array("q")
    numbers, unread = NumberColumns(), 0
    for number, row in table:
        author = fit_id(row[place[AUTHOR]], AUTHOR, number, problems)
        if author is None:
            continue
        for field in AUTHOR_NUMBERS:
            value = _number(row[place[field]])
            unread += value is None
            numbers.put(field, len(names), math.nan if value is None else value)
        names.append(author)
        line.append(number)
    ids = pa.array(names, pa.large_string())
    note_duplicates(ids, np.array(line, np.int64), "author", problems)
    problems.raise_if_any()
    counts = met(author_records=len(names), author_values_not_numbers=unread, blank_author_lines=table.blank)
    return AuthorTable(ids, numbers.arrays(len(names)), counts)


def read_paper_authors(path: Path, docs: Ids) -> tuple[Authors, Counts]:
    """Read ``paper_sha,corpus_author_id,position`` as author lists over documents, in the order of the positions.

    A link without an author id keeps its place, under code -1.

    Returns
    -------
    authors, counts
        ``author_links``; where there are any, ``author_links_without_id``, ``author_links_of_unknown_documents``,
        ``author_links_at_taken_positions``, ``documents_without_author``, ``blank_link_lines``.

    Raises
    ------
    InputError
        with every problem and its line.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    place = _columns(table, [PAPER, AUTHOR, "position"], problems)
    papers: list[str] = []
    authors: list[str | None] = []
    positions = array("d")
    for number, row in table:
        paper = fit_id(row[place[PAPER]], PAPER, number, problems)
        text = row[place[AUTHOR]].strip()
        author = fit_id(text, AUTHOR, number, problems) if text else None
        at = _number(row[place["position"]])
        if at is None or math.isnan(at):
            problems.add(number, f"position {row[place['position']]!r}", "a number")
        elif paper is not None:
            papers.append(paper)
            authors.append(author)
            positions.append(at)
    problems.raise_if_any()
    doc, position = docs.codes(papers), np.array(positions)
    names = pa.array(authors, pa.large_string())
    ids = Ids.union(names.drop_null())
    order = np.lexsort((np.arange(len(doc)), position, doc))
    order = order[doc[order] >= 0]
    taken = (doc[order][1:] == doc[order][:-1]) & (position[order][1:] == position[order][:-1])
    lengths = np.bincount(doc[order], minlength=len(docs))
    counts = met(
        author_links=len(doc),
        author_links_without_id=names.null_count,
        author_links_of_unknown_documents=int(np.sum(doc < 0)),
        author_links_at_taken_positions=int(taken.sum()),
        documents_without_author=int(np.sum(lengths == 0)),
        blank_link_lines=table.blank,
    )
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Authors(ids, indptr, ids.codes(names)[order]), counts


def _columns(table: Table, names: Sequence[str], problems: Problems) -> dict[str, int]:
    missing = [name for name in names if name not in table.header]
    if missing and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", f"columns {', '.join(missing)} too")
    problems.raise_if_any()
    return {name: table.header.index(name) for name in names}


def _number(text: str) -> float | None:
    """Return NaN for a blank, None for what is no number."""
    try:
        value = float(text) if text.strip() else math.nan
    except ValueError:
        return None
    return None if math.isinf(value) else value
