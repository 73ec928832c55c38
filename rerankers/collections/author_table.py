"""Numeric facts about authors, from a table beside the documents."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems
from rerankers.collections.delimited import Table
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import json_records, note_duplicates, take_id
from rerankers.collections.number_columns import NumberColumns
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids

AUTHOR_KEYS = ("author_id",)


@dataclass(frozen=True, slots=True, eq=False)
class AuthorTable:
    """Authors in the order of the file.

    Attributes
    ----------
    ids
        Arrow large_string (n,).
    fields
        name -> float64 (n,): every column that holds a number somewhere; NaN elsewhere.
    counts
        ``author_records``, and what was met: ``author_values_not_numbers`` (in columns that hold numbers as well),
        ``blank_author_lines``.
    """

    ids: pa.LargeStringArray
    fields: Mapping[str, NDArray[np.float64]]
    counts: Counts

    def bind(self, authors: Ids) -> tuple[Mapping[str, NDArray[np.float64]], Counts]:
        """Return the fields by author code, and how many authors are only on one side."""
        code = authors.codes(self.ids)
        known = code >= 0
        fields = {}
        for name, column in self.fields.items():
            fields[name] = np.full(len(authors), np.nan)
            fields[name][code[known]] = column[known]
        return fields, met(
            author_records_without_documents=int((~known).sum()),
            authors_without_record=len(authors) - int(known.sum()),
        )


def read_author_table(path: Path) -> AuthorTable:
    """Read ``authors.jsonl`` or ``authors.csv`` (or ``.tsv``), keyed by ``author_id``.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    """
    problems = Problems(str(path))
    blank = [0]
    records = json_records if format_of(path) == ".jsonl" else _table_records
    ids: list[str] = []
    line = array("q")
    numbers = NumberColumns()
    others: dict[str, int] = {}
    for number, _, record in records(path, problems, blank):
        author = take_id(record, AUTHOR_KEYS, number, problems)
        if author is None:
            continue
        for key, value in record.items():
            if key in AUTHOR_KEYS or value is None or value == "":
                continue
            if type(value) in (int, float):
                numbers.put(key, len(ids), value)
            else:
                others[key] = others.get(key, 0) + 1
        ids.append(author)
        line.append(number)
    names = pa.array(ids, pa.large_string())
    note_duplicates(names, np.array(line, np.int64), "author", problems)
    problems.raise_if_any()
    fields = numbers.arrays(len(ids))
    counts = met(
        author_records=len(ids),
        author_values_not_numbers=sum(count for key, count in others.items() if key in fields),
        blank_author_lines=blank[0],
    )
    return AuthorTable(names, fields, counts)


def _table_records(path: Path, problems: Problems, blank: list[int]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    table = Table(path, problems)
    if table.column(*AUTHOR_KEYS) is None and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", f"a column {AUTHOR_KEYS[0]}")
        return
    for number, row in table:
        yield (
            number,
            0,
            {key: text if key in AUTHOR_KEYS else _number(text) for key, text in zip(table.header, row, strict=True)},
        )
    blank[0] = table.blank


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
