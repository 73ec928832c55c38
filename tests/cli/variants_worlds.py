"""A small collection, two sets of variants of its topics and their runs, for tests of ``variants``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerankers.cli import main

HUMAN = "1-0:red shoe\n1-1:Shoe, red\n2-0:blue hat\n2-1:hat\n3-0:green sock\n"
MODEL = {"1": ["shoe red", "red  shoe", "shoe red"], "2": ["blue hat", "", "cap"], "3": ["sock"]}
DOCS = {
    "a": "red shoe",
    "b": "red red boot",
    "c": "shoe lace",
    "d": "blue hat",
    "e": "hat stand",
    "f": "cap blue",
    "g": "green sock",
    "h": "sock drawer",
}
QRELS = "1 0 a 1\n1 0 b -1\n2 7 d 2\n2 7 e 0\n3 0 g 1\n"
GROUPS = "docno,group\na,new\nb,old\nc,old\nd,new\ne,old\nf,new\ng,old\n"
HUMAN_RUN = {"1-0": "abc", "1-1": "cab", "2-0": "dfe", "2-1": "ed", "3-0": "gh"}
MODEL_RUN = {"1-0": "cb", "1-1": "ab", "2-0": "df", "2-2": "f", "3-0": "h"}


def run_text(rankings: dict[str, str]) -> str:
    lines = [
        f"{qid} Q0 {doc} {rank} {len(docs) - rank + 1} x\n"
        for qid, docs in rankings.items()
        for rank, doc in enumerate(docs, 1)
    ]
    return "".join(lines)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "human.txt").write_text(HUMAN)
    lines = [json.dumps({"qid": topic, "variants": texts}) + "\n" for topic, texts in MODEL.items()]
    (tmp_path / "model.jsonl").write_text("".join(lines))
    (tmp_path / "human.run").write_text(run_text(HUMAN_RUN))
    (tmp_path / "model.run").write_text(run_text(MODEL_RUN))
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "groups.csv").write_text(GROUPS)
    small = tmp_path / "small"
    small.mkdir()
    (small / "docs.jsonl").write_text("".join(json.dumps({"docno": d, "text": t}) + "\n" for d, t in DOCS.items()))
    queries = [{"qid": "1", "query": "red shoe", "title": "shoe"}, {"qid": "2", "query": "blue hat", "title": "cap"}]
    queries += [{"qid": "3", "query": "green sock", "title": "nothing like it"}]
    (small / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
    (small / "qrels.txt").write_text(QRELS)
    return tmp_path


def sets(files: Path) -> str:
    return f"sets=[human:{files}/human.txt,model:{files}/model.jsonl]"


def done(files: Path, *words: str, code: int = 0) -> dict[str, Any]:
    fast = ["resamples=50", "analysis.permutations=50"]
    assert main(["variants", *fast, *words, f"output={files}/out"]) == code
    return json.loads((files / "out" / "variants.json").read_text()) if code == 0 else {}


def failed(capsys: pytest.CaptureFixture[str], files: Path, *words: str, code: int) -> str:
    done(files, *words, code=code)
    return capsys.readouterr().err


def mean(found: dict[str, Any], measure: str, **keys: Any) -> Any:
    rows = [row for row in found["analysis"]["measures"] if row["measure"] == measure]
    (row,) = [row for row in rows if all(row[key] == value for key, value in {"role": "value", **keys}.items())]
    return row["mean"]
