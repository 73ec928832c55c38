"""What is written is read back the same."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from collection_folders import QUERIES, folder, load
from hypothesis import given, settings
from test_generated_world import worlds

from rerankers._base.errors import InputError
from rerankers.collections import Generated, Jsonl, write_jsonl
from rerankers.values import Collection, Labels


def label_names(labels: Labels) -> list[str | None]:
    return [labels.groups[code] if code >= 0 else None for code in labels.label]


def assert_same(one: Collection, two: Collection) -> None:
    assert one.docs.fingerprint == two.docs.fingerprint
    assert one.topics.ids.fingerprint == two.topics.ids.fingerprint
    assert one.topics.text == two.topics.text
    np.testing.assert_array_equal(one.topics.topic, two.topics.topic)
    for part in ("query", "indptr", "doc", "grade"):
        np.testing.assert_array_equal(getattr(one.judgments, part), getattr(two.judgments, part))
    assert (one.documents is None) == (two.documents is None)
    if one.documents is not None and two.documents is not None:
        assert one.documents.fields == two.documents.fields
        assert list(one.documents.texts(one.documents.fields)) == list(two.documents.texts(one.documents.fields))
    assert set(one.groups) == set(two.groups)
    for attribute, labels in one.groups.items():
        back = two.groups[attribute]
        assert (labels.level, label_names(labels)) == (back.level, label_names(back))
        np.testing.assert_array_equal(labels.indptr, back.indptr)
        np.testing.assert_equal(labels.weight, back.weight)
    assert_same_numbers(one, two)


def assert_same_numbers(one: Collection, two: Collection) -> None:
    np.testing.assert_equal(dict(one.fields), dict(two.fields))
    assert (one.authors is None) == (two.authors is None)
    if one.authors is not None and two.authors is not None:
        assert one.authors.ids.fingerprint == two.authors.ids.fingerprint
        np.testing.assert_array_equal(one.authors.indptr, two.authors.indptr)
        np.testing.assert_array_equal(one.authors.author, two.authors.author)
        np.testing.assert_equal(dict(one.authors.fields), dict(two.authors.fields))


@settings(max_examples=25, deadline=None)
@given(worlds)
def test_generated_worlds_come_back(world: Generated) -> None:
    collection = world.load()
    with tempfile.TemporaryDirectory() as path:
        assert_same(collection, Jsonl(str(write_jsonl(collection, Path(path) / "new"))).load())


def test_a_folder_with_everything_comes_back(tmp_path: Path) -> None:
    docs = [
        {"id": "b", "title": "t\u2028x", "abstract": None, "author_ids": ["q", None], "year": 1.5},
        {"id": "a", "title": 'quote " and \\', "author_ids": ["p"]},
    ]
    files = {
        "qrels__txt": "1 0 b -1\n1 0 judged,only 2\n",
        "authors__csv": "author_id,h\np,1\n",
        "groups__csv": 'docno,group,weight,attribute\na,"x, y",2,w\na,z,0.5,w\nb,,1,w\nb,é,,v\n',
        "author_groups__csv": "author_id,group,attribute\np,A,u\nq,null,u\n",
    }
    (tmp_path / "one").mkdir()
    one = load(folder(tmp_path / "one", docs, QUERIES, **files))
    assert_same(one, load(write_jsonl(one, tmp_path / "two")))


def test_a_collection_without_texts_comes_back(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    one = load(folder(tmp_path / "one", [{"id": "b"}, {"id": "a", "n": 2}]))
    assert_same(one, load(write_jsonl(one, tmp_path / "two")))


def test_authors_with_several_labels_are_refused_not_flattened(tmp_path: Path) -> None:
    docs = [{"id": "a", "title": "t", "author_ids": ["p"]}]
    (tmp_path / "one").mkdir()
    one = load(folder(tmp_path / "one", docs, author_groups__csv="author_id,group\np,A\np,B\n"))
    with pytest.raises(InputError, match="several labels"):
        write_jsonl(one, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    write_jsonl(replace(one, groups={}), tmp_path / "two")


def test_files_of_an_earlier_collection_do_not_stay(tmp_path: Path) -> None:
    write_jsonl(Generated(documents=5, topics=1).load(), tmp_path)
    (tmp_path / "one").mkdir()
    one = load(folder(tmp_path / "one"))
    assert_same(one, load(write_jsonl(one, tmp_path)))
