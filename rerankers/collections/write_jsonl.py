"""Write a collection as a folder that `Jsonl` reads back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
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

_ROWS_A_STEP = 10_000


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
    facts = _facts(collection)
    for record in _texts(collection):
        docno, more = next(facts)
        while docno != record["docno"]:  # a document that is judged, but not in the store
            docno, more = next(facts)
        yield record | more


def _texts(collection: Collection) -> Iterator[dict[str, Any]]:
    store = collection.documents
    if store is None:
        yield from ({"docno": docno} for docno, _ in _facts(collection))
        return
    for parts in zip(*(store.texts([field]) for field in store.fields), strict=True):
        texts = dict(zip(store.fields, (text for _, text in parts), strict=True))
        yield {"docno": parts[0][0], **texts}


def _facts(collection: Collection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (docno, author ids and numbers) of all documents by code."""
    for start in range(0, len(collection.docs), _ROWS_A_STEP):
        stop = min(start + _ROWS_A_STEP, len(collection.docs))
        docnos = collection.docs.take(np.arange(start, stop))
        records = _numbers(collection.fields, start, stop)
        if collection.authors is not None:
            lists = _author_lists(collection.authors, start, stop)
            records = [{"author_ids": names} | record for names, record in zip(lists, records, strict=True)]
        yield from zip(docnos, records, strict=True)


def _author_lists(authors: Authors, start: int, stop: int) -> list[list[str | None]]:
    ends = authors.indptr[start : stop + 1]
    slots = authors.author[ends[0] : ends[-1]]
    names: list[str | None] = [*authors.ids.take(slots[slots >= 0])]
    for place in np.flatnonzero(slots < 0).tolist():
        names.insert(place, None)
    cuts = (ends - ends[0]).tolist()
    return [names[low:high] for low, high in pairwise(cuts)]


def _numbers(fields: Mapping[str, NDArray[np.float64]], start: int, stop: int) -> list[dict[str, Any]]:
    """Return the numbers of rows that are known, whole ones as integers."""
    records: list[dict[str, Any]] = [{} for _ in range(start, stop)]
    for name, column in fields.items():
        for record, value in zip(records, column[start:stop].tolist(), strict=True):
            if not math.isnan(value):
                record[name] = int(value) if value.is_integer() else value
    return records


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
    for start in range(0, len(authors.ids), _ROWS_A_STEP):
        stop = min(start + _ROWS_A_STEP, len(authors.ids))
        names = authors.ids.take(np.arange(start, stop))
        for name, numbers in zip(names, _numbers(authors.fields, start, stop), strict=True):
            yield {"author_id": name, **numbers}


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
