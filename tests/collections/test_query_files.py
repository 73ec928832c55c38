"""Queries from JSON lines and from TSV."""

from __future__ import annotations

from pathlib import Path

from collection_folders import lines

from rerankers.collections.query_files import read_queries
from rerankers.values import Topics


def read(folder: Path, records: list[object], field: str | None = None) -> Topics:
    path = folder / "queries.jsonl"
    path.write_bytes(lines(records))
    return read_queries(path, field)[0]


def test_tsv_keeps_later_tabs_and_odd_letters(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_bytes('\ufeff10\twhat\'s, "x"\tand y\r\n2\té\r\n'.encode())
    topics, counts = read_queries(path)
    assert topics.ids.take([0, 1]) == ["10", "2"]
    assert topics.text == ('what\'s, "x"\tand y', "é")
    assert topics.topic.tolist() == [0, 1]
    assert counts == {"queries": 2}


def test_the_first_text_key_that_occurs_is_used_for_all(tmp_path: Path) -> None:
    records: list[object] = [{"qid": 1, "title": "t", "query": "q"}, {"qid": 2, "title": "only"}]
    assert read(tmp_path, records).text == ("q", "")
    assert read(tmp_path, records, "title").text == ("t", "only")


def test_variants_share_the_number_of_their_topic(tmp_path: Path) -> None:
    records: list[object] = [
        {"qid": "a", "query": "x", "topic_id": "t2"},
        {"qid": "b", "query": "y", "topic_id": 1},
        {"qid": "c", "query": "z", "topic_id": "t2"},
    ]
    assert read(tmp_path, records).topic.tolist() == [0, 1, 0]
