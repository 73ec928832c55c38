"""A tiny collection in a folder, and a way to run the command in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers.cli import main

DOCS = [
    ("a,1", "fair exposure of documents in rankings", ["u1", "u2"]),
    ("é2", "expected exposure of stochastic rankings", ["u2"]),
    ("b3", "cooking pasta with tomato sauce", ["u3"]),
    ("B4", "rankings of football teams and documents", []),
    ("c5", "group fairness of exposure", ["u1"]),
    ("d6", "", ["u4"]),
]
QUERIES = [("q1", "fair exposure"), ("q2", "rankings documents"), ("q3", "pasta"), ("q4", "zebra")]
QRELS = ["q1 0 a,1 2", "q1 0 c5 1", "q1 0 b3 0", "q2 0 é2 1", "q2 0 zz9 1", "q3 0 b3 1", "q3 0 a,1 -1"]
GROUPS = ["author_id,group", "u1,senior", "u2,junior", "u3,senior", "u4,"]

Run = Callable[..., tuple[int, str, str]]


def write_collection(folder: Path, end: str = "\n", last: str = "\n") -> Path:
    """Write the tiny collection with a given line end, and end of the last line."""
    folder.mkdir(parents=True, exist_ok=True)
    docs = [json.dumps({"docno": d, "title": t, "author_ids": a}, ensure_ascii=False) for d, t, a in DOCS]
    queries = [f"{qid}\t{text}" for qid, text in QUERIES]
    for name, lines in (
        ("docs.jsonl", docs),
        ("queries.tsv", queries),
        ("qrels.txt", QRELS),
        ("seniority_groups.csv", GROUPS),
    ):
        (folder / name).write_bytes((end.join(lines) + last).encode())
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a tiny jsonl collection."""
    return write_collection(tmp_path / "tiny")


@pytest.fixture
def tiny_run(tmp_path: Path) -> Path:
    """Return a first-stage run over the tiny collection, so that no Java is needed."""
    path = tmp_path / "first.run"
    lines = []
    for qid, docnos in (("q1", ["a,1", "c5", "é2"]), ("q2", ["B4", "é2", "a,1"]), ("q3", ["b3", "d6"])):
        lines += [f"{qid} Q0 {docno} {rank} {9.0 - 2 * rank} first" for rank, docno in enumerate(docnos, 1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command and gives (exit code, standard output, standard error)."""
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
