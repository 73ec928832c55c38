"""Every problem of a folder's files, with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from collection_folders import by_line, folder, lines, problems_of

from rerankers._base.errors import ConfigError


def test_all_problems_of_the_documents_at_once(tmp_path: Path) -> None:
    docs = [
        {"id": "a", "title": "fine"},
        '{"id": "b", "title": ',
        [1, 2],
        "null",
        {"title": "no id"},
        {"id": ""},
        {"id": "two words"},
        {"id": "tab\there"},
        {"id": "line\nbreak"},
        {"id": "\u3000"},
        {"id": 1.5},
        {"id": True},
        {"id": None},
        {"id": "n", "title": 5},
        {"id": "o", "title": {"en": "x"}},
        {"id": "p", "title": ["x", 1]},
        '{"id": "\\ud800"}',
        "",
        {"id": "a", "title": "again"},
        {"id": "q", "author_ids": "x"},
        {"id": "r", "author_ids": ["x y"]},
        '{"id": ' + "[" * 100_000,
        '{"id": "s", "n": ' + "9" * 5000 + "}",
    ]
    found = by_line(folder(tmp_path, docs))
    assert sorted(line for line in found if line is not None) == [*range(2, 18), *range(19, 24)]
    assert "broken JSON" in found[2]
    assert "a list" in found[3]
    assert "no id (keys: 'title')" in found[5]
    assert "docno, doc_id, id, _id" in found[5]
    assert "empty" in found[6]
    assert "'two words'" in found[7]
    assert "a number" in found[14]
    assert "'a' again, as in line 1" in found[19]
    assert all(str(problem).startswith(str(tmp_path / "docs.jsonl")) for problem in problems_of(tmp_path))


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_empty_files(tmp_path: Path, content: bytes) -> None:
    assert "no document" in by_line(folder(tmp_path, docs__jsonl=content))[None]
    assert "no query" in by_line(folder(tmp_path, queries__jsonl=content))[None]


def test_a_byte_that_is_not_utf8_and_the_problems_before_it(tmp_path: Path) -> None:
    found = by_line(folder(tmp_path, [{"id": ""}, b'{"id": "\xe9"}']))
    assert sorted(line or 0 for line in found) == [1, 2]
    assert "UTF-8" in found[2]


def test_a_truncated_archive(tmp_path: Path) -> None:
    whole = gzip.compress(lines([{"id": f"d{i}", "text": f"{i * 7919}"} for i in range(20_000)]))
    folder(tmp_path, docs__jsonl__gz=whole[:-500])
    (tmp_path / "docs.jsonl").unlink()
    (problem,) = problems_of(tmp_path)
    assert "truncated" in problem.found
    assert problem.line is not None


def test_all_problems_of_the_queries_at_once(tmp_path: Path) -> None:
    queries = [
        {"qid": "1", "query": "fine"},
        {"qid": "1", "query": "again"},
        {"query": "no id"},
        {"qid": "a b", "query": "x"},
        {"qid": "2", "query": ["x"]},
        {"qid": "3", "query": None},
    ]
    found = by_line(folder(tmp_path, queries=queries))
    assert sorted(line or 0 for line in found) == [2, 3, 4, 5]
    assert "as in line 1" in found[2]
    assert "a list" in found[5]


def test_queries_in_tsv(tmp_path: Path) -> None:
    folder(tmp_path, queries__tsv="1\tfine\tmore\n\nno tab\n2\t\n1\ttwice\n")
    (tmp_path / "queries.jsonl").unlink()
    found = by_line(tmp_path)
    assert sorted(line or 0 for line in found) == [3, 5]
    assert "qid<TAB>query" in found[3]


def test_topic_ids_are_in_all_queries_or_in_none(tmp_path: Path) -> None:
    queries = [{"qid": "1", "query": "x", "topic_id": "t"}, {"qid": "2", "query": "y"}]
    assert "1 of 2" in by_line(folder(tmp_path, queries=queries))[None]


def test_a_query_field_that_is_not_there_lists_those_that_are(tmp_path: Path) -> None:
    folder(tmp_path, queries=[{"qid": "1", "query": "x", "title": "y"}])
    with pytest.raises(ConfigError, match=r"query, title"):
        problems_of(tmp_path, query_field="description")


def test_all_problems_of_the_author_table(tmp_path: Path) -> None:
    table = "author_id,h\nx,1\n,2\nx,3\ny\n"
    found = by_line(folder(tmp_path, [{"id": "a", "author_ids": ["x"]}], authors__csv=table))
    assert sorted(line or 0 for line in found) == [3, 4, 5]
    assert "author_id" in by_line(folder(tmp_path, [{"id": "a", "author_ids": ["x"]}], authors__csv="id,h\nx,1\n"))[1]
