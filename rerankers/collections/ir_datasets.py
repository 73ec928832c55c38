"""Any data set of the package ir_datasets as a collection (MacAvaney et al. 2021). The package is optional."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import ConfigError, InputError, MissingError, choose
from rerankers._base.fingerprint import fingerprint
from rerankers.collections.ir_scan import IrDocuments, IrScan, scan_documents
from rerankers.collections.jsonl_store import as_text
from rerankers.values.collection import Collection, Topics
from rerankers.values.ids import Ids
from rerankers.values.qrels import QrelsTable, met
from rerankers.values.ragged import Judgments

INSTALL = "pip install ir_datasets"
QUERY_FIELDS = ("text", "query", "title")


@dataclass(frozen=True, slots=True)
class IrDatasets:
    """A data set by its id, for instance ``vaswani`` or ``trec-fair/2022/train``.

    The package fetches files into its own folder when they are first needed, and asks for consent where a licence
    wants it. Its licences and terms are those of each data set.

    Parameters
    ----------
    id
        of the data set.
    text_fields
        fields of documents to search in; None takes those of ``title, abstract, text, body`` that hold text.
    query_field
        field of the query text; None takes the first of ``text, query, title``.
    author_field
        field with the list of author ids of a document; None: the collection has no authors.
    """

    id: str
    text_fields: list[str] | None = None
    query_field: str | None = None
    author_field: str | None = None

    def load(self) -> Collection:
        """Read ids, numbers, topics and judgments; texts stay in the package's store.

        Of a document that comes twice the first record counts. A pair that is judged several times, as with subtopics,
        keeps its highest grade. Both are counted.

        Raises
        ------
        MissingError
            when the package is not installed; the text says how to install it.
        ConfigError
            for an id that does not exist, a data set without queries, or fields that do not occur.
        InputError
            for records that will not do: a query twice, a document with authors twice, a grade that is no small whole
            number.
        """
        dataset = _dataset(self.id)
        if not dataset.has_queries():
            raise ConfigError(
                f"collection.id: {self.id!r} has no queries; expected a data set with queries, for instance one of "
                f"its subsets, {self.id}/train"
            )
        scan = scan_documents(dataset, self.text_fields, self.author_field) if dataset.has_docs() else IrScan.nothing()
        topics = _topics(dataset, self.query_field)
        table = _qrels(dataset) if dataset.has_qrels() else None
        docs = Ids.union(scan.names, *([] if table is None else [table.docno]))
        if table is None:
            judgments = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
            counts = met(**scan.counts, queries=len(topics), queries_without_judgments=len(topics))
        else:
            judgments, bound = table.bind(topics.ids, docs)
            unknown = len(docs) - len(scan.names)
            counts = {**met(**scan.counts, queries=len(topics)), **table.counts, **bound}
            counts |= met(judged_documents_unknown=unknown)
        code = docs.codes(scan.names)
        mark = fingerprint(
            "ir_datasets", self.id, docs.fingerprint, topics.text, judgments.grade, judgments.doc, judgments.indptr,
            self.text_fields, self.author_field,
        )  # fmt: skip
        fields = {}
        for name, column in scan.numbers.items():
            fields[name] = np.full(len(docs), np.nan)
            fields[name][code] = column
        return Collection(
            name=self.id.replace("/", "_"),
            docs=docs,
            topics=topics,
            judgments=judgments,
            fingerprint=mark,
            authors=scan.authors_over(code, len(docs)),
            fields=fields,
            documents=IrDocuments(dataset, scan.text_fields, mark, scan.names) if scan.text_fields else None,
            counts=counts,
        )


def _dataset(name: str) -> Any:
    try:
        package = import_module("ir_datasets")
    except ImportError as error:
        raise MissingError(
            f"collection.id={name}: the package ir_datasets is not installed. Type: {INSTALL}"
        ) from error
    try:
        return package.load(name)
    except KeyError:
        known = [str(one) for one in getattr(package, "registry", ())]
        choose("collection.id", name, known or ["an id of https://ir-datasets.com"])
        raise


def _topics(dataset: Any, query_field: str | None) -> Topics:
    qids, texts = [], []
    for query in dataset.queries_iter():
        field = query_field or next((name for name in QUERY_FIELDS if name in query._fields), "")
        choose("collection.query_field", field, query._fields)
        qids.append(str(query.query_id))
        texts.append(as_text(getattr(query, field)))
    return Topics.of(qids, texts)


def _qrels(dataset: Any) -> QrelsTable:
    pairs: dict[tuple[str, str], int] = {}
    judged = 0
    for one in dataset.qrels_iter():
        judged += 1
        grade = one.relevance
        if int(grade) != grade or not -(2**15) <= grade < 2**15:
            found = f"grade {grade!r} for query {one.query_id!r}, document {one.doc_id!r}"
            raise InputError.one("ir_datasets", found, "a whole number from -32768 to 32767")
        key = (str(one.query_id), str(one.doc_id))
        pairs[key] = max(pairs.get(key, int(grade)), int(grade))
    grades = np.array(array("h", pairs.values()), np.int16)
    counts = met(
        judgments=len(pairs),
        negative_grades=int(np.count_nonzero(grades < 0)),
        duplicate_judgments=judged - len(pairs),
    )
    qids, docnos = (pa.array([pair[at] for pair in pairs], pa.large_string()) for at in (0, 1))
    return QrelsTable(qids, docnos, grades, counts)
