"""A collection from Python mappings: what a reader of the user's own form has to fill in, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems, choose
from rerankers._base.fingerprint import fingerprint
from rerankers.values.collection import Collection, Counts, Topics
from rerankers.values.ids import Ids
from rerankers.values.labels import Labels
from rerankers.values.qrels import QrelsTable, met
from rerankers.values.ragged import Judgments

Label = str | Sequence[str] | None
_LOWEST, _HIGHEST = -(2**15), 2**15 - 1


@dataclass(frozen=True, slots=True)
class MemoryDocuments:
    """Texts that are held in memory.

    Attributes
    ----------
    rows
        (docno, text of each field) of every document, docnos ascending.
    fields
        names of the text fields.
    """

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """Content fingerprint of the texts."""
        return fingerprint("documents in memory", self.fields, self.rows)

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields joined by a blank), docnos ascending.

        Raises
        ------
        ConfigError
            for a field that there is not.
        """
        places = [self.fields.index(choose("text field", field, self.fields)) for field in fields]
        for docno, texts in self.rows:
            yield docno, " ".join(texts[place] for place in places)


def collection_of(
    name: str,
    documents: Mapping[str, str | Mapping[str, str]],
    queries: Mapping[str, str],
    judgments: Mapping[str, Mapping[str, int]] | None = None,
    groups: Mapping[str, Mapping[str, Label]] | None = None,
    counts: Counts | None = None,
) -> Collection:
    """Return a collection whose parts are all in memory; some hundred thousand documents are no trouble.

    Parameters
    ----------
    name
        for reports.
    documents
        docno -> text, or docno -> field -> text.
    queries
        qid -> text, in the order in which queries are shown.
    judgments
        qid -> docno -> grade, a whole number. Judged documents that ``documents`` lacks are kept and counted,
        judgments of unknown queries are left out and counted.
    groups
        attribute -> docno -> group, several groups, or None where it is not known. Documents without an entry are
        unknown, too; labels of unknown documents are left out and counted.
    counts
        what the reader met and dropped, for the report.

    Raises
    ------
    InputError
        with every problem: no document or query, ids that are no text or have blanks, texts that are none, grades
        that are no whole numbers.
    """
    problems = Problems(name)
    judged, labelled = judgments or {}, groups or {}
    for what, ids in (("document", documents), ("query", queries)):
        _check_ids(what, ids, problems)
    asked: Mapping[str, object] = queries
    for query, text in asked.items():
        if not isinstance(text, str):
            problems.add(None, f"a {type(text).__name__} as the text of query {query!r}", "a text")
    rows, fields = _texts(documents, problems)
    table = _judgments(judged, problems)
    problems.raise_if_any()
    docs = Ids.union(list(documents), table.docno)
    topics = Topics.of(list(queries), list(queries.values()))
    found, bound = table.bind(topics.ids, docs)
    if not judged:
        found = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    strangers = sum(docno not in documents for by_document in labelled.values() for docno in by_document)
    beyond = {"judged_documents_unknown": len(docs) - len(documents), "labels_of_unknown_documents": strangers}
    store = MemoryDocuments(tuple(sorted(rows)), fields)
    return Collection(
        name=name,
        docs=docs,
        topics=topics,
        judgments=found,
        fingerprint=fingerprint("memory", name, store.fingerprint, queries, judged, _plain(labelled)),
        groups={attribute: _labels(attribute, by_document, docs) for attribute, by_document in labelled.items()},
        documents=store,
        counts={**(counts or {}), **table.counts, **bound, **met(**beyond)},
    )


def _check_ids(what: str, ids: Mapping[str, object], problems: Problems) -> None:
    if not ids:
        problems.add(None, f"no {what}", "at least one")
    for one in ids:
        if not isinstance(one, str) or not one or one.split() != [one]:
            problems.add(None, f"the {what} id {one!r}", "a text without blanks, since run files separate by blanks")


def _texts(
    documents: Mapping[str, str | Mapping[str, str]], problems: Problems
) -> tuple[list[tuple[str, tuple[str, ...]]], tuple[str, ...]]:
    """Return (docno, texts) of every document, and the fields; a field that a document lacks is empty."""
    by_field = {docno: {"text": text} if isinstance(text, str) else text for docno, text in documents.items()}
    rows, names = [], dict[str, None]()
    for docno, texts in by_field.items():
        if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
            problems.add(None, f"document {docno!r} with {texts!r:.60}", "a text, or field -> text")
        else:
            names |= dict.fromkeys(texts)
    fields = tuple(names)
    if not problems:
        rows = [(docno, tuple(texts.get(field, "") for field in fields)) for docno, texts in by_field.items()]
    return rows, fields


def _judgments(judged: Mapping[str, Mapping[str, int]], problems: Problems) -> QrelsTable:
    qid, docno, grade = list[str](), list[str](), list[int]()
    for query, by_document in judged.items():
        for document, value in by_document.items():
            if isinstance(value, bool) or not isinstance(value, int) or not _LOWEST <= value <= _HIGHEST:
                expected = f"a whole number from {_LOWEST} to {_HIGHEST}"
                problems.add(None, f"grade {value!r} for query {query!r}, document {document!r}", expected)
                continue
            qid.append(query)
            docno.append(document)
            grade.append(value)
    counts = met(judgments=len(grade), negative_grades=sum(value < 0 for value in grade))
    names = pa.array(qid, pa.large_string()).dictionary_encode()
    return QrelsTable(names, pa.array(docno, pa.large_string()), np.array(grade, dtype=np.int16), counts)


def _labels(attribute: str, by_document: Mapping[str, Label], docs: Ids) -> Labels:
    given = {docno: [label] if isinstance(label, str) else list(label or ()) for docno, label in by_document.items()}
    names = tuple(sorted({label for labels in given.values() for label in labels}))
    code = {label: place for place, label in enumerate(names)}
    rows = [[code[label] for label in given.get(docno, ())] for docno in docs.names.to_pylist()]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    label = np.array([one for row in rows for one in row], dtype=np.int32)
    return Labels(attribute, names, "document", indptr, label)


def _plain(groups: Mapping[str, Mapping[str, Label]]) -> dict[str, dict[str, object]]:
    return {
        attribute: {docno: label if isinstance(label, str | None) else list(label) for docno, label in rows.items()}
        for attribute, rows in groups.items()
    }
