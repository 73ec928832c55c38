"""The group files of TREC Fair Ranking 2019: no header, a document and then one label for each of its authors."""

from __future__ import annotations

import csv
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers.collections.json_records import fit_id, note_duplicates
from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids

FORM = "docno,label,label,… without a header, one label an author"


@dataclass(frozen=True, slots=True, eq=False)
class RaggedLabels:
    """Labels in the order of the file.

    Attributes
    ----------
    groups
        the labels that occur, ascending; one may be the empty text.
    docno
        Arrow large_string (documents,).
    indptr, label
        int64 (documents + 1,), int32 (labels,): codes into ``groups``.
    counts
        ``labelled_documents``, ``labels``; where there are any, ``labels_empty``, ``documents_with_empty_label``,
        ``documents_with_repeated_label``, ``documents_without_label``, ``blank_label_lines``.
    """

    groups: tuple[str, ...]
    docno: pa.LargeStringArray
    indptr: NDArray[np.int64]
    label: NDArray[np.int32]
    counts: Counts

    def labels(self, attribute: str, docs: Ids) -> tuple[Labels, Counts]:
        """Return the labels by document code; an empty label is an unknown one, and repeats are kept."""
        code = docs.codes(self.docno)
        doc = np.repeat(code, np.diff(self.indptr))
        order = np.argsort(doc, kind="stable")
        order = order[doc[order] >= 0]
        lengths = np.bincount(doc[order], minlength=len(docs))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        named = tuple(group for group in self.groups if group)
        place = np.array([named.index(g) if g else NO_LABEL for g in self.groups] or [NO_LABEL], np.int32)
        label = place[self.label[order]].astype(np.int32)
        found = met(
            documents_not_labelled=len(docs) - int(np.sum(code >= 0)),
            labelled_documents_unknown=int(np.sum(code < 0)),
        )
        return Labels(attribute, named, "author", indptr, label), {**self.counts, **found}


def read_ragged_labels(path: str | Path) -> RaggedLabels:
    """Read a file of `FORM` (plain, ``.gz`` or ``.zst``).

    Raises
    ------
    InputError
        with every problem and its line: an id that will not do, a document twice, quotes that are not closed.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    names: list[str] = []
    line, lengths, label = array("q"), array("q"), array("i")
    codes: dict[str, int] = {}
    blank = repeated = with_empty = 0
    rows = csv.reader((text for _, _, text in collect_lines(Path(path), problems)), strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            problems.add(rows.line_num, f"a row that cannot be read ({error})", "fields with closed quotes")
            break
        if row is None:
            break
        if not row:
            blank += 1
            continue
        docno = fit_id(row[0], "docno", rows.line_num, problems)
        if docno is None:
            continue
        own = [codes.setdefault(text.strip(), len(codes)) for text in row[1:]]
        repeated += len(set(own)) < len(own)
        with_empty += any(not text.strip() for text in row[1:])
        names.append(docno)
        line.append(rows.line_num)
        lengths.append(len(own))
        label.extend(own)
    docno_array = pa.array(names, pa.large_string())
    note_duplicates(docno_array, np.array(line, np.int64), "document", problems)
    problems.raise_if_any()
    groups = tuple(sorted(codes))
    place = np.array([groups.index(text) for text in codes] or [0], np.int32)
    coded = place[np.array(label, np.int32)]
    counts = met(
        labelled_documents=len(names),
        labels=len(label),
        labels_empty=int(np.sum(coded == groups.index(""))) if "" in groups else 0,
        documents_with_empty_label=with_empty,
        documents_with_repeated_label=repeated,
        documents_without_label=sum(length == 0 for length in lengths),
        blank_label_lines=blank,
    )
    indptr = np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)
    return RaggedLabels(groups, docno_array, indptr, coded.astype(np.int32), counts)
