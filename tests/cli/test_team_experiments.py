"""The experiments that repeat what teams of TREC Fair Ranking 2020 submitted, on a folder of invented documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from rerankers._conf import conf_folder
from tests.cli.conftest import Run

LISTS = {7: ["d", "c", "b", "a"], 8: ["a", "e"]}
RELEVANT = {(7, "a"), (7, "c"), (8, "e")}
AUTHORS = {"a": ["x", "y"], "b": ["x"], "c": ["y", "x"], "d": ["z"]}
LEVELS = {"a": ["Advanced"], "b": ["Developing"], "c": ["Advanced", "Developing"], "d": [None]}
QUICK = "measures.resamples=50"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a small folder in the form of 2020: 2 queries, 5 documents, ``e`` having neither authors nor labels."""
    out = tmp_path / "trec"
    (out / "rerank_submissions").mkdir(parents=True)
    sample = [
        {"qid": q, "query": "fair", "documents": [{"doc_id": d, "relevance": int((q, d) in RELEVANT)} for d in docs]}
        for q, docs in LISTS.items()
    ]
    submission = [{"q_num": f"{q}.{t}", "qid": q, "ranking": docs[::-1]} for q, docs in LISTS.items() for t in range(3)]
    notes = [
        {
            "id": d,
            "missing_authors": 0,
            "authors": [{"name": "", "id": "1", **({"level": one} if one else {})} for one in of],
        }
        for d, of in LEVELS.items()
    ]
    pairs = [(q, d, n) for q, docs in LISTS.items() for n, d in enumerate(docs, 1)]
    tables = {
        "TREC-Fair-Ranking-eval-sample.json": [json.dumps(line) for line in sample],
        "merged-annotations.json": [json.dumps(line) for line in notes],
        "TREC-Fair-Ranking-eval-seq.csv": [f"{s}.{t},{q}" for s, q in enumerate(LISTS) for t in range(6)],
        "nle_Evaluation_rel_scores_model_A.csv": [
            "qid,doc_id,est_relevance",
            *(f"{q},{d},{n / 10}" for q, d, n in pairs if d != "b"),
        ],
        "corpus-subset-for-queries.papers.csv": [
            "paper_sha,paper_title,paper_year,paper_venue,n_citations,n_key_citations",
            *(f"{d},fair {d},,,," for d in AUTHORS),
        ],
        "corpus-subset-for-queries.paper_authors.csv": [
            "paper_sha,corpus_author_id,position",
            *(f"{d},{one},{place}" for d, of in AUTHORS.items() for place, one in enumerate(of, 1)),
        ],
        "feature_matrix_sayed_eval.csv": [
            "qid,doc_id,title_score,abstract_score",
            *(f"{q},{d},{n},{'' if d == 'c' else -n}" for q, d, n in pairs),
        ],
    }
    for name, lines in tables.items():
        (out / name).write_text("\n".join(lines) + "\n")
    with gzip.open(out / "rerank_submissions" / "UW_bm25.jsonl.gz", "wt") as file:
        file.write("\n".join(json.dumps(line) for line in submission) + "\n")
    return out


def run(command: Run, folder: Path, name: str, *words: str) -> tuple[list[list[str]], dict[str, Any]]:
    """Return the rankings of query 7 and the counts of an experiment."""
    output = folder.parent / name
    code, _, err = command("run", f"experiment={name}", f"collection.path={folder}", f"output={output}", QUICK, *words)
    assert code == 0, err
    table = pq.read_table(output / "run.parquet").to_pylist()
    rankings: dict[int, list[str]] = {}
    for row in sorted(table, key=lambda row: (row["sample"], row["rank"])):
        if row["qid"] == "7":
            rankings.setdefault(row["sample"], []).append(row["docno"])
    return list(rankings.values()), json.loads((output / "measures.json").read_text())["counts"]


@pytest.mark.slow
def test_controller_and_sampling(command: Run, folder: Path) -> None:
    served, counts = run(command, folder, "trec2020_nle_meta")
    assert len(served) == 6  # as often as the sequence asks
    assert served[0] == ["a", "c", "d", "b"]  # nothing is owed yet: by probability, b having none
    assert len(set(map(tuple, served))) > 1
    assert counts["retrieval"]["candidates_without_score"] == 1
    output = folder.parent / "trec2020_nle_meta"
    judged = ("evaluate", "preset=trec2020_rerank_official", f"run={output}", f"output={output}-judged", QUICK)
    files = (f"qrels={folder}/TREC-Fair-Ranking-eval-sample.json", f"groups={folder}/merged-annotations.json")
    code, _, err = command(*judged, *files)
    assert code == 0, err
    drawn, _ = run(command, folder, "trec2020_nle_pkl", "samples=20")
    assert len(drawn) == 20
    assert all(ranking[3] == "b" for ranking in drawn)  # of probability 1e-12
    assert len(set(map(tuple, drawn))) > 1


@pytest.mark.slow
def test_greedy_rule_over_a_submission(command: Run, folder: Path) -> None:
    drawn, counts = run(command, folder, "trec2020_infoseeking_r60g20c20")
    assert len(set(map(tuple, drawn))) == 1
    assert sorted(drawn[0]) == ["a", "b", "c", "d"]
    assert counts["retrieval"]["queries_whose_one_ranking_is_repeated"] == 2
    by_score, _ = run(command, folder, "trec2020_infoseeking_r60g20c20", "method.relevance_weight=1")
    assert by_score[0] == ["a", "b", "c", "d"]


def test_shifting_fusion_of_columns(command: Run, folder: Path) -> None:
    drawn, counts = run(command, folder, "trec2020_macewan_base")
    # keys of a, b, c, d at weight w: 1 + 2 w, 2, 3 + w, 4 - 3 w, since abstracts rank d, b, a, and c behind them
    assert {"".join(ranking) for ranking in drawn} <= {"abcd", "abdc", "badc", "bdac", "dbac"}
    assert {"abcd", "dbac"} <= {"".join(ranking) for ranking in drawn}
    assert counts["method"]["documents_missing"] == 1
    assert counts["retrieval"]["run_abstract_pairs_without_a_number"] == 1


@pytest.mark.slow
def test_a_ranker_is_asked_for(command: Run, folder: Path) -> None:
    for name in ("trec2020_mtg_lm_relevance", "trec2020_mtg_rel_groups"):
        code, _, err = command(
            "run", f"experiment={name}", f"collection.path={folder}", f"output={folder.parent / name}"
        )
        assert code == 3
        assert "MODEL" in err
    _, counts = run(command, folder, "trec2020_mtg_rel_groups", "method.model=null")
    assert counts["method"]["documents_without_entity"] == 1
    assert counts["method"]["communities"] == 4  # {x, y} and z in one query; {x, y} and the document without authors


@pytest.mark.parametrize(
    "path", sorted((conf_folder() / "experiment").glob("trec2020_*.yaml")), ids=lambda path: path.stem
)
def test_every_team_says_its_class_and_what_came_out(path: Path) -> None:
    text = path.read_text()
    assert yaml.safe_load(text)
    if "Official:" in text:
        told = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
        assert "Class, decided before the first run: " in told
        kind = told.partition("Class, decided before the first run: ")[2]
        assert kind.startswith(("reproduced within tolerance", "same order", "not reproducible from public facts"))
        assert "Came out: " in told
