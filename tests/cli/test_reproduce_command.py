"""``reproduce``: tables for people and programs, an exit code, and what the data at hand gives."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rerankers.tracks import reproduce as module
from rerankers.tracks.reproduce import ABSENT, COLUMNS, MISSED, NOT_YET, REPRODUCED, SECTIONS
from tests.cli.conftest import Run


def test_without_data_everything_else_is_absent(command: Run, tmp_path: Path) -> None:
    (tmp_path / "no, data").mkdir()
    code, out, err = command("reproduce", f"data={tmp_path}/no, data", f"output={tmp_path}/out")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader((tmp_path / "out" / "reproduce.csv").read_text().splitlines()))
    assert len(rows) == 184
    done = [line for line in rows if line["verdict"] == REPRODUCED]
    assert len(done) == 38  # the tables' own identities, the job seekers, worked examples
    assert f"{len(done)} reproduced, 0 missed" in out
    lost = [line for line in rows if line["verdict"] == ABSENT]
    assert any("trec-fair-2020/TREC-Fair-Ranking-eval-sample.json" in line["reason"] for line in lost)
    assert all(line["reason"] for line in rows if line["verdict"] in (ABSENT, NOT_YET))
    assert all(line["ours"] == "" for line in rows if line["verdict"] in (ABSENT, NOT_YET))
    shown = (tmp_path / "out" / "reproduce.md").read_text()
    assert shown.count("\n| reproduced |") == 38
    assert "| absent | evidence | UW_bm25: placebo" in shown


def test_a_miss_is_exit_code_1_and_the_files_are_written(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "published.csv"
    kept = [",".join(COLUMNS), "elsewhere,Singh and Joachims,dcg,job seekers,3.9,3.9,0.01,published,s,"]
    table.write_text("\n".join(kept) + "\n")
    monkeypatch.setattr(module, "PUBLISHED", table)
    code, out, err = command("reproduce", f"data={tmp_path}", f"output={tmp_path}/out")
    assert code == 1
    assert "missed      job seekers" in out
    assert "3.8192643" in out
    assert "found 1 numbers outside their tolerance" in err
    (line,) = csv.DictReader((tmp_path / "out" / "reproduce.csv").read_text().splitlines())
    assert (line["verdict"], line["published"]) == (MISSED, "3.9")
    assert float(line["ours"]) == pytest.approx(3.8192643340890475, rel=1e-12)
    assert float(line["distance"]) == pytest.approx(3.8192643340890475 - 3.9, rel=1e-9)


@pytest.mark.parametrize(("section", "number"), [("evidence", 38), ("2019", 6), ("null", 184), ("all", 184)])
def test_a_section(command: Run, tmp_path: Path, section: str, number: int) -> None:
    code, _, err = command("reproduce", f"data={tmp_path}", f"output={tmp_path}/out", f"section={section}")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader((tmp_path / "out" / "reproduce.csv").read_text().splitlines()))
    assert len(rows) == number
    assert {line["section"] for line in rows} == ({section} if number < 184 else set(SECTIONS))


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ((), "data: no value", 2),
        (("data=nowhere",), "nowhere: no such folder", 3),
        (("data=.", "output=f"), "output: found the file f", 2),
        (("data=.", "seed=x"), "seed: found 'x'", 2),
        (("data=.", "sede=1"), "Did you mean seed?", 2),
        (("data=.", "section=evidense"), "Did you mean 'evidence'?", 2),
        (("data=null",), "data, output, seed: found null", 2),
    ],
)
def test_wrong_words(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("")
    found, _, err = command("reproduce", *words)
    assert message in err
    assert found == code


@pytest.mark.shared_data
@pytest.mark.java
@pytest.mark.slow
def test_everything_that_local_data_allows(shared: Path, tmp_path: Path) -> None:
    words = ["reproduce", f"data={shared / 'data'}", f"output={tmp_path / 'out'}", "seed=1"]
    environment = {**os.environ, "FAIR_RERANK_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "rerankers", *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = list(csv.DictReader((tmp_path / "out" / "reproduce.csv").read_text().splitlines()))
    verdicts = {verdict: sum(line["verdict"] == verdict for line in rows) for verdict in (REPRODUCED, ABSENT, NOT_YET)}
    assert verdicts == {REPRODUCED: 162, ABSENT: 22, NOT_YET: 0}
