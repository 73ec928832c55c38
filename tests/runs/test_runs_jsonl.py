"""JSON lines of TREC Fair Ranking 2019 and 2020."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_twins import ID, check, plain_of, problems_in

from rerankers.runs import read_run

Line = tuple[int | str, list[int | str]]
LINES = st.lists(
    st.tuples(st.integers(0, 3) | ID, st.lists(ID | st.integers(-5, 5), unique_by=str, max_size=4)), min_size=1
)


@given(LINES, st.booleans())
def test_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[Line], named: bool) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    names = [{"q_num": f"0.{index}"} if named else {} for index in range(len(lines))]
    records = [name | {"qid": qid, "ranking": docs, "x": [1]} for name, (qid, docs) in zip(names, lines, strict=True)]
    path.write_text("\n".join(json.dumps(record) for record in records))
    run = read_run(path)
    check(run)
    expected: dict[str, dict[int, list[str]]] = {}
    entries: dict[str, list[str]] = {}
    for index, (qid, docs) in enumerate(lines):
        samples = expected.setdefault(str(qid), {})
        samples[len(samples)] = [str(docno) for docno in docs]
        entries.setdefault(str(qid), []).append(f"0.{index}")
    assert plain_of(run) == expected
    assert run.q_num == (tuple(name for row in entries.values() for name in row) if named else ())
    assert run.counts.get("empty_rankings", 0) == sum(not docs for _, docs in lines)
    assert run.rankings.over.columns == {}


def test_uneven_samples_and_blank_lines_are_counted(tmp_path: Path) -> None:
    text = '{"qid": 1, "ranking": ["a"]}\n\n{"qid": 2, "ranking": []}\n{"qid": 1, "ranking": ["a", "b"]}\n'
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    run = read_run(tmp_path / "x.jsonl.gz")
    assert run.counts == {"blank_lines": 1, "empty_rankings": 1, "queries_with_fewer_rankings": 1}
    assert run.rankings.counts.tolist() == [2, 1]
    assert run.name == "x"


def test_wrong_lines_are_all_named(tmp_path: Path) -> None:
    lines = [
        '{"qid": 1, "q_num": "0.1", "ranking": ["a"]}',
        '{"qid": 1, "ranking": ["a"]',
        '{"ranking": ["a"]}',
        '{"qid": 1}',
        "{}",
        '{"qid": 1.5, "ranking": ["a"]}',
        '{"qid": true, "ranking": ["a"]}',
        '{"qid": "", "ranking": ["a"]}',
        '{"qid": 1, "ranking": "ab"}',
        '{"qid": 1, "ranking": ["a", null]}',
        '{"qid": 1, "ranking": ["a", ""]}',
        '{"qid": 1, "ranking": ["a", "\\ud800"]}',
        '{"qid": 1, "q_num": 0.1, "ranking": ["a"]}',
        '{"qid": 1, "q_num": "0.1", "ranking": ["a"]}',
        '[1, ["a"]]',
        "[" * 100_000,
        '{"qid": 1, "ranking": [' + "9" * 5000 + "]}",
    ]
    found = problems_in(tmp_path / "a.json", "\n".join(lines))
    assert [line for line, _ in found] == list(range(2, len(lines) + 1))
    texts = [text for _, text in found]
    assert texts[0].startswith("a line that is no JSON (")
    assert texts[1:4] == ["a line without qid", "a line without ranking", "a line without qid and ranking"]
    assert texts[4:7] == ["qid 1.5", "qid True", "qid ''"]
    assert texts[7:11] == [
        "a ranking that is no list",
        "document id None",
        "document id ''",
        "document id '\\ud800'",
    ]
    assert texts[11] == "q_num 0.1, which is no text"
    assert texts[12] == "q_num '0.1' again, first on line 1"
    assert texts[13] == "a line that is no JSON object"
    assert all(text.startswith("a line that is no JSON (") for text in texts[14:])


def test_repeated_documents(tmp_path: Path) -> None:
    text = '{"qid": 1, "ranking": ["a"]}\n{"qid": 1, "ranking": ["a", "b", "a"]}\n'
    assert problems_in(tmp_path / "a", text) == [
        (2, "document 'a' again in query '1', sample 1, first on line 2"),
    ]


@pytest.mark.shared_data
def test_submitted_runs(shared: Path) -> None:
    folder = shared / "data" / "trec-fair-2020" / "rerank_submissions"
    run = read_run(folder / "UW_bm25.jsonl.gz")
    check(run)
    assert run.name == "UW_bm25"
    assert len(run.qids) == 200
    assert run.rankings.counts.tolist() == [150] * 200
    assert run.counts == {}
    # One static ranking a query, and every candidate in it.
    assert run.rankings.over.nnz == 4814
    assert np.array_equal(np.diff(run.rankings.item_ptr), np.repeat(run.rankings.over.lengths, 150))


@pytest.mark.shared_data
def test_converter_cases(shared: Path, tmp_path: Path) -> None:
    cases = json.loads((shared / "oracles" / "trec" / "eel_2020_converters.json").read_text())["cases"]
    for case in cases:
        (tmp_path / "run.jsonl").write_text("\n".join(json.dumps(record) for record in case["run"]))
        (tmp_path / "run.txt").write_text("\n".join(case["run_out"]))
        ours, theirs = plain_of(read_run(tmp_path / "run.jsonl")), plain_of(read_run(tmp_path / "run.txt"))
        # The official text form cannot hold an empty ranking; we keep it.
        assert {qid: {k: docs for k, docs in samples.items() if docs} for qid, samples in ours.items()} == theirs
