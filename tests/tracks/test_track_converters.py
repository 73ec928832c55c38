"""Converters between the JSON lines of 2020 and the text files of its evaluator."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.runs import read_run
from rerankers.tracks.converters import json_lines, qrels_lines, read_group_rows, run_lines, write_lines
from rerankers.tracks.sequences import read_sequence


def jsonl(path: Path, records: list[object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def queries(folder: Path, **grades: int | None) -> Path:
    documents = [{"doc_id": docno, "relevance": grade} for docno, grade in grades.items()]
    return jsonl(folder / "q.json", [{"qid": 5, "query": "x", "documents": documents}])


def test_judgments(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text('doc_id,group\na,1\nb,2,1\nb,3\n"c,c",4,5\n')
    groups = read_group_rows(tmp_path / "g.csv")
    assert groups["b"] == "3"
    assert groups["c,c"] == "4|5"
    path = queries(tmp_path, a=1, b=0, d=-1)
    assert list(qrels_lines(path, groups)) == ["5\t1\ta\t1", "5\t3\tb\t0", "5\t\td\t-1"]
    assert list(qrels_lines(path, groups, complete=False)) == ["5\t1\ta\t1"]


def test_relevance_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="query 5 with documents of no relevance: 'b', 'c'"):
        list(qrels_lines(queries(tmp_path, a=1, c=None, b=None), {}))


def test_runs_there_and_back(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("0.0,5\n1.0,6\n0.1,5\n")
    records = [
        {"q_num": "0.0", "qid": 5, "ranking": ["a", "b", "c"]},
        {"q_num": "1.0", "qid": 6, "ranking": ["é"]},
        {"q_num": "0.1", "qid": 5, "ranking": ["c", "a"]},
    ]
    lines = list(run_lines(jsonl(tmp_path / "r.jsonl", records), "tag"))
    assert lines == [
        "5\tQ0\ta\t1\t1.000000\ttag",
        "5\tQ0\tb\t2\t0.500000\ttag",
        "5\tQ0\tc\t3\t0.333333\ttag",
        "6\tQ0\té\t1\t1.000000\ttag",
        "5\tQ1\tc\t1\t1.000000\ttag",
        "5\tQ1\ta\t2\t0.500000\ttag",
    ]
    write_lines(tmp_path / "r.run.gz", lines)
    assert gzip.decompress((tmp_path / "r.run.gz").read_bytes()).decode().splitlines() == lines
    back = json_lines(read_run(tmp_path / "r.jsonl"), read_sequence(tmp_path / "s.csv"))
    assert [json.loads(line) for line in back] == records


def test_rankings_that_are_not_enough(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("0.0,5\n0.1,5\n1.0,6\n")
    with pytest.raises(InputError, match=r"'5 \(1 for 2\)', '6 \(0 for 1\)'"):
        list(json_lines(read_run({"5": [["a"]]}), read_sequence(tmp_path / "s.csv")))


@given(st.lists(st.permutations(["a", "b", "c", "d"]), min_size=1, max_size=6))
def test_property_json_lines_come_back(tmp_path_factory: pytest.TempPathFactory, rankings: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("c")
    records = [{"q_num": f"0.{n}", "qid": 5, "ranking": ranking} for n, ranking in enumerate(rankings)]
    (folder / "s.csv").write_text("".join(f"0.{n},5\n" for n in range(len(rankings))))
    run = read_run(jsonl(folder / "r.jsonl", list(records)))
    assert [json.loads(line) for line in json_lines(run, read_sequence(folder / "s.csv"))] == records


@pytest.mark.shared_data
def test_lines_are_those_of_the_organisers_converters(shared: Path, tmp_path: Path) -> None:
    cases = json.loads((shared / "oracles" / "trec" / "eel_2020_converters.json").read_text())["cases"]
    assert cases
    for case in cases:
        (tmp_path / "g.csv").write_text(case["groups_csv"])
        groups = read_group_rows(tmp_path / "g.csv")
        asked = jsonl(tmp_path / "q.json", case["queries"])
        assert list(qrels_lines(asked, groups, case["complete"])) == case["qrels_out"], case["name"]
        assert list(run_lines(jsonl(tmp_path / "r.jsonl", case["run"]), "tag")) == case["run_out"], case["name"]
