"""Candidates that a collection names, with scores from a file or by BM25."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.collections import Generated
from rerankers.collections.trec_fair import CandidateCollection, Trec2020
from rerankers.methods.belief import logits
from rerankers.retrieval.given_candidates import GivenCandidates
from rerankers.values import Block, Relevance


@pytest.fixture
def collection(tmp_path: Path) -> CandidateCollection:
    lists = {7: ["d", "c", "b", "a"], 8: ["a", "d"], 9: []}
    texts = {7: "fair ranking", 8: "pasta", 9: "nothing"}
    lines = [
        json.dumps({"qid": qid, "query": texts[qid], "documents": [{"doc_id": d, "relevance": 0} for d in docs]})
        for qid, docs in lists.items()
    ]
    (tmp_path / "TREC-Fair-Ranking-eval-sample.json").write_text("\n".join(lines))
    header = "paper_sha,paper_title,paper_year,paper_venue,n_citations,n_key_citations"
    papers = [header, "a,fair ranking of papers,,,,", "b,pasta,,,,", "c,ranking,,,,", "e,elsewhere ranking,,,,"]
    (tmp_path / "corpus-subset-for-queries.papers.csv").write_text("\n".join(papers))
    return Trec2020(str(tmp_path)).load()


def test_scores_from_a_file(collection: CandidateCollection, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("qid,doc_id,est_relevance\n7,a,0.5\n7,c,0.9\n7,b,0.5\n8,d,0.1\n8,zz,0.7\n5,a,1\n")
    found = GivenCandidates(by="file", path=str(path)).retrieve(collection, tmp_path)
    names = found.docs.take(found.candidates.doc)
    assert names == ["c", "a", "b", "d", "d", "a"]
    np.testing.assert_array_equal(found.candidates.score, [0.9, 0.5, 0.5, 0, 0.1, 0])
    np.testing.assert_array_equal(found.candidates.columns["estimates"], found.candidates.score)
    np.testing.assert_array_equal(found.candidates.lengths, [4, 2, 0])
    assert found.counts == {
        "candidates_without_score": 2,
        "scores_of_documents_that_are_no_candidates": 2,
        "queries_without_candidates": 1,
    }
    path.write_text("qid\tdocno\tlogit\tother\n7\ta\t-2\tx\n")
    other = tmp_path / "s.tsv"
    path.rename(other)
    found = GivenCandidates(by="file", path=str(other), column="logit", missing=-9).retrieve(collection, tmp_path)
    assert "estimates" not in found.candidates.columns
    np.testing.assert_array_equal(found.candidates.score[:4], [-2, -9, -9, -9])
    plain = GivenCandidates(by="none").retrieve(collection, tmp_path)
    assert plain.docs.take(plain.candidates.doc)[:4] == ["a", "b", "c", "d"]


def test_what_the_numbers_of_a_file_are(collection: CandidateCollection, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("qid,doc_id,p\n7,a,0.5\n7,c,1\n7,b,0\n")
    told = GivenCandidates(by="file", path=str(path), kind="probability").retrieve(collection, tmp_path)
    relevance = Relevance.of_candidates(told.candidates)
    assert relevance.kind == "probability"
    block = Block(told.candidates, np.zeros((len(told.candidates), 2), dtype=np.uint64))
    np.testing.assert_allclose(logits(block)[:4], np.log([1, 0.5, 1e-12, 1e-12]))  # d has no number: 0
    assert told.counts["candidates_without_score"] == 3
    plain = GivenCandidates(by="file", path=str(path), kind="score").retrieve(collection, tmp_path)
    assert Relevance.of_candidates(plain.candidates).kind == "score"
    path.write_text("qid,doc_id,p\n7,a,0.5\n7,c,1.5\n7,b,-0.1\n7,d,nan\n")
    with pytest.raises(InputError) as caught:
        GivenCandidates(by="file", path=str(path), kind="probability").retrieve(collection, tmp_path)
    lines = str(caught.value).splitlines()
    assert [line.partition(": found ")[0] for line in lines] == [f"{path}:{number}" for number in (3, 4, 5)]
    assert all("p '" in line and line.endswith("a number from 0 to 1") for line in lines)
    for options, message in (
        ({"by": "none", "kind": "score"}, "kind: found score with by=none"),
        ({"by": "file", "path": "x", "kind": "logit"}, r"retriever\.kind: found 'logit'"),
        ({"by": "file", "path": "x", "kind": "probability", "missing": 2.0}, r"missing: found 2\.0.*from 0 to 1"),
    ):
        with pytest.raises(ConfigError, match=message):
            GivenCandidates(**options)  # type: ignore[arg-type]


def test_further_runs_beside_given_candidates(collection: CandidateCollection, tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("7 Q0 b 1 3 t\n7 Q0 a 2 2 t\n7 Q0 zz 3 1 t\n")
    found = GivenCandidates(by="none", runs=[f"x:{tmp_path}/x.run"]).retrieve(collection, tmp_path)
    column = found.candidates.columns["run:x"]
    assert found.docs.take(found.candidates.doc)[:4] == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(column[:4], [2, 3, np.nan, np.nan])
    assert found.counts["run_x_pairs_that_are_no_candidates"] == 1


def test_bm25_within_the_candidates(collection: CandidateCollection, tmp_path: Path) -> None:
    found = GivenCandidates(heap="1g").retrieve(collection, tmp_path / "cache")
    assert found.docs.take(found.candidates.doc) == ["a", "c", "b", "d", "a", "d"]
    assert found.candidates.score[0] > found.candidates.score[1] > 0
    np.testing.assert_array_equal(found.candidates.score[2:], 0)
    assert found.counts["candidates_without_text"] == 2


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("qid,doc_id,x\n7,a,nan\n", InputError, "x 'nan'"),
        ("qid,doc_id,x\n7,a,1\n7,a,2\n", InputError, "again, as in line 2"),
        ("qid,x\n7,1\n", InputError, "expected qid,doc_id and a column of numbers"),
        ("qid,doc_id,x,y\n7,a,1,2\n", ConfigError, "found 'est_relevance'; expected one of x, y"),
        ("qid,doc_id,x\n7,a\n", InputError, "2 fields"),
    ],
)
def test_damaged_files(
    collection: CandidateCollection, tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(error, match=message):
        GivenCandidates(by="file", path=str(tmp_path / "s.csv")).retrieve(collection, tmp_path)


def test_what_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names no candidates"):
        GivenCandidates(by="none").retrieve(Generated(documents=60, topics=2).load(), tmp_path)
    with pytest.raises(ConfigError, match="expected a path with by=file"):
        GivenCandidates(by="file")
    with pytest.raises(ConfigError, match="expected a path with by=file"):
        GivenCandidates(path="x")
    with pytest.raises(ConfigError, match=r"retriever\.by"):
        GivenCandidates(by="random")
