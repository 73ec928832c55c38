"""Runs whose rankings may repeat documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.runs import read_run, write_run
from rerankers.tracks.lists import Lists, read_lists


def rankings(lists: Lists) -> dict[str, list[list[str]]]:
    found = lists.rankings
    docnos = lists.docs.take(found.over.doc[found.flat])
    out: dict[str, list[list[str]]] = {qid: [] for qid in lists.qids}
    for ranking, row in enumerate(found.row_of_ranking.tolist()):
        out[lists.qids[row]].append(docnos[found.item_ptr[ranking] : found.item_ptr[ranking + 1]])
    return out


TEXT = """q2 Q0 a 2 9 t
q1 Q1 b 1 9 t
q2 Q0 a 1 1 t
q1 Q0 c 1 1 t
q1 Q0 d 1 1 t
q1 Q0 a 0 1 t
q1 Q0 d 2 1 t
q3 Q0 z -1 1 t
"""


def test_text_runs(tmp_path: Path) -> None:
    path = tmp_path / "my.run"
    path.write_text(TEXT)
    lists = read_lists(path, "accumulate", "ignore")
    assert lists.name == "my"
    assert rankings(lists) == {"q2": [["a", "a"]], "q1": [["c", "d"], ["b"]], "q3": [[]]}
    assert lists.counts == {"rows_at_ranks_below_1": 2, "rows_at_taken_ranks": 1, "documents_again_in_a_ranking": 1}
    np.testing.assert_allclose(lists.rankings.weight, [1, 0.5, 0.5, 1])
    odd = tmp_path / "odd.run.gz"  # five fields, other white space: read line by line
    odd.write_bytes(gzip.compress(TEXT.replace(" t\n", "\r\n").encode()))
    assert rankings(read_lists(odd, "accumulate", "ignore")) == rankings(lists)
    assert rankings(read_lists(path, "first", "ignore"))["q2"] == [["a"]]
    with pytest.raises(InputError):
        read_lists(path, "error", "ignore")


def test_gaps_and_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "my.run"
    path.write_text("q1 Q0 a 1 1 t\nq1 Q0 b 3 1 t\nq2 Q7 b 2 1 t\n")
    with pytest.raises(InputError) as caught:
        read_lists(path, "accumulate", "ignore")
    assert "query 'q1', sample 'Q0'" in str(caught.value)
    assert "query 'q2', sample 'Q7'" in str(caught.value)
    path.write_text("q1 Q0 a one 1 t\nq1 Q0 b\n")
    with pytest.raises(InputError, match=r"my.run:1: found rank 'one'[\s\S]*my.run:2: found 3 fields"):
        read_lists(path, "accumulate", "ignore")


def test_json_lines_and_mappings(tmp_path: Path) -> None:
    given = {"7": [["a", "b", "a"], []], "8": [["c"]]}
    path = tmp_path / "r.jsonl"
    lines = [{"q_num": f"{q}.{k}", "qid": int(q), "ranking": r} for q, rs in given.items() for k, r in enumerate(rs)]
    path.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    for source in (path, given):
        counted = read_lists(source, "accumulate", "count")
        assert sorted(map(len, rankings(counted)["7"])) == [0, 3]
        ignored = read_lists(source, "accumulate", "ignore")
        assert rankings(ignored) == {"7": [["a", "b", "a"]], "8": [["c"]]}
        assert ignored.counts["empty_rankings_ignored"] == 1
        np.testing.assert_allclose(ignored.rankings.weight, [1, 1])
        assert rankings(read_lists(source, "first", "ignore"))["7"] == [["a", "b"]]


def test_other_forms_are_read_as_everywhere(tmp_path: Path) -> None:
    given = {"q1": [["a", "b"], ["b", "a"]]}
    run = read_run(given)
    write_run(tmp_path / "run.parquet", run.rankings, run.qids, run.docs)
    (tmp_path / "t.csv").write_text("qid,docno,sample,rank\nq1,a,0,1\nq1,b,0,2\nq1,b,1,1\nq1,a,1,2\n")
    for source in (tmp_path / "run.parquet", tmp_path, tmp_path / "t.csv", given):
        for rule in ("error", "accumulate"):
            assert rankings(read_lists(source, rule, "count")) == given
