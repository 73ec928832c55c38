"""A result is what is in its folder, by name; a folder that was left earlier gives the same."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import rerankers as fr
from rerankers.api.result_html import result_html


@pytest.fixture
def stored(by_command: Path) -> fr.Result:
    return fr.Result.read(by_command)


def test_a_stored_result_is_the_result(stored: fr.Result, by_python: fr.Result) -> None:
    assert stored.means == by_python.means
    assert stored.intervals == by_python.intervals
    assert stored.summary.equals(by_python.summary)
    assert stored.command == by_python.command == "run"
    assert stored.repeated.startswith("fair-rerank run collection=jsonl")
    assert stored.warnings is None
    assert by_python.warnings
    assert all(f"warning: {one}" in by_python.text for one in by_python.warnings)


def test_numbers_are_those_of_the_files(stored: fr.Result, by_command: Path) -> None:
    written = json.loads((by_command / "measures.json").read_text())
    run = written["runs"]["kl_tilt"]
    assert stored.systems == ["kl_tilt"]
    assert "anchor:random" in stored.anchors
    assert stored["EEL"] == stored.mean("EEL") == run["mean"]["EEL"]
    assert stored.interval("EEL") == tuple(run["interval"]["EEL"])
    assert stored.mean("EEL", "anchor:random") == written["runs"]["anchor:random"]["mean"]["EEL"]
    assert (stored.tier, stored.options, stored.counts) == (written["tier"], written["options"], written["counts"])
    rows = {row["qid"]: row for row in stored.per_query.to_pylist()}
    assert set(rows) == {"q0", "q1", "q2"}
    assert {qid: row["EEL"] for qid, row in rows.items()} == {
        qid: values["EEL"] for qid, values in run["per_query"].items()
    }
    summary = {(row["system"], row["measure"]): row for row in stored.summary.to_pylist()}
    assert summary["kl_tilt", "EEL"]["low"] == run["interval"]["EEL"][0]
    assert len(summary) == sum(len(one["mean"]) for one in written["runs"].values())


def test_rankings_policy_and_report(stored: fr.Result) -> None:
    assert stored.rankings.column_names == ["qid", "sample", "rank", "docno", "score"]
    assert len(stored.rankings) == 3 * 4 * 12
    drawn = stored.policy.rankings()
    qids = [stored.policy.qids[code] for code in drawn.over.query[drawn.row_of_ranking][drawn.ranking_of_item]]
    docnos = stored.policy.docs.take(drawn.over.doc[drawn.flat])
    assert qids == stored.rankings["qid"].to_pylist()
    assert docnos == stored.rankings["docno"].to_pylist()
    assert stored.report.read_text().startswith("<!")
    assert stored.metadata["research goal"]
    assert stored.config["method"]["_target_"] == "rerankers.methods.kl_tilt.KlTilt"
    assert isinstance(stored.content("measures.csv"), pa.Table)
    assert stored.content("measures.json")["tier"] == stored.tier
    assert "measures.csv" in stored.files


def test_what_is_not_there(stored: fr.Result, tmp_path: Path) -> None:
    with pytest.raises(fr.ConfigError, match=r"measure: found 'EELL'.*Did you mean 'EEL'"):
        stored["EELL"]
    with pytest.raises(fr.ConfigError, match="system: found 'nobody'"):
        stored.mean("EEL", "nobody")
    with pytest.raises(fr.MissingError, match=r"nothing\.csv: no such file; the job left .*measures\.json"):
        stored.content("nothing.csv")
    with pytest.raises(fr.MissingError, match="no such file"):
        fr.Result.read(tmp_path)


def test_in_a_notebook(stored: fr.Result) -> None:
    page = stored._repr_html_()
    assert page.count("<tr") == 1 + len(stored.means)
    assert f"{stored['EEL']:.4f}" in page
    assert repr(stored).startswith("Result(command='run'")
    nasty = result_html({"<b>": {"<i>": None}}, {}, ["<b>"], ["<script>"], "<u>")
    assert "<b>" not in nasty
    assert "<script>" not in nasty
    assert "&lt;script&gt;" in nasty
    assert "–" in nasty
