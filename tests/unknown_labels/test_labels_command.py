"""``labels``: the same numbers as ``evaluate``, every study, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from rerankers._conf import conf_folder
from rerankers.cli import main
from rerankers.measures import evaluate
from rerankers.measures.unknown_labels import MEASURES
from rerankers.stages.label_files import read_confusion, read_probabilities
from rerankers.stages.label_study import OPTIONS
from tests.cli.conftest import Run
from tests.cli.conftest import command as command

QRELS = ["q1 0 a 1", "q1 0 b 0", "q1 0 c 1", "q1 0 d 0", "q2 0 c 1", "q2 0 e 0", "q2 0 f 2"]
GROUPS = ["docno,group", "a,north", "b,south", "e,south", "c,", "f,unknown"]
RUNS = {"one": {"q1": "abcd", "q2": "cef"}, "two": {"q1": "dcba", "q2": "fec"}}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two runs over two queries; of six documents three have no group, one of them in both queries."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("\n".join(QRELS) + "\n")
    (tmp_path / "groups.csv").write_text("\n".join(GROUPS) + "\n")
    for name, lists in RUNS.items():
        lines = [
            f"{qid} Q0 {docno} {rank} {9 - rank} {name}"
            for qid, docnos in lists.items()
            for rank, docno in enumerate(docnos, 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


FILES = ("run=[one.run,two.run]", "qrels=qrels.txt", "groups=groups.csv")


def results(folder: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "labels.json").read_text())
    return found


@pytest.mark.parametrize("unknown", ["count", "drop", "spread"])
def test_reported_values_are_those_of_evaluate(command: Run, world: Path, unknown: str) -> None:
    code, _, err = command("evaluate", *FILES, f"groups.unknown={unknown}", "measures.resamples=20", "output=judged")
    assert (code, err) == (0, "")
    judged = json.loads(Path("judged/measures.json").read_text())["runs"]
    for measure in MEASURES:
        code, _, err = command("labels", *FILES, f"groups.unknown={unknown}", f"measure={measure}", "output=out")
        assert (code, err) == (0, "")
        of_labels = results()["attributes"]["group"]["bounds"]["runs"]
        for name in RUNS:
            assert of_labels[name]["reported"] == pytest.approx(judged[name]["mean"][measure])
            for qid, numbers in of_labels[name]["per_query"].items():
                assert numbers["reported"] == pytest.approx(judged[name]["per_query"][qid][measure])


def test_bounds_are_those_of_evaluations_of_every_completion(command: Run, world: Path) -> None:
    code, out, err = command("labels", *FILES, "output=out")
    assert (code, err) == (0, "")
    found = results()
    part = found["attributes"]["group"]
    assert (part["groups"], part["documents"], part["documents_without_label"]) == (["north", "south"], 6, 3)
    assert found["queries"] == 2
    values: dict[str, list[float]] = {"one": [], "two": []}
    qrels: dict[str, dict[str, int]] = {"q1": {}, "q2": {}}
    for qid, _, docno, grade in (line.split() for line in QRELS):
        qrels[qid][docno] = int(grade)
    for choice in itertools.product(["north", "south"], repeat=3):
        groups = {"a": "north", "b": "south", "e": "south", **dict(zip("cdf", choice, strict=True))}
        for name, lists in RUNS.items():
            table = evaluate({qid: [list(docnos)] for qid, docnos in lists.items()}, qrels, groups).to_pylist()
            own = [row["value"] for row in table if row["measure"] == "group_EEL" and row["system"][:6] != "anchor"]
            assert len(own) == 2
            values[name].append(sum(own) / 2)
    for name, run in part["bounds"]["runs"].items():
        assert run["lower_found"] == pytest.approx(min(values[name]))
        assert run["upper_found"] == pytest.approx(max(values[name]))
        assert run["sharp"]
        assert run["unknown_documents_in_several_queries"] == 1
        assert run["queries_with_sharp_bounds"] == 2
    gaps = np.subtract(values["one"], values["two"])
    (order,) = part["bounds"]["orders"]
    sign = 1 if order["first"] == "one" else -1
    assert order["lower_found"] == pytest.approx(min(sign * gaps))
    assert order["upper_found"] == pytest.approx(max(sign * gaps))
    if order["verdict"] == "not determined":
        assert (
            f"the order of {order['first']} and {order['second']} is not determined by the labels that are known" in out
        )
    assert "All completions of the unknown labels (group_EEL, group)" in out
    text = Path("out/labels.md").read_text()
    assert "3 of 6 documents have no label" in text
    assert "| run | reported | least | greatest |" in text


def test_flips_and_design_and_confusion(command: Run, world: Path) -> None:
    Path("matrix.csv").write_text("true,label,value\nnorth,north,9\nnorth,south,1\nsouth,south,8\nsouth,north,2\n")
    words = ("study=[flips,design,confusion]", "confusion.path=matrix.csv", "flips.repetitions=20", "output=out")
    code, out, err = command("labels", *FILES, *words)
    assert (code, err) == (0, "")
    part = results()["attributes"]["group"]
    flips = part["flips"]
    assert flips["rates"] == [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert flips["highest_rate"] == 1.0
    for run in flips["runs"].values():
        assert run["expected"][0] == pytest.approx(run["drawn_mean"][0])
        assert run["drawn_sd"][0] == pytest.approx(0.0, abs=1e-12)
    assert part["confusion"]["matrix"] == [[0.9, 0.1], [0.2, 0.8]]
    assert part["confusion"]["runs"]["one"]["corrected"] != part["confusion"]["runs"]["one"]["reported"]
    design = part["design"]
    assert (design["documents"], design["labelled"], design["kind"]) == (6, 3, "simple")
    assert design["runs"]["one"]["standard_error"] is None
    assert "3 of 6 documents are labelled, taken as a simple random sample" in out
    first = out
    code, out, _ = command("labels", *FILES, *words)
    assert (code, out) == (0, first)


def test_independent_design(command: Run, world: Path) -> None:
    rows = ["docno,probability", *(f"{docno},0.5" for docno in "abcdef"), "elsewhere,2"]
    Path("drawn.csv").write_text("\n".join(rows) + "\n")
    words = ("study=design", "design.kind=independent", "design.path=drawn.csv", "output=out")
    code, _, err = command("labels", *FILES, *words)
    assert (code, err) == (0, "")
    found = results()
    assert found["counts"]["design"] == {"probability_rows": 7, "probability_rows_of_documents_not_measured": 1}
    exposure = found["attributes"]["group"]["design"]["runs"]["one"]["exposure"]
    # of "one" document a is first in q1 and the only northern one that was drawn
    assert exposure["north"]["value"] == pytest.approx(1.0 / 2 / 0.5)
    (order,) = found["attributes"]["group"]["design"]["orders"]
    runs = found["attributes"]["group"]["design"]["runs"]
    assert order["value"] == pytest.approx(runs[order["first"]]["value"] - runs[order["second"]]["value"])


def test_flips_along_a_matrix(command: Run, world: Path) -> None:
    Path("matrix.csv").write_text("true,label,value\nnorth,north,1\nsouth,south,1\nsouth,north,1\n")
    code, _, err = command("labels", *FILES, "study=flips", "flips.path=matrix.csv", "output=out")
    assert (code, err) == (0, "")
    # one northern and two southern labels: where all southern ones are wrong, 2/3 of the labels are
    assert results()["attributes"]["group"]["flips"]["highest_rate"] == pytest.approx(2 / 3)
    Path("matrix.csv").write_text("true,label,value\nnorth,north,1\nnorth,south,1\nsouth,south,1\n")
    code, _, err = command("labels", *FILES, "study=flips", "flips.path=matrix.csv", "output=out")
    assert code == 1
    assert "expected error rates from 0 to 0.3333" in err
    code, _, err = command("labels", *FILES, "study=flips", "flips.path=matrix.csv", "flips.rates=[0.9]", "output=out")
    assert code == 2
    assert "from 0 to 0.5" in err


def test_all_labels_unknown(command: Run, world: Path) -> None:
    Path("none.csv").write_text("docno,group\na,\nb,unknown\n")
    code, _, err = command("labels", *FILES[:2], "groups=none.csv", "output=out")
    assert code == 1
    assert "no document of a known group" in err


def test_one_group_cannot_be_wrong(command: Run, world: Path) -> None:
    Path("one.csv").write_text("docno,group\na,north\n")
    code, _, err = command("labels", *FILES[:2], "groups=one.csv", "study=flips", "output=out")
    assert (code, "two or more, among which labels can be wrong" in err) == (1, True)
    code, _, err = command("labels", *FILES[:2], "groups=one.csv", "study=bounds", "bounds.none=true", "output=out")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["study=bound"], 2, "Did you mean 'bounds'"),
        (["study=[]"], 2, "study: found an empty list"),
        (["measure=group_EL"], 2, "Did you mean 'group_EEL'"),
        (["study=confusion"], 2, "confusion.path: no value"),
        (["design.kind=independent"], 2, "design.path: no value"),
        (["design.path=x.csv"], 2, "design.kind=independent"),
        (["bounds.exact=0"], 2, "bounds.exact: found 0"),
        (["flips.rates=[0.7]"], 2, "from 0 to 0.5"),
        (["flips.repetitions=1"], 2, "flips.repetitions: found 1"),
        (["bounds.other=1"], 2, "bounds.other: no such option"),
        (["missing_query=skip"], 2, "one mean"),
        (["preset=trec2022_task1_official"], 2, "expected one of 2020"),
        (["preset=trec2020_official", "universe=judged"], 2, "has no effect with preset"),
        (["preset=trec2020_official", "preset.loss=l2", "preset.missing_query=error"], 2, "squared"),
        (["study=design", "design.kind=independent", "design.path=gone.csv"], 3, "gone.csv"),
        (["groups.path=null"], 2, "groups.path: no value"),
    ],
)
def test_what_is_refused(command: Run, world: Path, words: list[str], code: int, message: str) -> None:
    found, _, err = command("labels", *FILES, "output=out", *words)
    assert (found, message in err) == (code, True), err
    assert not Path("out/labels.json").exists()


def test_problems_of_the_files(tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("true,label,value\nA,A,1\nA,A,2\nA,C,1\nB,A,-1\nB,B,x\n")
    with pytest.raises(ValueError, match="line 2") as error:
        read_confusion(matrix, ["A", "B"])
    text = str(error.value)
    for part in ("the group 'C'", "the value '-1'", "the value 'x'", "no value above 0 of the true group 'B'"):
        assert part in text
    matrix.write_text("true,value\nA,1\n")
    with pytest.raises(ValueError, match="a column label"):
        read_confusion(matrix, ["A"])
    chances = tmp_path / "drawn.csv"
    chances.write_text("docno,probability\na,0\nb,0.5\nb,0.5\n")
    with pytest.raises(ValueError, match="a number above 0, at most 1") as error:
        read_probabilities(chances, ["a", "b", "c", "d"], np.array([True, True, True, False]))
    text = str(error.value)
    assert "document 'b' again" in text
    assert "no probability of document 'c'" in text
    assert "'d'" not in text


def test_the_config_says_what_the_dataclasses_say() -> None:
    root = yaml.safe_load((conf_folder() / "labels.yaml").read_text())
    for study, kind in OPTIONS.items():
        assert root[study] == dataclasses.asdict(kind())


@pytest.mark.shared_data
def test_a_published_run_of_2020(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = shared / "data" / "trec-fair-2020"
    words = [f"run={data / 'rerank_submissions' / 'UW_bm25.jsonl.gz'}", "preset=trec2020_official"]
    words += [f"qrels={data / 'TREC-Fair-Ranking-eval-sample.json'}", f"groups={data / 'merged-annotations.json'}"]
    assert main(["labels", *words, f"output={tmp_path / 'out'}"]) == 0
    run = results(str(tmp_path / "out"))["attributes"]["level"]["bounds"]["runs"]["UW_bm25"]
    assert run["reported"] == pytest.approx(0.87506, abs=1e-5)
    assert run["lower"] == pytest.approx(0.17299, abs=1e-4)
    assert run["upper"] == pytest.approx(2.4964, abs=1e-3)
    assert run["lower"] <= run["lower_found"] < run["upper_found"] <= run["upper"]
    assert run["gap"] < 0.001
    assert run["queries_with_sharp_bounds"] >= 199
    capsys.readouterr()
