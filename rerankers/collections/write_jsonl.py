"""Write a collection as a folder that `Jsonl` reads back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.files import atomic_path, write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.authors import Authors
    from rerankers.values.collection import Collection
    from rerankers.values.labels import Labels

_DOCUMENTS_A_STEP = 10_000


def write_jsonl(collection: Collection, folder: str | Path) -> Path:
    """Write ``docs.jsonl``, ``queries.jsonl``, ``qrels.txt`` and, where there are any, authors and groups.

    Read back by `Jsonl`, the folder gives the same documents, texts, topics, judgments, author lists, numbers and
    labels (a group that nobody belongs to has no row and is not in the files). The truth of a generated world is not
    written.

    Parameters
    ----------
    collection
        of any kind. Without a store of texts the documents have none.
    folder
        made if it is not there; files of these names in it are replaced, or removed where there is nothing to write.

    Returns
    -------
    Path
        the folder.

    Raises
    ------
    InputError
        for labels of authors that have several each, which these files would not give back.
    ConfigError
        when the folder cannot be written.
    """
    target = Path(folder)
    authors = collection.authors
    tables = {"groups.csv": list(_document_rows(collection)), "author_groups.csv": list(_author_rows(collection))}
    _write_records(target / "docs.jsonl", _documents(collection))
    _write_records(target / "queries.jsonl", _queries(collection))
    _write_or_remove(target / "qrels.txt", "".join(_qrels(collection)))
    if authors is not None and authors.fields:
        _write_records(target / "authors.jsonl", _author_facts(authors))
    else:
        (target / "authors.jsonl").unlink(missing_ok=True)
    for name, rows in tables.items():
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        _write_or_remove(target / name, text.getvalue())
    return target


def _write_or_remove(path: Path, text: str) -> None:
    if text:
        write_text(path, text)
    else:
        path.unlink(missing_ok=True)


def _write_records(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def _documents(collection: Collection) -> Iterator[dict[str, Any]]:
    code = 0
    for record in _texts(collection):
        while collection.docs.name(code) != record["docno"]:  # documents that are judged but not in the store
            code += 1
        if collection.authors is not None:
            slots = collection.authors.author[collection.authors.indptr[code] : collection.authors.indptr[code + 1]]
            record["author_ids"] = _names(collection.authors, slots)
        yield record | _numbers(collection.fields, code)


def _texts(collection: Collection) -> Iterator[dict[str, Any]]:
    store = collection.documents
    if store is None:
        for start in range(0, len(collection.docs), _DOCUMENTS_A_STEP):
            step = np.arange(start, min(start + _DOCUMENTS_A_STEP, len(collection.docs)))
            yield from ({"docno": docno} for docno in collection.docs.take(step))
        return
    for parts in zip(*(store.texts([field]) for field in store.fields), strict=True):
        texts = dict(zip(store.fields, (text for _, text in parts), strict=True))
        yield {"docno": parts[0][0], **texts}


def _names(authors: Authors, slots: NDArray[np.int32]) -> list[str | None]:
    return [authors.ids.name(int(author)) if author >= 0 else None for author in slots]


def _numbers(fields: Mapping[str, NDArray[np.float64]], row: int) -> dict[str, float]:
    """Return the numbers of one row that are known, whole ones as integers."""
    found = {name: float(column[row]) for name, column in fields.items() if not np.isnan(column[row])}
    return {name: int(value) if value.is_integer() else value for name, value in found.items()}


def _queries(collection: Collection) -> Iterator[dict[str, Any]]:
    topics = collection.topics
    for qid, text, topic in zip(
        topics.ids.take(np.arange(len(topics))), topics.text, topics.topic.tolist(), strict=True
    ):
        yield {"qid": qid, "query": text, "topic_id": topic}


def _qrels(collection: Collection) -> Iterator[str]:
    judgments = collection.judgments
    qids = collection.topics.ids.take(judgments.query)
    for row, qid in enumerate(qids):
        pairs = judgments.row(row)
        docnos = collection.docs.take(judgments.doc[pairs])
        yield from (f"{qid} 0 {docno} {grade}\n" for docno, grade in zip(docnos, judgments.grade[pairs], strict=True))


def _author_facts(authors: Authors) -> Iterator[dict[str, Any]]:
    for code in range(len(authors.ids)):
        yield {"author_id": authors.ids.name(code), **_numbers(authors.fields, code)}


def _document_rows(collection: Collection) -> Iterator[list[Any]]:
    chosen = [labels for labels in collection.groups.values() if labels.level == "document"]
    if not chosen:
        return
    yield ["docno", "attribute", "group", "weight"]
    for labels in chosen:
        docnos = collection.docs.take(labels.doc)
        weights = [""] * len(docnos) if labels.weight is None else labels.weight.tolist()
        for docno, label, weight in zip(docnos, labels.label, weights, strict=True):
            yield [docno, labels.attribute, _group(labels, label), weight]


def _author_rows(collection: Collection) -> Iterator[list[Any]]:
    chosen = [labels for labels in collection.groups.values() if labels.level == "author"]
    authors = collection.authors
    if not chosen or authors is None:
        return
    yield ["author_id", "attribute", "group"]
    author, first = np.unique(authors.author, return_index=True)
    first = first[author >= 0]
    names = authors.ids.take(author[author >= 0])
    for labels in chosen:
        if not np.array_equal(labels.indptr, authors.indptr):
            raise InputError.one(labels.attribute, "authors with several labels", "one label an author")
        for name, label in zip(names, labels.label[first], strict=True):
            yield [name, labels.attribute, _group(labels, label)]


def _group(labels: Labels, code: int) -> str:
    return labels.groups[code] if code >= 0 else ""
