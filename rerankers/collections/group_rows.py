"""Rows of labels, by the name of the document or author, and their way into raw labels by code."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers._base.errors import Problems
    from rerankers.values.authors import Authors
    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids

UNKNOWN_WORDS = frozenset({"", "null", "nan", "unknown"})
"""What a label says, in any case of letters, when the group is not known."""
_ROWS_A_CHUNK = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """The labels of one attribute by name.

    Attributes
    ----------
    attribute
        its name.
    groups
        the names that occur, ascending.
    name
        Arrow large_string (rows,), docnos or author ids; several rows may name the same.
    label
        int32 (rows,), code of the group, -1 unknown; a (name, label) occurs once.
    weight
        float64 (rows,), or None where no row has one (a row without one beside rows with one weighs 1).
    """

    attribute: str
    groups: tuple[str, ...]
    name: pa.LargeStringArray
    label: NDArray[np.int32]
    weight: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.name)

    def of_documents(self, docs: Ids) -> tuple[Labels, Counts]:
        """Return the labels by document code; rows of other documents are counted."""
        code = docs.codes(self.name)
        indptr, order = _rows_by_code(code, len(docs))
        weight = None if self.weight is None else self.weight[order]
        counts = met(group_rows_for_unknown_documents=int((code < 0).sum()))
        return Labels(self.attribute, self.groups, "document", indptr, self.label[order], weight), counts

    def of_authors(self, authors: Authors) -> tuple[Labels, Counts]:
        """Return the labels of the authors of each document; rows of other authors are counted."""
        code = authors.ids.codes(self.name)
        indptr, order = _rows_by_code(code, len(authors.ids))
        counts = met(group_rows_for_unknown_authors=int((code < 0).sum()))
        return spread(authors, self.attribute, self.groups, indptr, self.label[order]), counts


def _rows_by_code(code: NDArray[np.int32], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.argsort(code, kind="stable")
    order = order[code[order] >= 0]
    counts = np.bincount(code[order], minlength=size)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order


def spread(
    authors: Authors, attribute: str, groups: tuple[str, ...], indptr: NDArray[np.int64], label: NDArray[np.int32]
) -> Labels:
    """Return labels of authors as labels of the documents they wrote.

    Parameters
    ----------
    authors
        the author lists.
    attribute, groups
        of the labels.
    indptr, label
        int64 (A + 1,), int32 (entries,): author a has labels indptr[a]:indptr[a + 1]. An author without any, and an
        author without an id, gets one unknown label, so that no author vanishes.
    """
    blank = len(label)  # one more row, which stands for "no label"
    label = np.append(label, np.int32(NO_LABEL))
    counts = np.diff(indptr)
    start = np.where(counts > 0, indptr[:-1], blank)
    slot_start = np.append(start, blank)[authors.author]  # author -1 reads the last entry
    slot_count = np.append(np.maximum(counts, 1), 1)[authors.author]
    ends = np.concatenate([[0], np.cumsum(slot_count)]).astype(np.int64)
    pick = np.repeat(slot_start - ends[:-1], slot_count) + np.arange(ends[-1])
    return Labels(attribute, groups, "author", ends[authors.indptr], label[pick].astype(np.int32))


class RowsBuilder:
    """Rows on their way into `GroupRows`."""

    def __init__(self) -> None:
        self.size = 0
        self.without_label = 0
        self._names: list[str] = []
        self._chunks: list[pa.LargeStringArray] = []
        self._codes: dict[str, int] = {}
        self._label = array("i")
        self._weight = array("d")
        self._line = array("q")

    def add(self, number: int, name: str, label: str, weight: str, problems: Problems) -> None:
        """Take over one row; ``weight`` is empty where there is none."""
        unknown = label.casefold() in UNKNOWN_WORDS
        self.without_label += unknown
        value = _weight(weight)
        if value is None:
            problems.add(number, f"weight {weight!r}", "a finite number of at least 0, or nothing")
            return
        self._label.append(NO_LABEL if unknown else self._codes.setdefault(label, len(self._codes)))
        self._weight.append(value)
        self._line.append(number)
        self._names.append(name)
        self.size += 1
        if len(self._names) >= _ROWS_A_CHUNK:
            self._flush()

    def _flush(self) -> None:
        self._chunks.append(pa.array(self._names, pa.large_string()))
        self._names.clear()

    def rows(self, attribute: str, problems: Problems) -> GroupRows:
        """Return the rows, equal ones once; a label with two weights is a problem."""
        self._flush()
        name = pa.concat_arrays(self._chunks)
        groups = tuple(sorted(self._codes))
        place = np.array([groups.index(group) for group in self._codes] or [0], np.int32)
        raw = np.array(self._label, np.int32)
        label = np.where(raw >= 0, place[raw], NO_LABEL).astype(np.int32)
        weight = np.array(self._weight)
        keep = self._first_of_each(name, label, weight, problems)
        weighted = not np.isnan(weight).all()
        kept = np.where(np.isnan(weight), 1.0, weight)[keep] if weighted else None
        return GroupRows(attribute, groups, name.take(pa.array(keep)), label[keep], kept)

    def _first_of_each(
        self, name: pa.LargeStringArray, label: NDArray[np.int32], weight: NDArray[np.float64], problems: Problems
    ) -> NDArray[np.int64]:
        owner = name.dictionary_encode().indices.to_numpy().astype(np.int64)
        _, first, pair = np.unique(owner * (len(self._codes) + 1) + label, return_index=True, return_inverse=True)
        before = first[pair]
        same = (weight == weight[before]) | (np.isnan(weight) & np.isnan(weight[before]))
        for row in np.flatnonzero(~same).tolist():
            line = self._line[int(before[row])]
            found = f"another weight for a label of {name[row].as_py()!r} than in line {line}"
            problems.add(self._line[row], found, "each label of a document once")
        return np.sort(first)


def _weight(text: str) -> float | None:
    """Return NaN for no weight, None for one that will not do."""
    if not text.strip():
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
