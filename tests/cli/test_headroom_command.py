"""``headroom`` as a command: its files, its numbers by hand, its messages."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from rerankers.cli import main
from rerankers.measures.summary import write_results
from rerankers.measures.table import SCHEMA

QRELS = "q1 0 a 1\nq1 0 b 1\nq1 0 z 0\nq2 0 c 2\nq2 0 x 1\n"
RUN = "q1 Q0 a 1 3 r\nq1 Q0 c 2 2 r\nq1 Q0 b 3 1 r\nq2 Q0 a 1 2 r\nq2 Q0 c 2 1 r\n"


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "small"
    folder.mkdir()
    docs = [{"docno": name, "title": f"text {name}"} for name in "abcxz"]
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    (folder / "qrels.txt").write_text(QRELS)
    (tmp_path / "groups.csv").write_text("docno,group\na,new|er\nb,old\nc,old\n")
    (tmp_path / "first.run").write_text(RUN)
    first = ["retriever=run_file", f"retriever.run={tmp_path}/first.run"]
    return [
        "collection=jsonl",
        f"collection.path={folder}",
        *first,
        "groups=file",
        f"groups.path={tmp_path}/groups.csv",
    ]


def test_the_command(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "made"
    made.mkdir()
    mean = {"EEL": 0.9, "group_EEL": 0.8}
    run = {"mean": mean, "interval": {}, "per_query": {}}
    options = {"browsing": "gerr(patience=0.5, satisfaction=0.5)", "groups": {"unknown": "count"}}
    summary = {"preset": None, "options": options, "tier": "blind", "counts": {}, "runs": {"mine": run}}
    rows = [("mine", 0, qid, key, value, None) for qid in ("q1", "q2") for key, value in mean.items()]
    write_results(
        made, pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA), summary
    )
    out = tmp_path / "out"
    asked = ["depths=[1,2,50]", "depth_for=0.5", "depth_for_loss=0.3", f"results={made}", f"output={out}"]
    assert main(["headroom", *words, *asked]) == 0
    shown = capsys.readouterr().out
    found = json.loads((out / "headroom.json").read_text())
    assert found["depths"] == [1, 2, 3]
    assert found["queries"] == 2
    assert found["counts"]["headroom"]["relevant_documents_not_retrieved"] == 1
    assert found["counts"]["headroom"]["depths_beyond_the_lists"] == 1
    # q1: two relevant documents share 1 + 1/4; q2: grade 2 first, then x, which is not retrieved
    due = {"all": 1.25 + 1.25, "old": 0.625 + 1.0}
    by_group = {row["group"]: row for row in found["recall"]}
    assert by_group["all documents"]["recall_due"] == pytest.approx([0.625 / 2.5, 1.625 / 2.5, 2.25 / 2.5])
    assert by_group["all documents"]["due"] == pytest.approx(due["all"])
    assert by_group["old"]["recall_due"] == pytest.approx([0, 1 / 1.625, 1])
    assert by_group["old"]["depth"] == 2
    assert by_group["unknown"]["recall_due"] == [0, 0, 0]
    names = [(one["run"], one["measure"]) for one in found["runs"]]
    assert names == [(run, key) for run in ("first stage as it stands", "mine") for key in ("EEL", "group_EEL")]
    for one in found["runs"][2:]:
        assert one["loss"] == pytest.approx(mean[one["measure"]])
        assert one["first_stage"] == pytest.approx(found["loss"][one["measure"]]["best"][-1])
        assert 0 <= one["first_stage"] <= one["loss"]
    text = (out / "headroom.md").read_text()
    assert "new\\|er" in text
    assert "new|er" in shown
    (picture,) = (out / "figures").glob("*.png")
    assert f"](figures/{picture.name})" in text
    (made / "metadata.yaml").write_text("data: {test collection: {name: x, fingerprint: y}}\n")
    assert main(["headroom", *words, *asked]) == 2
    assert "made: results of another test collection" in capsys.readouterr().err
    (made / "metadata.yaml").unlink()
    again = tmp_path / "again"
    assert main(["headroom", *words, *asked[:-1], f"output={again}"]) == 0
    first, second = (json.loads((path / "headroom.json").read_text()) for path in (out, again))
    first.pop("command"), second.pop("command")
    assert first == second


def test_without_groups_and_under_positions(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*words[:4], "groups=none", "browsing=dcg", "browsing.cutoff=2", f"output={tmp_path}/out"]
    assert main(["headroom", *asked]) == 0
    found = json.loads((tmp_path / "out" / "headroom.json").read_text())
    assert list(found["loss"]) == ["EEL"]
    assert found["loss"]["EEL"]["gap"] == 0.0
    assert [row["group"] for row in found["recall"]] == ["all documents"]
    assert "@3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("depths=[0]", "depths: found [0]"),
        ("depths=[]", "depths: found []"),
        ("depths=[1.5]", "depths: found 1.5"),
        ("depth_for=0", "depth_for: found 0.0"),
        ("depth_for=x", "depth_for: found 'x'"),
        ("depth_for_loss=-1", "depth_for_loss: found -1.0"),
        ("confidence=1", "confidence: found 1.0"),
        ("resamples=0", "resamples: found 0"),
        ("depht_for=0.5", "Did you mean depth_for?"),
    ],
)
def test_wrong_options(
    words: list[str], word: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["headroom", *words, word, f"output={tmp_path}/out"]) == 2
    assert text in capsys.readouterr().err


def test_missing_results_and_help(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["headroom", *words, f"results={tmp_path}/nowhere", f"output={tmp_path}/out"]) == 3
    assert main(["headroom", "--help"]) == 0
    assert "depth_for: 0.95" in capsys.readouterr().out


def test_what_experiments_say_of_ranking_has_no_effect(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["headroom", *words, "method=uniform", f"output={tmp_path}/out"]) == 0
    assert "note: without effect here, since about ranking: method" in capsys.readouterr().out
