"""Features in files of the user's own: of pairs, documents, queries or authors."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rerankers._base.errors import ConfigError, Problems
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id
from rerankers.features.base import Columns
from rerankers.features.metadata import author_statistics
from rerankers.features.relative import RELATIVE
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext

KEYS: Final = {
    "query": ("qid", "query_id", "q_id"),
    "document": ("docno", "doc_id", "id"),
    "author": ("author_id",),
}
"""Kind of id -> the names of its column."""
_JUDGMENTS: Final = ("relevance", "rel", "grade", "label", "qrel", "judgment", "judgement")
_MISSING: Final = ("", "nan", "na", "null", "none")
_NO_NUMBER: Final = 20  # texts of a column that are kept for messages


@dataclass(frozen=True, slots=True, eq=False)
class UserTable:
    """The columns of a file.

    Attributes
    ----------
    keys
        kind of id -> the id of each row.
    numbers
        name -> float64 (rows,), NaN where missing.
    texts
        how many columns hold no number at all, and are left out.
    """

    keys: dict[str, list[str]]
    numbers: dict[str, NDArray[np.float64]]
    texts: int


@dataclass(slots=True)
class _Column:
    """A column while it is read: numbers, and the first texts that are none with their lines."""

    name: str
    values: array[float] = field(default_factory=lambda: array("d"))
    known: int = 0
    wrong: int = 0
    shown: list[tuple[int, str]] = field(default_factory=list)

    def add(self, number: int, text: str) -> None:
        word = text.strip()
        value = math.nan
        if word.casefold() not in _MISSING:
            try:
                value = float(word)
            except ValueError:
                self.wrong += 1
            else:
                self.known += 1
                self.wrong += math.isinf(value)
            if not math.isfinite(value) and len(self.shown) < _NO_NUMBER:
                self.shown.append((number, word))
        self.values.append(value)

    def note(self, problems: Problems) -> None:
        for number, word in self.shown:
            problems.add(number, f"{self.name} {word!r}", "a finite number, or nothing where it is missing")
        if self.wrong > len(self.shown):
            problems.add(None, f"{self.wrong - len(self.shown)} more values of {self.name}", "finite numbers")


def read_user_table(path: Path) -> UserTable:
    """Read a CSV or TSV file with a header: one or two columns of ids, and numbers.

    A column in which no value is a number is left out; empty, ``nan``, ``NA``, ``null`` and ``none`` are missing.

    Raises
    ------
    InputError
        with every problem and its line: no id column, an id that will not do, a row twice, a value that is no finite
        number in a column of numbers, no column of numbers.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    problems.raise_if_any()
    places = {kind: place for kind, names in KEYS.items() if (place := table.column(*names)) is not None}
    if not places or ("author" in places and len(places) > 1):
        expected = "qid and docno, docno, qid or author_id, and columns of numbers"
        problems.add(1, f"the header {', '.join(table.header)}", expected)
        problems.raise_if_any()
    keys: dict[str, list[str]] = {kind: [] for kind in places}
    columns = {place: _Column(name) for place, name in enumerate(table.header) if place not in places.values()}
    first: dict[tuple[str | None, ...], int] = {}
    for number, row in table:
        names = [fit_id(row[place], table.header[place], number, problems) for place in places.values()]
        before = first.setdefault(tuple(names), number)
        if before != number:
            problems.add(number, f"{', '.join(map(str, names))} again, as in line {before}", "each once")
        for kind, name in zip(places, names, strict=True):
            keys[kind].append(name or "")
        for place, column in columns.items():
            column.add(number, row[place])
    numeric = [column for column in columns.values() if column.known or not column.wrong]
    for column in numeric:
        column.note(problems)
    if not numeric and not problems:
        problems.add(1, f"the header {', '.join(table.header)} and no number", "a column of numbers")
    problems.raise_if_any()
    return UserTable(keys, {column.name: np.array(column.values) for column in numeric}, len(columns) - len(numeric))


@dataclass(frozen=True, slots=True)
class UserFile:
    """The columns of one file, under the names of its header; ``NAME.min``, ``.mean`` and ``.max`` of authors' ones."""

    path: str
    name: ClassVar[str] = "files"

    def columns(self, context: FeatureContext) -> Columns:
        """Return the features; pairs that the file does not have are missing, and counted by the file's name.

        Raises
        ------
        InputError
            as `read_user_table`.
        ConfigError
            for a column that is called as judgments are, and author columns of a collection without author lists.
        """
        table = read_user_table(Path(self.path))
        chosen = {
            name: column
            for name, column in table.numbers.items()
            if not context.options.excludes(name)
            and any(context.options.keeps(full) for full in _full_names(name, "author" in table.keys))
        }
        for name in chosen:
            if name.casefold() in _JUDGMENTS:
                raise ConfigError(
                    f"features.files: found the column {name!r} in {self.path}, which is called as judgments are; "
                    f"expected none: leave it out by features.exclude=[{name}], or rename it"
                )
        place, strangers = _places(context, table)
        short = Path(self.path).name
        if "author" in table.keys:
            values = _of_authors(context, chosen, place)
            missing = [np.isnan(column) for name, column in values.items() if name.endswith(".mean")]
            without = int(np.sum(np.all(missing, axis=0))) if missing else 0
        else:
            values = {name: np.append(column, np.nan)[place] for name, column in chosen.items()}
            without = int(np.sum(place < 0))
        counts = met(
            **{
                f"pairs_not_in_{short}": without,
                f"rows_of_{short}_without_pair": strangers,
                f"columns_of_{short}_without_numbers": table.texts,
            }
        )
        columns = [name for name in chosen for _ in range(len(values) // len(chosen))]
        sources = {name: (f"file:{self.path}:{column}",) for name, column in zip(values, columns, strict=True)}
        constant = frozenset(values) if set(table.keys) == {"query"} else frozenset[str]()
        return Columns(values, sources, constant, counts)


def _full_names(column: str, of_authors: bool) -> list[str]:
    """Return all names that the features of a column may have."""
    names = [f"{column}.{word}" for word in ("min", "mean", "max")] if of_authors else [column]
    return [form for name in names for form in (name, *(f"{name}.{kind}" for kind in RELATIVE))]


def _places(context: FeatureContext, table: UserTable) -> tuple[NDArray[np.int64], int]:
    """Return the row of each pair (or, of a file of authors, of each author), -1 where there is none.

    And how many rows belong to no pair (or author).
    """
    over, collection = context.candidates, context.collection
    if "author" in table.keys:
        if collection.authors is None:
            raise ConfigError(
                f"features.files: found author_id; the collection {collection.name!r} has no author lists"
            )
        codes = collection.authors.ids.codes(table.keys["author"]).astype(np.int64)
        wanted = np.arange(len(collection.authors.ids), dtype=np.int64)
    else:
        width = len(collection.docs)
        codes, wanted = np.zeros(len(next(iter(table.keys.values()))), np.int64), np.zeros(over.nnz, np.int64)
        unknown = np.zeros(len(codes), dtype=bool)
        for kind, ids, own in (
            ("query", collection.topics.ids, over.query[over.row_index]),
            ("document", collection.docs, over.doc),
        ):
            if kind in table.keys:
                code = ids.codes(table.keys[kind]).astype(np.int64)
                unknown |= code < 0
                codes, wanted = codes * width + code, wanted * width + own
        codes[unknown] = -1
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    if not len(order):
        return np.full(len(wanted), -1, dtype=np.int64), len(codes)
    at = np.minimum(np.searchsorted(codes[order], wanted), len(order) - 1)
    place: NDArray[np.int64] = np.where(codes[order][at] == wanted, order[at], -1)
    return place, len(codes) - len(np.unique(place[place >= 0]))


def _of_authors(
    context: FeatureContext, chosen: dict[str, NDArray[np.float64]], place: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    authors = context.collection.authors
    values: dict[str, NDArray[np.float64]] = {}
    if authors is not None:
        docs, back = np.unique(context.candidates.doc.astype(np.int64), return_inverse=True)
        for name, column in chosen.items():
            for word, each in author_statistics(authors, np.append(column, np.nan)[place], docs).items():
                values[f"{name}.{word}"] = each[back]
    return values
