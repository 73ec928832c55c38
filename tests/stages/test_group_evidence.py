"""Placebo, excess, tests and decomposition in the files, the report and on the terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rerankers.cli import main

RUN = "\n".join(
    f"q{query} Q0 d{(query * 3 + 7 * rank) % 11} {rank + 1} {10 - rank} mine" for query in range(6) for rank in range(8)
)
QRELS = "\n".join(f"q{query} 0 d{doc} {int((query + doc) % 4 == 0)}" for query in range(6) for doc in range(11))
GROUPS = "docno,group,attribute\n" + "\n".join(
    [f"d{doc},{'xy'[doc % 2]},colour" for doc in range(9)] + [f"d{doc},{'uvw'[doc % 3]},size" for doc in range(11)]
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {"run": tmp_path / "mine.trec", "qrels": tmp_path / "qrels", "groups": tmp_path / "groups.csv"}
    for path, text in zip(found.values(), (RUN, QRELS, GROUPS), strict=True):
        path.write_text(text + "\n")
    return {**found, "output": tmp_path / "out"}


def evaluated(files: dict[str, Path], *words: str) -> dict[str, Any]:
    assert main(["evaluate", *(f"{word}={path}" for word, path in files.items()), *words]) == 0
    return json.loads((files["output"] / "measures.json").read_text())


def test_one_attribute(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluated(files, "groups.attribute=colour", "measures.resamples=50")
    shown = capsys.readouterr().out
    run = found["runs"]["mine"]
    mean = run["mean"]
    assert mean["group_EEL"] - mean["group_EEL_placebo"] == pytest.approx(mean["group_EEL_excess"])
    parts = run["decomposition"]["group_EEL"]
    assert parts["loss"] == pytest.approx(mean["group_EEL"])
    assert mean["group_EEL_systematic"] == parts["systematic"]
    assert mean["group_EEL_systematic"] + parts["per_query"] == pytest.approx(mean["group_EEL"])
    assert set(parts["groups"]) == {"x", "y", "unknown"}
    test = run["excess_test"]["group_EEL_excess"]
    assert mean["group_EEL_excess_p"] == test["p"]
    assert test["permutations"] == found["options"]["permutations"] == 200
    assert len(run["interval"]["group_EEL_excess"]) == len(run["interval"]["group_EEL_systematic"]) == 2
    assert not {"group_EEL_systematic", "group_EEL_excess_p"} & set(run["per_query"]["q0"])
    with (files["output"] / "measures.csv").open(newline="") as stream:
        assert "group_EEL_excess" in {row["measure"] for row in csv.DictReader(stream)}
    page = (files["output"] / "report.html").read_text()
    assert "What the groups explain: colour" in page
    assert "Where the loss lies: group_EEL" in page
    assert "What the groups explain:" in shown
    assert f"{mean['group_EEL_placebo']:.4f}" in shown


def test_several_attributes_and_a_drawn_placebo(files: dict[str, Path]) -> None:
    words = ["measures.resamples=20", "measures.permutations=20"]
    names = "measures.names=[group_EEL,AWRF(group='size'),EEL(group='colour')_systematic]"
    found = evaluated(files, *words, names)
    run = found["runs"]["mine"]
    assert {"EEL(group='size')_placebo", "EEL(group='colour')_excess", "AWRF(group='size')_excess"} <= set(run["mean"])
    assert {"EEL(group='colour')_systematic", "EEL(group='size')_systematic"} <= set(run["mean"])
    test = run["excess_test"]["AWRF(group='size')_excess"]
    assert test["placebo"] == "permutations"
    assert test["placebo_standard_error"] > 0
    assert test["permutations"] == 20
    assert "What the groups explain: size" in (files["output"] / "report.html").read_text()


def test_switched_off(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerankers.stages.results.write_report", lambda *_: None)
    words = ["groups.attribute=colour", "measures.resamples=20", "measures.placebo=none", "measures.permutations=0"]
    mean = evaluated(files, *words)["runs"]["mine"]["mean"]
    assert "group_EEL_placebo" not in mean
    assert "group_EEL_systematic" in mean
    wrong = [f"{word}={path}" for word, path in files.items()]
    assert main(["evaluate", *wrong, "measures.permutations=-1"]) == 2
    assert main(["evaluate", *wrong, "measures.placebo=some"]) == 2
