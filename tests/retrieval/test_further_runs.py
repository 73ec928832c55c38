"""Further runs as columns of the candidates: which documents they have, which are ranked, and what is refused."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.streams import query_streams
from rerankers.methods.linear_fusion import LinearFusion
from rerankers.methods.rrf import Rrf
from rerankers.retrieval import RunFile
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.further_runs import with_runs
from rerankers.values import Block, Candidates, Collection, Ids, Judgments, Relevance, Topics

FIRST = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq3 Q0 c 1 5 t\n"


def collection() -> Collection:
    docs = Ids.union(["a", "b", "c", "d"])
    return Collection("small", docs, Topics.of(["q1", "q2", "q3"], ["x", "y", "z"]), Judgments.empty(), "small-1")


def write(folder: Path, **texts: str) -> list[str]:
    """Write files and return ``NAME:FILE`` of each."""
    for name, text in texts.items():
        (folder / f"{name}.run").write_text(text)
    return [f"{name}:{folder / name}.run" for name in texts]


def retrieve(
    folder: Path, runs: list[str], pool: str = "first"
) -> tuple[dict[str, list[tuple[object, ...]]], Retrieved]:
    """Return query -> (document, score, one number a run) in order, and what was retrieved."""
    (folder / "first.run").write_text(FIRST)
    found = RunFile(str(folder / "first.run"), runs=runs, pool=pool).retrieve(collection(), folder)
    rows: dict[str, list[tuple[object, ...]]] = {}
    for row, qid in enumerate(["q1", "q2", "q3"]):
        part = found.candidates.row(row)
        columns = [column[part].tolist() for column in found.candidates.columns.values()]
        rows[qid] = list(zip(found.docs.take(found.candidates.doc[part]), *columns, strict=True))
    return rows, found


def block_of(found: Retrieved, model: list[float] | None = None) -> Block:
    stream = query_streams(["q1", "q2", "q3"])
    estimates = None if model is None else Relevance(np.array(model), "logit", "model:x")
    return Block(found.candidates, stream, estimates=estimates)


def ranked(block: Block, found: Retrieved, method: Rrf | LinearFusion) -> list[list[str]]:
    policy, _ = method.counted(block)
    drawn = policy.sample(1, 0)
    names = found.docs.take(found.candidates.doc[drawn.flat])
    return [names[start:stop] for start, stop in zip(drawn.item_ptr[:-1], drawn.item_ptr[1:], strict=True)]


def test_columns_of_runs_and_what_is_missing(tmp_path: Path) -> None:
    runs = write(tmp_path, x="q1 Q0 b 1 3 t\nq1 Q0 d 2 2 t\nq9 Q0 a 1 1 t\n", y="q3 Q0 c 1 1 t\nq3 Q0 zz 2 4 t\n")
    rows, found = retrieve(tmp_path, runs)
    assert [row[:2] for row in rows["q1"]] == [("a", 9.0), ("b", 8.0)]
    assert list(found.candidates.columns) == ["score", "run:x", "run:y"]
    assert math.isnan(rows["q1"][0][2])
    assert rows["q1"][1][2] == 3.0
    assert rows["q3"] == [("c", 5.0, pytest.approx(math.nan, nan_ok=True), 1.0)]
    assert rows["q2"] == []
    assert len(found.docs) == 4  # nothing was added
    counts = found.counts
    assert (counts["run_x_candidates_missing"], counts["run_x_pairs_that_are_no_candidates"]) == (2, 1)
    assert (counts["run_x_queries_unknown_to_the_collection"], counts["run_x_queries_without_candidates"]) == (1, 2)
    # y's scores contradict its ranks: 1 / rank
    assert (counts["run_y_queries_whose_scores_are_1_over_rank"], counts["run_y_candidates_missing"]) == (1, 2)


def test_union_ranks_the_documents_of_all_runs(tmp_path: Path) -> None:
    runs = write(tmp_path, x="q1 Q0 zz 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 aa 3 1 t\nq2 Q0 d 1 7 t\n")
    rows, found = retrieve(tmp_path, runs, "union")
    assert [row[0] for row in rows["q1"]] == ["a", "b", "aa", "zz"]  # the first stage's, then by docno
    score = [row[1] for row in rows["q1"]]
    assert score[:2] == [9.0, 8.0]
    assert score[2] == score[3] == np.nextafter(8.0, -np.inf)
    assert [row[2] for row in rows["q1"]][:2] == [9.0, 8.0]
    assert all(math.isnan(row[2]) for row in rows["q1"][2:])
    assert rows["q2"][0][:2] == ("d", 0.0)
    assert list(found.candidates.columns) == ["score", "run:first_stage", "run:x"]
    assert found.counts["candidates_added_by_runs"] == 3
    assert found.counts["run_documents_unknown_to_the_collection"] == 2
    assert found.counts["queries_without_candidates"] == 0


def test_fusion_of_runs(tmp_path: Path) -> None:
    """A document gets nothing from a run that lacks it, the first stage being one of the runs."""
    runs = write(tmp_path, x="q1 Q0 d 1 3 t\nq1 Q0 b 2 2 t\n")
    _, found = retrieve(tmp_path, runs, "union")
    block = block_of(found)
    policy, counts = Rrf(k=0.0).counted(block)
    assert counts["documents_missing"] == 3  # d by the first stage; a and c by x
    # q1: a 1, b 1/2 + 1/2, d 1; ties as they stand
    assert ranked(block, found, Rrf(k=0.0)) == [["a", "b", "d"], [], ["c"]]
    assert ranked(block, found, Rrf(k=60.0))[0] == ["b", "a", "d"]
    assert ranked(block, found, LinearFusion(weights=[1.0, 2.0]))[0] == ["d", "a", "b"]  # 0 + 2, 1 + 0, 0 + 0
    model = block_of(found, [0.0, 0.0, 5.0, 0.0])
    assert ranked(model, found, Rrf(k=60.0))[0] == ["b", "d", "a"]  # belief, first stage, x
    assert len(policy.sample(1, 0).counts) == 3


def test_tables_of_scores(tmp_path: Path) -> None:
    (tmp_path / "t#1.csv").write_text("qid,doc_id,one,two\nq1,a,0.5,\nq1,b,0.25,7\nq8,b,0.1,1\n")
    runs = [f"one:{tmp_path}/t#1.csv#one", f"two:{tmp_path}/t#1.csv#two"]
    rows, found = retrieve(tmp_path, runs)
    assert [row[2] for row in rows["q1"]] == [0.5, 0.25]
    assert math.isnan(rows["q1"][0][3])
    assert rows["q1"][1][3] == 7.0
    assert found.counts["run_two_pairs_without_a_number"] == 1
    assert found.counts["run_one_pairs_of_queries_unknown_to_the_collection"] == 1
    with pytest.raises(ConfigError, match=r"found 'three'; expected one of one, two"):
        retrieve(tmp_path, [f"x:{tmp_path}/t#1.csv#three"])
    (tmp_path / "bad.csv").write_text("qid,doc_id,v\nq1,a,x\nq1,b,inf\nq1,c,1\nq1,c,1\n")
    with pytest.raises(InputError, match=r"bad\.csv:2.*\n.*bad\.csv:3.*\n.*bad\.csv:5: .*as in line 4"):
        retrieve(tmp_path, [f"x:{tmp_path}/bad.csv#"])


def test_one_ranking_that_is_repeated_is_one(tmp_path: Path) -> None:
    lines = [f"q1 {sample} {doc} {rank} 1 t" for sample in range(3) for rank, doc in enumerate("ba", 1)]
    with gzip.open(tmp_path / "s.run.gz", "wt") as out:
        out.write("\n".join(lines) + "\n")
    found = RunFile(str(tmp_path / "s.run.gz")).retrieve(collection(), tmp_path)
    assert found.docs.take(found.candidates.doc) == ["b", "a"]
    np.testing.assert_array_equal(found.candidates.score, [1.0, 0.5])
    assert found.counts["queries_whose_one_ranking_is_repeated"] == 1
    (tmp_path / "t.run").write_text("\n".join([*lines, "q1 3 a 1 1 t", "q1 3 b 2 1 t"]))
    with pytest.raises(InputError, match=r"t\.run: found 4 rankings of query 'q1'; expected one ranking"):
        RunFile(str(tmp_path / "t.run")).retrieve(collection(), tmp_path)
    (tmp_path / "u.run").write_text("\n".join([*lines, "q1 3 b 1 1 t"]))
    with pytest.raises(InputError, match="one ranking a query"):
        RunFile(str(tmp_path / "u.run")).retrieve(collection(), tmp_path)


@pytest.mark.parametrize(("score", "expected"), [("file", [9, 8]), ("reciprocal", [1, 0.5]), ("linear", [2, 1])])
def test_what_becomes_of_scores(tmp_path: Path, score: str, expected: list[float]) -> None:
    (tmp_path / "first.run").write_text(FIRST)
    found = RunFile(str(tmp_path / "first.run"), score=score).retrieve(collection(), tmp_path)
    assert found.candidates.score[:2].tolist() == expected


def test_what_is_refused(tmp_path: Path) -> None:
    for runs, message in (
        (["x"], r"found 'x'; expected NAME:FILE"),
        (["9x:file"], r"expected NAME:FILE"),
        (["x:a", "x:b"], r"the name 'x' again"),
        (["first_stage:a"], r"the name 'first_stage'"),
    ):
        with pytest.raises(ConfigError, match=message):
            RunFile("a.run", runs=runs)
    with pytest.raises(ConfigError, match="union without"):
        RunFile("a.run", pool="union")
    with pytest.raises(ConfigError, match=r"retriever\.pool"):
        RunFile("a.run", runs=["x:a"], pool="both")
    with pytest.raises(ConfigError, match=r"retriever\.score"):
        RunFile("a.run", score="rank")
    with pytest.raises(MissingError, match=r"nowhere\.run: no such file"):
        retrieve(tmp_path, [f"x:{tmp_path}/nowhere.run"])
    with pytest.raises(MissingError, match=r"nowhere\.csv: no such file"):
        retrieve(tmp_path, [f"x:{tmp_path}/nowhere.csv#v"])


LISTS = st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5), min_size=3, max_size=3)


@settings(max_examples=40)
@given(first=LISTS, more=st.lists(LISTS, min_size=1, max_size=2), pool=st.sampled_from(["first", "union"]))
def test_twin(
    tmp_path_factory: pytest.TempPathFactory, first: list[list[str]], more: list[list[list[str]]], pool: str
) -> None:
    """Every pair has the score of each run that has it, and no number from the others."""
    folder = tmp_path_factory.mktemp("runs")
    known = collection()

    def text(lists: list[list[str]]) -> str:
        lines = [f"q{q + 1} Q0 {d} {r} {-r} t" for q, docs in enumerate(lists) for r, d in enumerate(docs, 1)]
        return "\n".join(lines) + "\n"

    more = [one for one in more if any(one)]
    if not more:
        return
    runs = write(folder, **{f"r{number}": text(one) for number, one in enumerate(more)})
    docs = Ids.union(known.docs, "abcdef")
    rows = Candidates(
        np.arange(3),
        np.concatenate([[0], np.cumsum([len(one) for one in first])]),
        docs.codes([d for one in first for d in one]),
        {"score": np.array([-float(r) for one in first for r in range(1, len(one) + 1)])},
    )
    found = with_runs(Retrieved(docs, rows, {}), known, runs, pool)
    for q in range(3):
        part = found.candidates.row(q)
        names = found.docs.take(found.candidates.doc[part])
        added = sorted({d for one in more for d in one[q]} - set(first[q])) if pool == "union" else []
        assert names == first[q] + added
        for number, one in enumerate(more):
            column = found.candidates.columns[f"run:r{number}"][part].tolist()
            for name, value in zip(names, column, strict=True):
                assert math.isnan(value) if name not in one[q] else value == -(one[q].index(name) + 1)
        score = found.candidates.score[part]
        assert np.all(np.isfinite(score))
        assert np.all(np.diff(score) <= 0)


def test_blocks_take_columns_along(tmp_path: Path) -> None:
    _, found = retrieve(tmp_path, write(tmp_path, x="q1 Q0 b 1 3 t\n"))
    part = replace(block_of(found), candidates=found.candidates.rows(0, 1), stream=query_streams(["q1"]))
    assert Rrf(columns=["run:x"]).counted(part)[1]["documents_missing"] == 1
