"""Group labels in CSV or TSV files: of documents, or of authors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, Problems
from rerankers.collections.delimited import Table
from rerankers.collections.folder import unpacked_name
from rerankers.collections.group_rows import GroupRows, RowsBuilder
from rerankers.collections.json_records import fit_id
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.authors import Authors
    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids
    from rerankers.values.labels import Labels, Level

DOCUMENT_COLUMNS = ("docno", "doc_id", "id")
AUTHOR_COLUMN = "author_id"
_WORDS_OF_FILE_NAMES = {"groups", "group", "author", "authors", "document", "documents", ""}


@dataclass(frozen=True, slots=True, eq=False)
class GroupTable:
    """A group file.

    Attributes
    ----------
    level
        ``document`` or ``author``: whose labels the file holds.
    rows
        attribute -> its rows, in the order of first appearance.
    counts
        ``group_rows``; where there are any, ``group_rows_without_label``, ``duplicate_group_rows`` (equal rows beyond
        the first), ``group_columns_ignored``, ``blank_group_lines``.
    """

    level: Level
    rows: Mapping[str, GroupRows]
    counts: Counts

    def labels(
        self, docs: Ids, authors: Authors | None, where: str, attributes: Iterable[str] | None = None
    ) -> tuple[dict[str, Labels], Counts]:
        """Return the labels of documents by code, attribute by attribute (all, or those named).

        Returns
        -------
        labels, counts
            those of the file, ``group_rows_for_unknown_documents`` and ``group_rows_for_unknown_authors``.

        Raises
        ------
        ConfigError
            when these are labels of authors and there are no author lists; ``where`` begins the message.
        """
        if self.level == "author" and authors is None:
            raise ConfigError(
                f"{where}: groups of authors, but there are no author lists; expected a file docno,group, or a "
                "collection with author ids in its documents (collection.author_field names the key)"
            )
        labels: dict[str, Labels] = {}
        counts = dict(self.counts)
        for attribute in self.rows if attributes is None else attributes:
            rows = self.rows[attribute]
            if self.level == "document" or authors is None:
                labels[attribute], found = rows.of_documents(docs)
            else:
                labels[attribute], found = rows.of_authors(authors)
            for name, count in found.items():
                counts[name] = counts.get(name, 0) + count
        return labels, counts


def read_groups(path: str | Path, attribute: str | None = None) -> GroupTable:
    """Read a group file: a header ``docno,group`` or ``author_id,group``, perhaps with ``attribute`` and ``weight``.

    Several rows of a document are several labels. A label that is empty or `UNKNOWN_WORDS` is an unknown one.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv``, perhaps with ``.gz`` or ``.zst``. ``doc_id`` and ``id`` stand for ``docno``.
    attribute
        what to call the attribute where the file has no such column; None calls it after the file
        (``economy_groups.csv``: economy; ``groups.csv``: group).

    Raises
    ------
    InputError
        with every problem of the file and its line: columns that are missing, empty ids, weights that are no finite
        number of at least 0, two weights for the same label of a document.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(Path(path), problems)
    columns = _columns(table, problems)
    problems.raise_if_any()
    name = attribute or attribute_of(Path(path))
    parts: dict[str, RowsBuilder] = {}
    for number, row in table:
        owner = fit_id(row[columns.name], table.header[columns.name], number, problems)
        found = row[columns.attribute].strip() if columns.attribute is not None else name
        if not found:
            problems.add(number, "an empty attribute", "a name")
        elif owner is not None:
            weight = row[columns.weight] if columns.weight is not None else ""
            parts.setdefault(found, RowsBuilder()).add(number, owner, row[columns.group].strip(), weight, problems)
    if not parts and not problems:
        problems.add(None, "no row", "at least one below the header")
    rows = {found: part.rows(found, problems) for found, part in parts.items()}
    problems.raise_if_any()
    counts = met(
        group_rows=sum(part.size for part in parts.values()),
        group_rows_without_label=sum(part.without_label for part in parts.values()),
        duplicate_group_rows=sum(part.size for part in parts.values()) - sum(len(part) for part in rows.values()),
        group_columns_ignored=columns.ignored,
        blank_group_lines=table.blank,
    )
    return GroupTable(columns.level, rows, counts)


def attribute_of(path: Path) -> str:
    """Return what a group file is about by its name: ``economy_groups.csv`` and ``groups.economy.tsv`` say economy."""
    stem = Path(unpacked_name(path)).stem
    words = stem.replace("-", "_").replace(".", "_").split("_")
    return "_".join(word for word in words if word not in _WORDS_OF_FILE_NAMES) or "group"


@dataclass(frozen=True, slots=True)
class _Columns:
    level: Level
    name: int
    group: int
    attribute: int | None
    weight: int | None
    ignored: int


def _columns(table: Table, problems: Problems) -> _Columns:
    """Find the columns; problems are raised here, since without columns there are no rows to check."""
    problems.raise_if_any()
    document, author, group = table.column(*DOCUMENT_COLUMNS), table.column(AUTHOR_COLUMN), table.column("group")
    attribute, weight = table.column("attribute"), table.column("weight")
    found = f"the header {', '.join(table.header)}"
    if group is None or (document is None) == (author is None):
        problems.add(1, found, "docno,group or author_id,group, perhaps with attribute and weight")
    if author is not None and weight is not None:
        problems.add(1, found, "weight beside docno only: the labels of an author weigh the same")
    problems.raise_if_any()
    places = [place for place in (document, author, group, attribute, weight) if place is not None]
    name = places[0]
    return _Columns(
        "author" if document is None else "document",
        name,
        table.header.index("group"),
        attribute,
        weight,
        len(table.header) - len(places),
    )
