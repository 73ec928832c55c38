"""One pass over a file of documents: what fits in memory, and everything that is wrong with the file."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems, choose
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.collections.author_lists import AuthorLists
from rerankers.collections.json_records import json_records, kind_of, note_duplicates, take_id
from rerankers.collections.jsonl_store import DOCUMENT_KEYS, JsonlDocuments, as_text
from rerankers.collections.number_columns import NumberColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_FIELDS = ("title", "abstract", "text", "contents", "body")
_ROWS_A_CHUNK = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """What one pass over the documents found, in the order of the file.

    Attributes
    ----------
    path
        the file.
    docno, offset
        Arrow large_string (n,); int64 (n,), where each line starts in the unpacked file.
    text_fields
        those in use.
    numbers
        name -> float64 (n,): every key that holds a number in some record; NaN elsewhere.
    authors
        the author lists.
    counts
        what was met.
    """

    path: Path
    docno: pa.LargeStringArray
    offset: NDArray[np.int64]
    text_fields: tuple[str, ...]
    numbers: Mapping[str, NDArray[np.float64]]
    authors: AuthorLists
    counts: Mapping[str, int]

    def store(self) -> JsonlDocuments | None:
        """Return the store of texts, or None when no document has a text field."""
        if not self.text_fields:
            return None
        order = pc.sort_indices(self.docno).to_numpy()
        mark = fingerprint("jsonl documents", file_fingerprint(self.path), self.text_fields)
        return JsonlDocuments(self.path, self.text_fields, mark, self.docno.take(pa.array(order)), self.offset[order])


def scan_documents(path: Path, text_fields: Sequence[str] | None, author_field: str) -> Scan:
    """Read all documents once and check them.

    Parameters
    ----------
    path
        the file, plain, ``.gz`` or ``.zst``.
    text_fields
        keys to search in; None takes those of `TEXT_FIELDS` that occur.
    author_field
        key of the list of author ids.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    ConfigError
        when a field of ``text_fields`` occurs in no document.
    """
    problems = Problems(str(path))
    scanner = _Scanner(tuple(text_fields) if text_fields else TEXT_FIELDS, author_field, problems)
    blank = [0]
    for number, offset, record in json_records(path, problems, blank):
        scanner.add(number, offset, record)
    if not scanner.rows and not problems:
        problems.add(None, "no document", "one JSON object a line")
    scanner.flush()
    names = pa.concat_arrays(scanner.chunks)
    note_duplicates(names, np.array(scanner.line, np.int64), "document", problems)
    problems.raise_if_any()
    for field in text_fields or ():
        choose("collection.text_fields", field, sorted(scanner.textual - {*DOCUMENT_KEYS, author_field}))
    counts = {"documents": scanner.rows, **scanner.counts(), "blank_document_lines": blank[0]}
    used = tuple(field for field in scanner.fields if field in scanner.textual)
    offset_array = np.array(scanner.offset, np.int64)
    return Scan(path, names, offset_array, used, scanner.numbers.arrays(scanner.rows), scanner.authors, counts)


class _Scanner:
    def __init__(self, fields: tuple[str, ...], author_field: str, problems: Problems) -> None:
        self.fields = fields
        self.problems = problems
        self.rows = 0
        self.names: list[str] = []
        self.chunks: list[pa.LargeStringArray] = []
        self.line = array("q")
        self.offset = array("q")
        self.numbers = NumberColumns()
        self.textual: set[str] = set()
        self.authors = AuthorLists(author_field, problems)
        self.nulls = 0
        self.without_text = 0

    def add(self, number: int, offset: int, record: dict[str, Any]) -> None:
        docno = take_id(record, DOCUMENT_KEYS, number, self.problems)
        if docno is None:
            return
        self._texts(number, record)
        for key, value in record.items():
            if isinstance(value, str | list):
                self.textual.add(key)
            elif type(value) in (int, float) and key not in DOCUMENT_KEYS:
                self.numbers.put(key, self.rows, value)
        self.authors.add(number, record)
        self.names.append(docno)
        self.line.append(number)
        self.offset.append(offset)
        self.rows += 1
        if len(self.names) >= _ROWS_A_CHUNK:
            self.flush()

    def flush(self) -> None:
        self.chunks.append(pa.array(self.names, pa.large_string()))
        self.names.clear()
        self.authors.flush()

    def counts(self) -> dict[str, int]:
        return {
            "documents_without_text": self.without_text,
            "null_texts": self.nulls,
            "author_slots_without_id": self.authors.without_id,
        }

    def _texts(self, number: int, record: dict[str, Any]) -> None:
        anything = False
        for field in self.fields:
            value = record.get(field, "")
            if value is None:
                self.nulls += 1
            elif not isinstance(value, str) and not _is_text_list(value):
                self.problems.add(number, f"{field} that is {kind_of(value)}", "text, a list of texts, or null")
            else:
                anything = anything or bool(as_text(value))
        self.without_text += not anything


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)
