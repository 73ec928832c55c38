"""What a good folder gives."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from collection_folders import DOCS, QUERIES, folder, lines, load

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.jsonl_store import JsonlDocuments
from rerankers.values import Collection, Ids


def texts(collection: Collection, *fields: str) -> dict[str, str]:
    assert collection.documents is not None
    return dict(collection.documents.texts(fields or collection.documents.fields))


def test_the_smallest_folder(tmp_path: Path) -> None:
    collection = load(folder(tmp_path))
    assert collection.docs.take([0, 1]) == ["a", "b"]
    assert texts(collection) == {"a": "one more", "b": "two words"}
    assert list(texts(collection)) == ["a", "b"]
    assert collection.topics.text == ("words",)
    assert collection.judgments.nnz == 0
    assert collection.authors is None
    assert collection.counts == {"documents": 2, "queries": 1, "queries_without_judgments": 1}
    assert collection.name == tmp_path.name


def test_ids_under_any_key_and_whole_numbers_become_text(tmp_path: Path) -> None:
    docs = [
        {"docno": 7, "text": "x"},
        {"doc_id": "8", "text": "y"},
        {"id": "9", "body": "z"},
        {"_id": "10", "text": ""},
    ]
    collection = load(folder(tmp_path, docs, [{"query_id": 3, "text": "q"}, {"_id": "4", "text": ""}]))
    assert texts(collection) == {"10": "", "7": "x", "8": "y", "9": "z"}
    assert collection.topics.ids.take([0, 1]) == ["3", "4"]
    assert collection.counts["documents_without_text"] == 1
    assert collection.counts["queries_without_text"] == 1


def test_bom_crlf_blank_lines_nulls_and_no_final_newline(tmp_path: Path) -> None:
    raw = b'\xef\xbb\xbf{"id": "b", "title": "two"}\r\n\r\n \r\n{"id": "a", "title": null, "text": "\\u00e9"}'
    collection = load(folder(tmp_path, docs__jsonl=raw))
    assert texts(collection) == {"a": "é", "b": "two"}
    assert collection.counts["blank_document_lines"] == 2
    assert collection.counts["null_texts"] == 1


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("order", [1, -1])
def test_compressed_files_in_either_order_give_the_same_texts(tmp_path: Path, suffix: str, order: int) -> None:
    docs = [{"id": f"d{i}", "text": f"text {i}"} for i in range(9)][::order]
    (tmp_path / "plain").mkdir()
    plain = load(folder(tmp_path / "plain", docs))
    packed = lines(docs)
    raw = gzip.compress(packed) if suffix == ".gz" else pa.compress(packed, codec="zstd", asbytes=True)
    (tmp_path / f"corpus.jsonl{suffix}").write_bytes(raw)
    (tmp_path / "queries.tsv").write_text("1\twords\n")
    assert texts(load(tmp_path)) == texts(plain) == {f"d{i}": f"text {i}" for i in range(9)}


def test_chosen_fields_may_be_lists_and_follow_the_order_given(tmp_path: Path) -> None:
    docs = [{"id": "a", "title": "t", "keywords": ["k l", "m"]}, {"id": "b", "keywords": []}]
    collection = load(folder(tmp_path, docs), text_fields=["keywords", "title"])
    assert texts(collection) == {"a": "k l m t", "b": ""}
    assert texts(collection, "title") == {"a": "t", "b": ""}
    with pytest.raises(ConfigError, match=r"keyword'.*Did you mean 'keywords'"):
        load(tmp_path, text_fields=["keyword"])


def test_documents_without_any_text_leave_no_store(tmp_path: Path) -> None:
    collection = load(folder(tmp_path, [{"id": "a", "year": 1990}, {"id": "b"}]))
    assert collection.documents is None
    np.testing.assert_array_equal(collection.fields["year"], [1990, np.nan])
    assert collection.counts["documents_without_text"] == 2


def test_numbers_are_kept_by_document_code(tmp_path: Path) -> None:
    docs = [
        {"id": "b", "year": 2001},
        {"id": "a", "title": "t", "score": 0.5, "flag": True},
        {"id": "c", "year": 10**400},
    ]
    collection = load(folder(tmp_path, docs, qrels__txt="1 0 aa 1\n"))
    assert collection.docs.take([0, 1, 2, 3]) == ["a", "aa", "b", "c"]
    assert set(collection.fields) == {"year", "score"}
    np.testing.assert_array_equal(collection.fields["year"], [np.nan, np.nan, 2001, np.inf])
    np.testing.assert_array_equal(collection.fields["score"], [0.5, np.nan, np.nan, np.nan])


def test_judged_documents_and_queries_that_are_unknown(tmp_path: Path) -> None:
    collection = load(folder(tmp_path, qrels__tsv="1\t0\tzz\t2\n1\t0\ta\t0\n77\t0\ta\t1\n"))
    assert collection.docs.take([0, 1, 2]) == ["a", "b", "zz"]
    assert collection.judgments.doc.tolist() == [0, 2]
    assert texts(collection) == {"a": "one more", "b": "two words"}
    for name in ("judged_documents_unknown", "judgments_of_unknown_queries", "judged_queries_unknown"):
        assert collection.counts[name] == 1


def test_author_lists_keep_slots_without_an_id(tmp_path: Path) -> None:
    docs = [{"id": "b", "author_ids": ["y", None, 5]}, {"id": "a", "author_ids": ["y", ""]}, {"id": "c"}]
    collection = load(folder(tmp_path, docs))
    authors = collection.authors
    assert authors is not None
    assert authors.ids.take([0, 1]) == ["5", "y"]
    assert authors.indptr.tolist() == [0, 2, 5, 5]
    assert authors.author.tolist() == [1, -1, 1, -1, 0]
    assert authors.papers.tolist() == [1, 2]
    assert collection.counts["author_slots_without_id"] == 2


@pytest.mark.parametrize("name", ["authors.jsonl", "authors.csv"])
def test_numbers_about_authors(tmp_path: Path, name: str) -> None:
    docs = [{"id": "a", "author_ids": ["x", "y"]}, {"id": "b", "author_ids": ["z"]}]
    records = [
        {"author_id": "y", "h": 3, "k": "?"},
        {"author_id": "w", "h": 9, "k": 1},
        {"author_id": "x", "h": None, "k": 2},
    ]
    table = "author_id,name,h,k\ny,Y,3.0,?\nw,W,9,1\nx,X,,2\n"
    content = lines(records) if name.endswith("jsonl") else table.encode()
    collection = load(folder(tmp_path, docs, QUERIES, **{name.replace(".", "__"): content}))
    assert collection.authors is not None
    assert set(collection.authors.fields) == {"h", "k"}
    np.testing.assert_array_equal(collection.authors.fields["h"], [np.nan, 3, np.nan])
    np.testing.assert_array_equal(collection.authors.fields["k"], [2, np.nan, np.nan])
    counts = {key: count for key, count in collection.counts.items() if "author" in key}
    assert counts == {
        "author_records": 3,
        "author_values_not_numbers": 1,
        "author_records_without_documents": 1,
        "authors_without_record": 1,
    }


def test_fingerprints_tell_content_not_places(tmp_path: Path) -> None:
    def loaded(name: str, **options: object) -> Collection:
        (tmp_path / name).mkdir()
        return load(folder(tmp_path / name), **options)

    one, two, three = loaded("one"), loaded("two"), loaded("three", text_fields=["title"])
    assert one.fingerprint == two.fingerprint != three.fingerprint
    assert one.documents is not None
    assert two.documents is not None
    assert one.documents.fingerprint == two.documents.fingerprint
    folder(tmp_path / "two", [*DOCS, {"id": "c"}])
    again = load(tmp_path / "two")
    assert again.documents is not None
    assert again.fingerprint != one.fingerprint
    assert again.documents.fingerprint != one.documents.fingerprint


def test_a_file_that_changes_between_scan_and_texts_is_noticed(tmp_path: Path) -> None:
    store = load(folder(tmp_path)).documents
    assert isinstance(store, JsonlDocuments)
    folder(tmp_path, [{"id": "x", "title": "another"}, *DOCS])
    with pytest.raises(InputError, match=r"another line|changed"):
        list(store.texts(["title"]))


def test_texts_do_not_stay_in_memory(tmp_path: Path) -> None:
    store = load(folder(tmp_path, [{"id": f"d{i}", "text": "w" * 1000} for i in range(50)])).documents
    assert isinstance(store, JsonlDocuments)
    assert store.names.nbytes + store.offset.nbytes < 50 * 40


def test_missing_folders_and_files(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"collection\.path"):
        load(tmp_path / "none")
    with pytest.raises(ConfigError, match="folder"):
        load(folder(tmp_path) / "docs.jsonl")
    (tmp_path / "queries.jsonl").unlink()
    with pytest.raises(MissingError, match=r"queries\.jsonl or queries\.tsv.*holds docs\.jsonl"):
        load(tmp_path)


def test_two_files_for_one_purpose_are_refused(tmp_path: Path) -> None:
    folder(tmp_path, documents__jsonl="{}")
    with pytest.raises(InputError, match=r"docs\.jsonl, documents\.jsonl"):
        load(tmp_path)


def test_more_documents_move_the_numbers_along(tmp_path: Path) -> None:
    collection = load(folder(tmp_path, [{"id": "b", "year": 2}, {"id": "d", "year": 4}]))
    wider = collection.over(Ids.of(["a", "b", "c", "d"]))
    np.testing.assert_array_equal(wider.fields["year"], [np.nan, 2, np.nan, 4])
