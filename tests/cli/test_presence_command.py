"""``presence`` as a command: its files, its numbers, its messages; and labels in ``run`` and ``evaluate``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rerankers.cli import main
from rerankers.collections.grep_biasir import GrepBiasIR
from rerankers.labels.base import NEUTRAL
from rerankers.labels.groups import LabellerGroups
from rerankers.measures.table import SCHEMA
from rerankers.stages.presence_account import Values, choice_of_labels, rows_of
from rerankers.stages.presence_labels import crossed, labellings, neutrality_of
from rerankers.values import GroupAlignment

TEXTS = {
    "a": "The man and his brother",
    "b": "The woman and her sister",
    "c": "A person and a table",
    "d": "The king met the queen and a boy",
    "e": "Tables",
}
GIVEN = {"a": "male", "b": "female", "c": "neutral", "d": "neutral", "e": ""}
FAST = ["temperatures=[0.5]", "strengths=[0.0,1.0]", "floors=[0.9]", "mixes=[0,0.5,1]", "believed_mixes=[0,0.5,1]"]
FAST += ["samples=20", "resamples=50"]


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "small"
    folder.mkdir()
    docs = [{"docno": name, "title": "", "text": text} for name, text in TEXTS.items()]
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 c 1\nq2 0 c 1\nq2 0 d 0\n")
    rows = "".join(f"{name},{label}\n" for name, label in GIVEN.items())
    (folder / "gender_groups.csv").write_text("docno,group\n" + rows)
    lines = [f"{q} Q0 {d} {rank} {9 - rank} r" for q in ("q1", "q2") for rank, d in enumerate("abdce", 1)]
    (tmp_path / "first.run").write_text("\n".join(lines) + "\n")
    retriever = ["retriever=run_file", f"retriever.run={tmp_path}/first.run"]
    return ["collection=jsonl", f"collection.path={folder}", *retriever]


def found_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "presence.json").read_text())
    return found


def test_the_command(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["presence", *words, *FAST, "cutoff=3", f"output={out}"]) == 0
    shown = capsys.readouterr().out
    assert "Labels: lexical_majority. Target of kl_tilt: neutral 0.8, male 0.1, female 0.1." in shown
    assert "Documents by label: neutral 2, male 2, female 1" in shown
    assert "the choice of labels" in shown
    found = found_of(out)
    assert found["attributes"] == {"labelled": "gender", "given": "gender_given"}
    assert found["labels"]["given_by_labelled"]["neutral"] == {
        **dict.fromkeys(["female", "unknown", "none"], 0),
        "neutral": 1,
        "male": 1,
    }
    rows = {row["system"]: row for row in found["systems"]}
    keys = found["keys"]["gender"]
    first = rows["anchor:deterministic"]["mean"]
    # male, female, male before a neutral text: weights 1, .63, .5
    total = 1 + 1 / np.log2(3) + 0.5
    gap = (1.5 - 1 / np.log2(3)) / total
    assert first[keys["CWEx"]]["mean"] == pytest.approx(-0.5 * gap)
    assert first[keys["CWEx_gap"]]["mean"] == pytest.approx(gap)
    given = found["keys"]["gender_given"]
    assert first[given["CWEx_neutral"]]["mean"] == pytest.approx(0.5 / total)
    best = rows["attainable, balanced mix=1"]["mean"]
    assert best[keys["CWEx"]]["mean"] > rows["kl_tilt strength=1"]["mean"][keys["CWEx"]]["mean"]
    assert rows["kl_tilt strength=1"]["mean"][keys["CWEx_gap"]]["mean"] == pytest.approx(0.0, abs=1e-6)
    assert rows["attainable, neutral mix=0"]["mean"]["nDCG@3"]["mean"] == pytest.approx(1.0)
    # by beliefs alone the order of the first stage keeps all utility; with all weight on it, the neutral text leads
    first_stage = rows["anchor:deterministic"]["mean"]
    assert rows["optimum, neutral mix=0"]["mean"]["nDCG@3"]["mean"] == pytest.approx(first_stage["nDCG@3"]["mean"])
    assert rows["optimum, neutral mix=1"]["mean"][keys["NFaiRR"]]["mean"] == pytest.approx(1.0)
    assert rows["optimum, balanced mix=1"]["mean"][keys["CWEx"]]["mean"] == pytest.approx(best[keys["CWEx"]]["mean"])
    assert {one["measure"] for one in found["choice"]} >= {"NFaiRR", "CWEx", "CWEx_gap"}
    with (out / "presence.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert {(row["system"], row["labels"], row["measure"]) for row in table} >= {
        ("anchor:random", "gender_given", "NFaiRR"),
        ("kl_tilt strength=1", "", "nDCG"),
    }
    for name in ("presence.md", "report.html", "figures/presence.png", "figures/presence.csv", "metadata.yaml"):
        assert (out / name).stat().st_size > 0
    page = (out / "report.html").read_text()
    assert "NFaiRR, by the labeller&#39;s labels" in page or "NFaiRR, by the labeller's labels" in page
    measured = pq.read_table(out / "measures.parquet")
    assert set(measured["unit"].unique().to_pylist()) == {"q1", "q2"}


def test_blocks_change_nothing(words: list[str], tmp_path: Path) -> None:
    short = [
        "temperatures=[0.5]",
        "strengths=[1.0]",
        "floors=[]",
        "mixes=[0.5]",
        "believed_mixes=[0.5]",
        "samples=5",
        "resamples=20",
    ]
    for name, more in (("one", []), ("two", ["execution.block=1"])):
        assert main(["presence", *words, *short, *more, f"output={tmp_path / name}"]) == 0
    one, two = ((tmp_path / name / "measures.csv").read_bytes() for name in ("one", "two"))
    assert one == two


def test_labels_of_a_file_and_nothing_to_compare(words: list[str], tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps({"id": d, "label": g or None}) + "\n" for d, g in GIVEN.items()))
    more = ["groups=labels", f"groups.path={labels}", "given=null", "measures=[AWRF@3]"]
    assert main(["presence", *words, *FAST, *more, f"output={tmp_path / 'out'}"]) == 0
    found = found_of(tmp_path / "out")
    assert found["attributes"]["given"] is None
    assert found["choice"] == []
    assert found["keys"][""] == {"nDCG": "nDCG@10", "Judged": "Judged@10", "AWRF@3": "AWRF@3"}
    # a label file without scores says by its labels alone how neutral a text is
    first = next(row for row in found["systems"] if row["system"] == "anchor:deterministic")
    weight = 1 / np.log2(np.arange(2, 7))
    assert first["mean"][found["keys"]["gender"]["NFaiRR"]]["mean"] == pytest.approx(sum(weight[2:4]) / sum(weight[:2]))


@pytest.mark.parametrize(
    ("words_", "code", "message"),
    [
        (["strengths=[2]"], 2, "strengths: found 2.0; expected numbers from 0 to 1"),
        (["temperatures=[0]"], 2, "temperatures: found 0.0; expected positive"),
        (["cutoff=0"], 2, "cutoff: found 0; expected a whole number, 1 or more"),
        (["alpha=2"], 2, "alpha: found 2.0"),
        (["alpha=x"], 2, "alpha: found 'x'; expected a number"),
        (["confidence=1"], 2, "confidence: found 1.0"),
        (["measures=[NDCQ@3]"], 2, "measure: found 'NDCQ'"),
        (["groups=none"], 2, "groups: found 0 attributes; expected one"),
        (["groups.labeller=lexcal"], 2, "groups.labeller: found 'lexcal'"),
    ],
)
def test_messages(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], words_: list[str], code: int, message: str
) -> None:
    assert main(["presence", *words, *words_, f"output={tmp_path / 'out'}"]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out" / "presence.json").exists()


def test_labels_in_run_and_evaluate(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, labels = tmp_path / "run", tmp_path / "labels.jsonl"
    names = "measures.names=[CWEx@3,NFaiRR@3,nDCG@3]"
    tilt = ["method=kl_tilt", "target=uniform", "groups=labeller", "samples=5", names, f"output={out}"]
    assert main(["run", *words, *tilt]) == 0
    made = json.loads((out / "measures.json").read_text())
    assert made["runs"]["kl_tilt"]["mean"]["CWEx@3"] is not None
    texts = tmp_path / "small/docs.jsonl"
    assert main(["label", "labeller=lexical_majority", f"input={texts}", f"output={labels}"]) == 0
    judged = tmp_path / "judged"
    files = [f"run={tmp_path}/first.run", f"qrels={tmp_path}/small/qrels.txt", f"groups={labels}"]
    assert main(["evaluate", *files, names, f"output={judged}"]) == 0
    found = json.loads((judged / "measures.json").read_text())["runs"]
    for key in ("CWEx@3", "NFaiRR@3"):
        assert found["first"]["mean"][key] == pytest.approx(made["runs"]["anchor:deterministic"]["mean"][key])
    capsys.readouterr()
    assert main(["evaluate", *files, "groups.mixed=full", f"output={judged}"]) == 2
    assert "groups.mixed: found 'full', which has no effect" in capsys.readouterr().err
    assert main(["evaluate", *files, "groups.attribute=[a,b]", f"output={judged}"]) == 2
    assert "expected one name for a label file" in capsys.readouterr().err


def test_differences_and_labels_by_hand() -> None:
    rows = [
        (system, 0, unit, key, value, None)
        for system, own in {"anchor:deterministic": (0.1, 0.2), "x": (0.3, 0.4), "y": (0.2, 0.3)}.items()
        for unit in ("q1", "q2", "q3", "q4", "q5")
        for key, value in zip(("k", "l"), own, strict=True)
    ]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)
    values = Values.of(table)
    found = rows_of(values, (), seed=0, resamples=20, level=0.9)
    assert [row["anchor"] for row in found] == [True, True, True]
    assert found[1]["difference"]["k"]["mean"] == pytest.approx(0.2)
    for row in found[1:]:
        row["anchor"] = False
    (one,) = choice_of_labels(found, [("M", "k", "l")])
    assert one["systems"] == 2
    assert one["shift"] == pytest.approx(-0.1)
    assert one["tau"] == pytest.approx(1.0)
    assert (one["conclusions"], one["kept"]) == (2, 2)
    assert choice_of_labels(found[:1], [("M", "k", "l")])[0]["tau"] is None


def test_neutrality_by_labels() -> None:
    names = (NEUTRAL, "male")
    doc, group = np.array([0, 1]), np.array([0, 1])
    aligned = GroupAlignment.of_entries("gender", names, doc, group, np.ones(2), 3).resolve("count")
    found = neutrality_of(aligned)
    assert found.unknown.tolist() == [0, 0, 1]
    assert found.indptr.tolist() == [0, 1, 1, 1]


@pytest.mark.shared_data
def test_labels_of_grep_biasir(shared: Path) -> None:
    known = GrepBiasIR(str(shared / "data/grep-biasir")).load()
    found = labellings(LabellerGroups(), known, "gender")
    both = crossed(found.groups, "gender", "gender_given")
    assert sum(sum(row.values()) for row in both.values()) == 702
    assert sum(both[label][label] for label in ("neutral", "male", "female")) == 615  # .876 of all
    assert sum(both["unknown"].values()) == 5
    assert sorted(found.companions) == [
        "gender:neutrality",
        "gender:shares",
        "gender:words",
        "gender_given:neutrality",
    ]
    assert found.companions["gender:words"].groups == ("female", "male")
    assert not found.companions["gender:words"].unknown.any()
    assert int(found.companions["gender_given:neutrality"].unknown.sum()) == 5


def test_queries_without_a_value_are_told(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("doc_id,label\na,M\nb,F\nc,N\n")
    run = tmp_path / "first.run"
    run.write_text("q1 Q0 a 1 9 r\nq1 Q0 b 2 8 r\nq2 Q0 c 1 9 r\nq2 Q0 d 2 8 r\n")
    out = tmp_path / "told"
    chosen = ["groups=labels", f"groups.path={labels}", "given=null", f"output={out}"]
    assert main(["presence", *words, *FAST, *chosen]) == 0
    note = "NFaiRR(group='gender',missing='drop')@10 of the first stage: no value for 1 of 2 queries"
    assert f"{note} (no_neutral_background 1), which its means leave out" in capsys.readouterr().out
    assert any(note in one for one in found_of(out)["notes"])


def test_three_groups_of_words_are_counted_without_python_warnings(
    words: list[str], tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    lexicon, out = tmp_path / "three.csv", tmp_path / "three"
    lexicon.write_text("word,group\nman,male\nbrother,male\nwoman,female\nsister,female\ntable,other\ntables,other\n")
    chosen = [f"groups.labeller={{name:lexical_majority,lexicon:{lexicon}}}", "given=null", f"output={out}"]
    assert main(["presence", *words, *FAST, *chosen]) == 0
    assert found_of(out)["counts"]["groups"]["neutralities_below_0"] == 2
    assert not [one for one in recwarn if "neutralit" in str(one.message)]


def test_no_groups_is_not_told_as_no_judgment(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["groups=none", "method=plackett_luce", "measures.names=[CWEx@3,NFaiRR@3]", f"output={tmp_path / 'none'}"]
    assert main(["run", *words, *chosen]) == 0
    shown = capsys.readouterr()
    assert "no measure has a value for any query: no_groups, no_labels" in shown.out + shown.err
    assert "has a judgment" not in shown.out + shown.err


def test_without_words_of_groups_the_warning_comes_first(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lexicon, out = tmp_path / "none.csv", tmp_path / "none"
    lexicon.write_text("word,group\nxyzzy,male\nplugh,female\n")
    chosen = [f"groups.labeller={{name:lexical_majority,lexicon:{lexicon}}}", "given=null", f"output={out}"]
    assert main(["presence", *words, *FAST, *chosen]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("warning: no text is labelled as of any group")
    assert "NFaiRR" not in shown
    assert "NFaiRR" not in (out / "presence.md").read_text().split("\n- ")[0]
    page = (out / "report.html").read_text()
    assert "13 policies of" not in page.split("<header>")[0]
    assert "kl_tilt (2); pareto_optimal (1)" in page.split("<header>")[1]
    assert not (out / "figures/presence.png").exists()
