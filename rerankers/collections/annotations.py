"""Group labels as TREC Fair Ranking 2020 gave them: annotated authors (JSON lines) or counts by document (CSV)."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems, choose
from rerankers._base.files import read_lines
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id, json_records, kind_of, note_duplicates
from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids

ATTRIBUTES: Mapping[str, tuple[str, str]] = {"level": ("Developing", "Advanced"), "h_class": ("L", "H")}
"""Attribute -> its groups from low to high: economy of the authors' countries, h-index below 10 or not."""
H_INDEX = 10
_DOC_COLUMNS = {"level": "DocLevel", "h_class": "DocHLevel"}
_TYPES = ("academic", "industry", "gov", "nonprofit", "other", "unknown")


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """The labels of one attribute, one entry an author (or, of a table of counts, one a group that occurs).

    Attributes
    ----------
    attribute, groups
        see `ATTRIBUTES`; groups ascend by name.
    docno
        Arrow large_string (documents,).
    indptr, label
        int64 (documents + 1,), int32 (entries,): -1 is an author without a known label.
    counts
        what was met.
    """

    attribute: str
    groups: tuple[str, ...]
    docno: pa.LargeStringArray
    indptr: NDArray[np.int64]
    label: NDArray[np.int32]
    counts: Counts

    def labels(self, docs: Ids) -> tuple[Labels, Counts]:
        """Return the labels by document code; ``documents_not_annotated`` and annotations of others are counted."""
        code = docs.codes(self.docno)
        doc = np.repeat(code, np.diff(self.indptr))
        order = np.argsort(doc, kind="stable")
        order = order[doc[order] >= 0]
        lengths = np.bincount(doc[order], minlength=len(docs))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        found = met(
            documents_not_annotated=len(docs) - int(np.sum(code >= 0)),
            annotations_of_unknown_documents=int(np.sum(code < 0)),
        )
        return Labels(self.attribute, self.groups, "author", indptr, self.label[order]), {**self.counts, **found}


def annotation_form(path: str | Path) -> str | None:
    """Return ``authors`` for a file of annotated authors, ``documents`` for one of counts, None for any other file."""
    try:
        first = next((text for _, text in read_lines(Path(path)) if text.strip()), "")
    except InputError:  # whoever reads it as something else will say so
        return None
    names = {name.strip() for name in first.split(",")}
    if first.lstrip().startswith("{"):
        return "authors"
    return "documents" if {"id", *_DOC_COLUMNS.values()} <= names else None


def read_annotations(path: str | Path, attribute: str = "level") -> Annotations:
    """Read ``merged-annotations.json`` or ``doc-annotations.csv`` (plain, ``.gz`` or ``.zst``).

    Parameters
    ----------
    path
        the file; its content decides which of the two it is.
    attribute
        ``level``, or ``h_class`` (H: an h-index of at least 10).

    Raises
    ------
    InputError
        with every problem and its line: broken JSON, no id, a document twice, counts that are no numbers.
    ConfigError
        for another attribute.
    MissingError
        when there is no such file.
    """
    choose("groups.attribute", attribute, ATTRIBUTES)
    problems = Problems(str(path))
    form = annotation_form(path)
    if form is None:
        expected = "JSON lines with id and authors, or a CSV with id, DocLevel, DocHLevel"
        raise InputError.one(str(path), "a file that is no annotation file", expected)
    builder = _Builder(attribute, problems)
    (builder.read_authors if form == "authors" else builder.read_documents)(Path(path))
    return builder.annotations()


class _Builder:
    def __init__(self, attribute: str, problems: Problems) -> None:
        self.attribute, self.problems = attribute, problems
        self.groups = tuple(sorted(ATTRIBUTES[attribute]))
        self.codes = {group.casefold(): code for code, group in enumerate(self.groups)}
        self.counts: Counter[str] = Counter()
        self.names: list[str] = []
        self.line, self.lengths, self.label = array("q"), array("q"), array("i")

    def _add(self, number: int, name: str | None, labels: list[int]) -> None:
        if name is not None:
            self.names.append(name)
            self.line.append(number)
            self.lengths.append(len(labels))
            self.label.extend(labels)

    def read_authors(self, path: Path) -> None:
        """Take every line's document and the labels of its authors."""
        blank = [0]
        for number, _, record in json_records(path, self.problems, blank):
            name = fit_id(record.get("id"), "id", number, self.problems)
            authors = record.get("authors")
            if not isinstance(authors, list) or not all(isinstance(author, Mapping) for author in authors):
                self.problems.add(number, f"authors: {kind_of(authors)}", "a list of objects")
                continue
            self.counts["annotated_documents_without_author"] += not authors
            self.counts["annotations_with_missing_authors"] += bool(record.get("missing_authors"))
            self._add(number, name, [self._label_of(author) for author in authors])
        self.counts["blank_annotation_lines"] = blank[0]

    def _label_of(self, author: Mapping[str, Any]) -> int:
        self.counts["annotated_authors"] += 1
        self.counts["annotated_authors_without_id"] += author.get("id") is None
        self.counts["author_types_not_known"] += author.get("type") not in _TYPES
        self.counts["authors_marked_invalid"] += author.get("valid") is False
        if self.attribute == "level":
            return self._code_of(author.get("level"))
        value = author.get("h_index")
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            return self._code_of(None)
        return self._code_of("H" if value >= H_INDEX else "L")

    def _code_of(self, word: Any) -> int:
        """Return the group of a word; a word that is none is counted, and is an unknown label."""
        known = self.codes.get(str(word).strip().casefold(), NO_LABEL)
        self.counts["annotated_authors_without_label"] += known == NO_LABEL
        self.counts["labels_not_known"] += known == NO_LABEL and word not in (None, "")
        return known

    def read_documents(self, path: Path) -> None:
        """Take every row's document and the groups whose count is not 0; the row's own verdict is compared."""
        table = Table(path, self.problems)
        self.problems.raise_if_any()
        columns = {group: table.column(group) for group in self.groups}
        missing = [group for group, place in columns.items() if place is None]
        if missing:
            self.problems.add(1, f"the header {', '.join(table.header)}", f"columns {', '.join(missing)} too")
            return
        name, verdict = table.header.index("id"), table.header.index(_DOC_COLUMNS[self.attribute])
        for number, row in table:
            labels = [self.codes[group.casefold()] for group, count in self._numbers(number, row, columns) if count > 0]
            said = row[verdict].strip()
            word = "Mixed" if len(labels) > 1 else self.groups[labels[0]] if labels else ""
            self.counts["document_labels_that_contradict_counts"] += said.casefold() != word.casefold()
            self._add(number, fit_id(row[name], "id", number, self.problems), labels)
        self.counts["blank_annotation_lines"] = table.blank

    def _numbers(self, number: int, row: list[str], columns: Mapping[str, int | None]) -> Iterator[tuple[str, float]]:
        for group, place in columns.items():
            text = row[place or 0].strip()
            try:
                value = float(text or 0)
            except ValueError:
                value = math.nan
            if not 0 <= value < math.inf:
                self.problems.add(number, f"{group} {text!r}", "a number of authors")
            else:
                yield group, value

    def annotations(self) -> Annotations:
        """Return what was read, or raise everything that is wrong."""
        names = pa.array(self.names, pa.large_string())
        note_duplicates(names, np.array(self.line, np.int64), "document", self.problems)
        if not self.names and not self.problems:
            self.problems.add(None, "no annotation", "at least one document")
        self.problems.raise_if_any()
        indptr = np.concatenate([[0], np.cumsum(np.array(self.lengths, np.int64))]).astype(np.int64)
        counts = met(annotated_documents=len(names), **self.counts)
        return Annotations(self.attribute, self.groups, names, indptr, np.array(self.label, np.int32), counts)
