"""The files of Grep-BiasIR (Krieg et al. 2023): a table of queries, and seven of documents, one a category."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rerankers._base.errors import MissingError, Problem, Problems
from rerankers.collections.delimited import Table
from rerankers.collections.folder import collection_folder, find_file, unpacked_name
from rerankers.collections.json_records import fit_id
from rerankers.collections.official_files import content_digest
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.collection import Counts

QUERY_FILE: Final = "queries.csv"
DOCUMENT_FILES: Final = "queries-documents_{}.csv"
PLACE: Final = "https://github.com/KlaraKrieg/GrepBiasIR (CC0 1.0)"
TESTED: Final = "KlaraKrieg/GrepBiasIR@ed44a46105"
CATEGORIES: Final = {
    "Appearance": "dd76b7ac6d322954d1bec1132d92e81d6519b39e109baa79b7931853ed246f5a",
    "Career": "4ea276ac1cfa5be240235c3d5c6c567912c101db57272dc8a8f0b5fb6f8fed41",
    "Child Care": "b7cd1604e1160b3dbe217df14e024688eaf14ae66cff3e480dbff585fc476869",
    "Cognitive Capabilities": "ba637ea8666416850b1875a5216d3fa9bfb0174f2ddd8237c65a7589a421cc10",
    "Domestic Work": "bb8e239d46314f6b927c3807d5026ba355e2e00ecad251bcba6183d3d906b63c",
    "Physical Capabilities": "4241043dae3e4e8a8d5504207b230d56fe696bd18586e07af7f058ea65af5c8e",
    "Sex & Relationship": "bbf1a7cb741a26d9d64089a8afc5d7c9ff4b82a9b2306f51e96b8a34cdcc5001",
}
"""The categories, with the sha256 of the tested copy of the documents of each."""
OF_QUERIES: Final = "ba624ec690b750117e10a59ca9c6f743de88347773d77e260d82bbc59f452996"
COLUMNS: Final = ("q_id", "d_id", "relevant", "query", "doc_title", "document", "content_gender", "exp_stereotype")
_CUT: Final = 3
_told: set[str] = set()  # warnings that this process has printed


@dataclass(frozen=True, slots=True)
class Row:
    """A document of a query: the columns of its file as they stand, less white space around them."""

    query: str
    docno: str
    relevant: int
    title: str
    text: str
    gender: str
    stereotype: str


@dataclass(frozen=True, slots=True)
class GrepFiles:
    """What the files say.

    Attributes
    ----------
    queries, categories
        query id -> text and -> category, in the order of the file.
    rows
        all documents, file by file.
    files
        what was read.
    counts
        ``queries``, ``documents``; where there are any, ``documents_with_text_of_another``,
        ``document_categories_missing``, ``blank_lines``, ``files_of_another_edition``.
    """

    queries: Mapping[str, str]
    categories: Mapping[str, str]
    rows: tuple[Row, ...]
    files: tuple[Path, ...] = ()
    counts: Counts = field(default_factory=dict)


def read_grep_biasir(path: str) -> GrepFiles:
    """Read a folder with ``queries.csv`` and ``queries-documents_CATEGORY.csv``, plain or compressed.

    A category's file may be missing; that is counted, and so is a copy that is not the tested one (also told on
    standard error, once a process). Texts stay as they are, white space around them aside.

    Raises
    ------
    MissingError
        when there is no such folder, no queries or no documents; the text says where the files live.
    InputError
        with every problem of all files and its line: missing columns, ids that will not do, a query or document twice,
        ``relevant`` that is neither 0 nor 1, documents of unknown queries, another category or text of a query.
    """
    folder = _folder(path)
    query_file, documents = _need(folder)
    problems = Problems(str(query_file))
    queries, categories, blank = _queries(query_file, problems)
    found = list(problems.kept)
    rows: list[Row] = []
    at: dict[str, str] = {}
    for category, file in documents.items():
        own = Problems(str(file))
        blank += _documents(file, category, queries, categories, rows, at, own)
        found += own.kept
    _raise(found)
    files = (query_file, *documents.values())
    counts = met(
        queries=len(queries),
        documents=len(rows),
        documents_with_text_of_another=len(rows) - len({(row.title, row.text) for row in rows}),
        document_categories_missing=len(CATEGORIES) - len(documents),
        blank_lines=blank,
        files_of_another_edition=_other_editions(files),
    )
    return GrepFiles(queries, categories, tuple(rows), files, counts)


def _folder(path: str) -> Path:
    try:
        return collection_folder(path)
    except MissingError as error:
        raise MissingError(f"{error}. Grep-BiasIR lives at {PLACE}") from None


def _need(folder: Path) -> tuple[Path, dict[str, Path]]:
    queries = find_file(folder, [QUERY_FILE])
    found = {category: find_file(folder, [DOCUMENT_FILES.format(category)]) for category in CATEGORIES}
    documents = {category: file for category, file in found.items() if file is not None}
    if queries is None or not documents:
        missing = QUERY_FILE if queries is None else DOCUMENT_FILES.format("CATEGORY")
        held = ", ".join(sorted(file.name for file in folder.iterdir())[:10]) or "nothing"
        raise MissingError(f"{folder}: no {missing}; the folder holds {held}. Grep-BiasIR lives at {PLACE}")
    return queries, documents


def _queries(file: Path, problems: Problems) -> tuple[dict[str, str], dict[str, str], int]:
    table = Table(file, problems)
    places = _places(table, ("q_id", "category", "query"), problems)
    queries: dict[str, str] = {}
    categories: dict[str, str] = {}
    for number, row in table if places else ():
        qid = fit_id(row[places[0]].strip(), "q_id", number, problems)
        if qid in queries:
            problems.add(number, f"query {qid!r} again", "each query once")
        elif qid is not None:
            queries[qid], categories[qid] = row[places[2]].strip(), row[places[1]].strip()
    if not queries and not problems:
        problems.add(None, "no query", "at least one row below the header")
    return queries, categories, table.blank


def _documents(
    file: Path,
    category: str,
    queries: Mapping[str, str],
    categories: Mapping[str, str],
    rows: list[Row],
    at: dict[str, str],
    problems: Problems,
) -> int:
    """Read the documents of a category; return the number of blank lines."""
    table = Table(file, problems)
    places = _places(table, COLUMNS, problems)
    for number, fields in table if places else ():
        qid, docno, relevant, query, title, text, gender, stereotype = (fields[place].strip() for place in places)
        name = fit_id(docno, "d_id", number, problems)
        if name in at:
            problems.add(number, f"document {name!r} again, as in {at[name]}", "each document once")
        elif name is not None:
            at[name] = f"{file.name}:{number}"
        if relevant not in ("0", "1"):
            problems.add(number, f"relevant {relevant!r}", "0 or 1")
        if qid not in queries:
            problems.add(number, f"query {qid!r}, which {QUERY_FILE} lacks", "one of its q_id")
        elif categories[qid] != category or queries[qid] != query:
            here = f"query {qid!r} as {query!r} of {category!r}"
            problems.add(number, here, f"{queries[qid]!r} of {categories[qid]!r}, as {QUERY_FILE} says")
        rows.append(Row(qid, docno, int(relevant == "1"), title, text, gender, stereotype))
    return table.blank


def _places(table: Table, names: Iterable[str], problems: Problems) -> list[int]:
    """Return the positions of columns; empty, and a problem, when some are missing."""
    places = {name: table.column(name) for name in names}
    missing = [name for name, place in places.items() if place is None]
    if missing and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", f"also the columns {', '.join(missing)}")
    return [] if missing else [place for place in places.values() if place is not None]


def _raise(found: list[Problem]) -> None:
    problems = Problems("", kept=found)
    problems.raise_if_any()


def _other_editions(files: Iterable[Path]) -> int:
    known = {DOCUMENT_FILES.format(category): digest for category, digest in CATEGORIES.items()}
    known[QUERY_FILE] = OF_QUERIES
    other = [file for file in files if content_digest(file)[0] != known[unpacked_name(file)]]
    if other and str(other[0].parent) not in _told:
        _told.add(str(other[0].parent))
        names = ", ".join(file.name for file in other[:_CUT]) + (" …" if len(other) > _CUT else "")
        print(f"warning: {other[0].parent}: {names}: another edition than the one tested ({TESTED})", file=sys.stderr)
    return len(other)
