"""A collection in a folder: documents and queries as JSON lines, qrels, and perhaps authors and groups."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.collections.author_table import read_author_table
from rerankers.collections.folder import collection_folder, find_file, need_file
from rerankers.collections.group_files import read_groups
from rerankers.collections.jsonl_scan import Scan, scan_documents
from rerankers.collections.query_files import read_queries
from rerankers.collections.split import check_split, split_collection
from rerankers.values.collection import Collection
from rerankers.values.ids import Ids
from rerankers.values.qrels import met, read_qrels
from rerankers.values.ragged import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.authors import Authors
    from rerankers.values.labels import Labels

DOCUMENT_FILES = ("docs.jsonl", "documents.jsonl", "corpus.jsonl")
QUERY_FILES = ("queries.jsonl", "queries.tsv")
QRELS_FILES = ("qrels.txt", "qrels.tsv")
AUTHOR_FILES = ("authors.jsonl", "authors.csv", "authors.tsv")
_GROUP_FILE = re.compile(r".*groups.*\.(csv|tsv)(\.gz|\.zst)?")


@dataclass(frozen=True, slots=True)
class Jsonl:
    """A folder with these files, each plain, ``.gz`` or ``.zst``.

    ========================================= ======================================================================
    ``docs.jsonl`` (``documents``, ``corpus``) id under ``docno``, ``doc_id``, ``id`` or ``_id``; texts; numbers
    ``queries.jsonl`` or ``queries.tsv``      id under ``qid``, ``query_id``, ``id`` or ``_id``; text; ``topic_id``
    ``qrels.txt`` or ``.tsv``, if any         ``qid iter docno grade``
    ``authors.jsonl`` or ``.csv``, if any     ``author_id`` and numbers about authors
    ``*groups*.csv`` or ``.tsv``, if any      ``docno,group`` or ``author_id,group``, perhaps ``attribute,weight``
    ========================================= ======================================================================

    Parameters
    ----------
    path
        the folder.
    text_fields
        keys of documents to search in, text or lists of texts; None takes those of ``title, abstract, text,
        contents, body`` that occur.
    query_field
        key of the query text; None takes the first of ``query, text, title`` that occurs.
    author_field
        key of the list of author ids of a document.
    split
        ``train`` or ``eval``: the topics of that side; None: all topics.
    train_share
        share of the topics in ``train``, strictly between 0 and 1.

    Raises
    ------
    ConfigError
        for another split or share.
    """

    path: str
    text_fields: list[str] | None = None
    query_field: str | None = None
    author_field: str = "author_ids"
    split: str | None = None
    train_share: float = 0.5

    def __post_init__(self) -> None:
        check_split(self.split, self.train_share)

    def load(self) -> Collection:
        """Read everything but the texts, which stay in the file.

        Judged documents that the collection lacks are kept among ``docs``; judgments of unknown queries are left
        out. Both are counted, with all else that was met (see the readers).

        Raises
        ------
        MissingError
            when the folder, the documents or the queries are not there.
        InputError
            with every problem of a file and its line.
        ConfigError
            for text fields or a query field that do not occur.
        """
        folder = collection_folder(self.path)
        document_file, query_file = need_file(folder, DOCUMENT_FILES), need_file(folder, QUERY_FILES)
        files = [document_file, query_file]
        scan = scan_documents(document_file, self.text_fields, self.author_field)
        topics, query_counts = read_queries(query_file, self.query_field)
        counts = {**met(**scan.counts), **query_counts}
        qrels_file = find_file(folder, QRELS_FILES)
        if qrels_file is None:
            docs = Ids.union(scan.docno)
            judgments = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
            counts["queries_without_judgments"] = len(topics)
        else:
            files.append(qrels_file)
            table = read_qrels(qrels_file)
            docs = Ids.union(scan.docno, table.docno)
            judgments, bound = table.bind(topics.ids, docs)
            unknown = met(judged_documents_unknown=len(docs) - len(scan.docno))
            counts |= {**table.counts, **bound, **unknown}
        code = docs.codes(scan.docno)
        authors = scan.authors.authors(code, len(docs))
        authors = _with_fields(authors, folder, files, counts)
        groups = _groups(folder, files, docs, authors, counts)
        marks = [file_fingerprint(path) for path in files]
        collection = Collection(
            name=folder.resolve().name,
            docs=docs,
            topics=topics,
            judgments=judgments,
            fingerprint=fingerprint("jsonl", marks, self.text_fields, self.query_field, self.author_field),
            groups=groups,
            authors=authors,
            fields=_fields(scan, code, len(docs)),
            documents=scan.store(),
            counts=counts,
        )
        return split_collection(collection, self.split, self.train_share)


def _fields(scan: Scan, code: NDArray[np.int32], n_docs: int) -> dict[str, NDArray[np.float64]]:
    fields = {}
    for name, column in scan.numbers.items():
        fields[name] = np.full(n_docs, np.nan)
        fields[name][code] = column
    return fields


def _with_fields(authors: Authors | None, folder: Path, files: list[Path], counts: dict[str, int]) -> Authors | None:
    path = find_file(folder, AUTHOR_FILES)
    if authors is None or path is None:
        return authors
    files.append(path)
    table = read_author_table(path)
    fields, bound = table.bind(authors.ids)
    counts |= {**table.counts, **bound}
    return replace(authors, fields=fields)


def _groups(
    folder: Path, files: list[Path], docs: Ids, authors: Authors | None, counts: dict[str, int]
) -> dict[str, Labels]:
    groups: dict[str, Labels] = {}
    home: dict[str, str] = {}
    for path in sorted(path for path in folder.iterdir() if _GROUP_FILE.fullmatch(path.name)):
        files.append(path)
        table = read_groups(path)
        clash = [attribute for attribute in table.rows if attribute in home]
        if clash:
            found = f"attribute {clash[0]!r}, as in {home[clash[0]]}"
            raise InputError.one(str(path), found, "each attribute in one file")
        labels, bound = table.labels(docs, authors, str(path))
        home |= dict.fromkeys(labels, path.name)
        groups |= labels
        for name, count in bound.items():
            counts[name] = counts.get(name, 0) + count
    return groups
