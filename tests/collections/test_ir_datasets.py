"""Data sets of ir_datasets, with a stub in place of the package."""

from __future__ import annotations

import sys
from collections import namedtuple
from types import ModuleType

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.ir_datasets import IrDatasets

Doc = namedtuple("Doc", "doc_id title text year authors")
Query = namedtuple("Query", "query_id text")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")


class Dataset:
    def __init__(self, docs=(), queries=(), qrels=None):
        self.docs, self.queries, self.qrels = docs, queries, qrels

    def has_docs(self):
        return bool(self.docs)

    def has_queries(self):
        return bool(self.queries)

    def has_qrels(self):
        return self.qrels is not None

    def docs_iter(self):
        return iter(self.docs)

    def queries_iter(self):
        return iter(self.queries)

    def qrels_iter(self):
        return iter(self.qrels)

    def docs_store(self):
        return self

    def get_many(self, names):
        wanted = set(names)
        return {doc.doc_id: doc for doc in reversed(self.docs) if doc.doc_id in wanted}


DOCS = [Doc("b", "Bees", "make wax", 1999, ["x", "y"]), Doc("a", "Ants", "", None, ["y"])]
QUERIES = [Query("2", "wax"), Query("1", "ants")]
QRELS = [Qrel("2", "b", 1, "0"), Qrel("2", "b", 2, "1"), Qrel("1", "z", -1, "0"), Qrel("9", "a", 1, "0")]


@pytest.fixture
def package(monkeypatch):
    module = ModuleType("ir_datasets")
    module.registry = sets = {}

    def load(name):
        return sets[name]

    module.load = load
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    return sets


def test_a_data_set_becomes_a_collection(package):
    package["bugs/train"] = Dataset(DOCS, QUERIES, QRELS)
    found = IrDatasets("bugs/train", author_field="authors").load()
    assert found.name == "bugs_train"
    assert found.docs.names.to_pylist() == ["a", "b", "z"]
    assert found.topics.text == ("wax", "ants")
    assert found.judgments.grade.tolist() == [2, -1]
    assert np.array_equal(found.fields["year"], [np.nan, 1999, np.nan], equal_nan=True)
    assert found.authors.ids.names.to_pylist() == ["x", "y"]
    assert (found.authors.indptr.tolist(), found.authors.author.tolist()) == ([0, 1, 3, 3], [1, 0, 1])
    assert list(found.documents.texts(["title", "text"])) == [("a", "Ants"), ("b", "Bees make wax")]
    assert found.documents.fields == ("title", "text")
    assert found.counts == {
        "documents": 2,
        "queries": 2,
        "judgments": 3,
        "negative_grades": 1,
        "duplicate_judgments": 1,
        "judgments_of_unknown_queries": 1,
        "judged_queries_unknown": 1,
        "queries_without_relevant": 1,
        "judged_documents_unknown": 1,
    }
    again = IrDatasets("bugs/train", author_field="authors").load()
    assert again.fingerprint == found.fingerprint
    assert IrDatasets("bugs/train", text_fields=["title"]).load().fingerprint != found.fingerprint


def test_the_first_record_of_a_document_counts(package):
    package["bugs"] = Dataset([*DOCS, Doc("a", "Later", "", 5, [])], QUERIES)
    found = IrDatasets("bugs").load()
    assert found.counts["duplicate_documents"] == 1
    assert np.array_equal(found.fields["year"], [np.nan, 1999], equal_nan=True)
    assert found.counts["queries_without_judgments"] == 2
    with pytest.raises(InputError, match="1 documents again"):
        IrDatasets("bugs", author_field="authors").load()


def test_what_is_missing(package, monkeypatch):
    package["docs"] = Dataset(DOCS)
    package["queries"] = Dataset((), QUERIES, QRELS)
    with pytest.raises(ConfigError, match="has no queries"):
        IrDatasets("docs").load()
    assert IrDatasets("queries").load().documents is None
    with pytest.raises(ConfigError, match="Did you mean 'docs'"):
        IrDatasets("doc").load()
    package["docs"] = Dataset(DOCS, QUERIES, [Qrel("1", "a", 0.5, "0")])
    with pytest.raises(InputError, match=r"grade 0\.5"):
        IrDatasets("docs").load()
    package["docs"] = Dataset(DOCS, QUERIES)
    for option in ({"text_fields": ["body"]}, {"query_field": "titel"}, {"author_field": "author"}):
        with pytest.raises(ConfigError):
            IrDatasets("docs", **option).load()
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingError, match=r"not installed\. Type: pip install ir_datasets"):
        IrDatasets("docs").load()
