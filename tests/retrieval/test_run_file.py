"""Candidates from a run that another system has made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.retrieval import RunFile
from rerankers.values import Collection, Ids, Judgments, Topics


def collection() -> Collection:
    docs = Ids.union(["a", "b", "c"])
    return Collection("small", docs, Topics.of(["q1", "q2", "q3"], ["x", "y", "z"]), Judgments.empty(), "small-1")


def retrieved(tmp_path: Path, text: str, k: int = 1000) -> tuple[dict[str, list[tuple[str, float]]], dict[str, int]]:
    path = tmp_path / "a.run"
    path.write_text(text, encoding="utf-8")
    found = RunFile(str(path), k).retrieve(collection(), tmp_path)
    rows = {}
    for row, qid in enumerate(["q1", "q2", "q3"]):
        part = found.candidates.row(row)
        rows[qid] = list(
            zip(found.docs.take(found.candidates.doc[part]), found.candidates.score[part].tolist(), strict=True)
        )
    return rows, dict(found.counts)


def test_rows_follow_the_topics_and_ranks_are_trusted(tmp_path: Path) -> None:
    rows, counts = retrieved(tmp_path, "q3 Q0 c 1 5 t\nq1 Q0 b 2 3 t\nq1 Q0 a 1 4 t\n")
    assert rows == {"q1": [("a", 4.0), ("b", 3.0)], "q2": [], "q3": [("c", 5.0)]}
    assert counts["queries_without_candidates"] == 1


def test_scores_that_contradict_ranks_become_1_over_rank(tmp_path: Path) -> None:
    rows, counts = retrieved(tmp_path, "q1 Q0 b 1 3 t\nq1 Q0 a 2 4 t\nq2 Q0 c 1 9 t\n")
    assert rows["q1"] == [("b", 1.0), ("a", 0.5)]
    assert rows["q2"] == [("c", 9.0)]
    assert counts["queries_whose_scores_are_1_over_rank"] == 1


def test_unknown_documents_stay_and_unknown_queries_go(tmp_path: Path) -> None:
    rows, counts = retrieved(tmp_path, "q1 Q0 zz 1 5 t\nq1 Q0 a 2 4 t\nq9 Q0 a 1 1 t\n")
    assert rows["q1"] == [("zz", 5.0), ("a", 4.0)]
    assert counts["run_documents_unknown_to_the_collection"] == 1
    assert counts["run_queries_unknown_to_the_collection"] == 1


def test_k_cuts_every_row(tmp_path: Path) -> None:
    rows, _ = retrieved(tmp_path, "q1 Q0 a 1 5 t\nq1 Q0 b 2 4 t\nq2 Q0 c 1 1 t\n", k=1)
    assert rows == {"q1": [("a", 5.0)], "q2": [("c", 1.0)], "q3": []}


def test_several_rankings_of_a_query_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one ranking"):
        retrieved(tmp_path, "q1 0 a 1 5 t\nq1 1 b 1 5 t\n")
    with pytest.raises(ConfigError, match=r"retriever\.k"):
        RunFile("a.run", k=0)


def test_an_extended_collection_keeps_what_it_knew() -> None:
    old = collection()
    new = old.over(Ids.union(old.docs, ["aa", "zz"]))
    assert new.docs.take(np.arange(5)) == ["a", "aa", "b", "c", "zz"]
    assert new.over(new.docs) is new
