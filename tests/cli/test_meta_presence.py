"""fair-rerank meta with label files and measures of what documents carry: the values of evaluate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rerankers.cli import main
from rerankers.measures import parse, parse_many

LABELS = {"a": ("male", 3), "b": ("female", 2), "c": ("neutral", 0), "d": ("male", 1), "e": (None, 0)}
ORDERS = {"one": ("abc", "cde", "dab"), "two": ("cba", "dce", "bed"), "three": ("bac", "aec", "cad")}
ASKED = ["NFaiRR(missing=drop)@3", "CWEx@3", "TExFAIR(missing=drop)@3"]
NAMES = f"measures.names=[{','.join(ASKED)}]"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    lines = []
    for doc, (label, count) in LABELS.items():
        scores = {"male": count * (label == "male"), "female": count * (label == "female"), "tokens": 9}
        said = {**scores, "neutrality": float(count < 2)} if label else {}
        lines.append(json.dumps({"id": doc, "label": label, "scores": said, "source": "test", "reason": "none"}))
    (tmp_path / "labels.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 c 1\nq3 0 e 1\n")
    for name, orders in ORDERS.items():
        rows = [
            f"q{query} Q0 {doc} {rank} {9 - rank} r"
            for query, order in enumerate(orders, 1)
            for rank, doc in enumerate(order, 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_label_files_and_what_they_carry(files: Path) -> None:
    given = [f"qrels={files / 'qrels.txt'}", f"groups={files / 'labels.jsonl'}", NAMES]
    runs = [str(files / f"{name}.run") for name in ("one", "two", "three")]
    assert main(["meta", *runs, *given, "axioms=false", f"output={files / 'meta'}"]) == 0
    found = json.loads((files / "meta" / "meta.json").read_text())
    assert found["without_value"] == []
    assert {way["setting"]["unknown"] for way in found["ways"]} == {"count", "drop", "spread"}
    for run in runs:
        name = Path(run).stem
        assert main(["evaluate", f"run={run}", *given, f"output={files / name}"]) == 0
        mean = json.loads((files / name / "measures.json").read_text())["runs"][name]["mean"]
        values = {
            parse(key).name: value for key, value in mean.items() if key in {str(one) for one in parse_many(ASKED)}
        }
        for way in found["ways"]:
            measure = parse(way["measure"]).name
            if measure != "CWEx" or way["setting"]["unknown"] == "count":
                assert way["means"][name] == pytest.approx(values[measure], abs=1e-12)


def test_the_weights_of_the_tracks(files: Path) -> None:
    given = [f"qrels={files / 'qrels.txt'}", f"groups={files / 'labels.jsonl'}", "measures=[AWRF@3]"]
    runs = [str(files / f"{name}.run") for name in ("one", "two")]
    grid = ["browsing=[wptrec,rbp]", "patience=0.8", "target=uniform", "axioms=false"]
    assert main(["meta", *runs, *given, *grid, f"output={files / 'meta'}"]) == 0
    found = json.loads((files / "meta" / "meta.json").read_text())
    settings = {(way["setting"]["browsing"], way["setting"].get("patience")) for way in found["ways"]}
    assert settings == {("wptrec", None), ("rbp", 0.8)}
