"""``run`` with a ledger in a file: killed and taken up again, shared, and not taken for another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rerankers._base.errors import InputError, MissingError
from rerankers.ledger import open_ledger
from tests.cli.conftest import Run
from tests.cli.sequence_jobs import ORDER, words, written


@pytest.fixture(autouse=True)
def quick_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the report out, which takes most of the time."""
    monkeypatch.setattr("rerankers.stages.results.write_report", lambda folder, data: None)


def test_a_ledger_is_not_taken_for_another_one(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """A sequence, candidates or authors that changed under the same names: refused, and the file is as it was."""
    path = tmp_path / "l.sqlite"
    options = ("method=fair_co", "method.scope=corpus", "method.entities=authors", "groups=none")
    ledger = ("ledger=sqlite", f"ledger.path={path}", f"output={tmp_path / 'out'}")

    def run(*qids: str) -> tuple[int, str, str]:
        sequence = written(tmp_path / "s.csv", *qids)
        return command(*words(tiny, tiny_run, *options, f"sequence={sequence}", *ledger))

    assert run("q1", "q2")[0] == 0
    kept, first, docs = path.read_bytes(), tiny_run.read_bytes(), tiny / "docs.jsonl"
    code, _, err = run("q1", "q3", "q2")
    assert (code, "impression 1 of 0 was of query 'q2' and is now of 'q3'" in err) == (1, True), err
    tiny_run.write_bytes(first.replace(b"q1 Q0 c5", b"q1 Q0 d6"))
    code, _, err = run("q3", "q2", "q1")
    assert (code, "other candidates than the ledger was kept with, of 1 queries (q1)" in err) == (1, True), err
    tiny_run.write_bytes(first)
    listed = docs.read_bytes()
    docs.write_bytes(listed.replace(b'["u1", "u2"]', b'["u1", "u3"]'))
    code, _, err = run("q1", "q2")
    assert (code, "other authors of the candidates than the ledger was kept with" in err) == (1, True), err
    docs.write_bytes(listed)
    assert path.read_bytes() == kept
    assert run("q1", "q2", "q3")[0] == 0


def process(arguments: list[str], cache: Path) -> subprocess.Popen[str]:
    """Start the command in a process of its own, without the report."""
    code = (
        "import sys\nfrom rerankers.cli import main\nimport rerankers.stages.results as results\n"
        "results.write_report = lambda folder, data: None\nsys.exit(main(sys.argv[1:]))"
    )
    environment = {**os.environ, "FAIR_RERANK_CACHE": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )


def served(path: Path) -> int:
    """Return how many impressions a ledger has, 0 before there is one."""
    try:
        return int(open_ledger(path).impressions.sum())
    except (MissingError, InputError):  # not made yet, or half made
        return 0


@pytest.mark.slow
def test_killed_and_taken_up_again(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """kill -9 in the middle of a sequence and the same command again: the same bits as without a ledger file."""
    sequence = written(tmp_path / "s.csv", *(ORDER * 2000), sequences=2)
    options = ("method=fair_co", "method.scope=corpus", f"sequence={sequence}", "method.entities=authors")
    path, whole = tmp_path / "l.sqlite", tmp_path / "whole"
    assert command(*words(tiny, tiny_run, *options, f"output={whole}"))[0] == 0
    again = words(
        *(tiny, tiny_run, *options, "ledger=sqlite", f"ledger.path={path}", "ledger.chunk=20"),
        f"output={tmp_path / 'o'}",
    )
    kept = []
    for least in (1, 4000):
        job = process(again, tmp_path / "cache")
        while served(path) < least and job.poll() is None:
            time.sleep(0.01)
        os.kill(job.pid, signal.SIGKILL)
        assert job.wait() == -signal.SIGKILL, "it was in the middle"
        assert job.stderr is not None
        job.stderr.close()
        kept.append(served(path))
    assert 0 < kept[0] < kept[1] < len(ORDER) * 2000
    assert not (tmp_path / "o" / "run.parquet").exists()
    code, out, err = command(*again)
    assert code == 0, err
    assert f"{kept[1]:,} of 18,000 impressions were in the ledger already" in out
    for name in ("run.parquet", "run.trec.gz", "policy.parquet"):
        assert (tmp_path / "o" / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.slow
def test_two_processes_on_one_ledger(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """They take turns, each ends with all rankings, and these are the bits of one alone."""
    sequence = written(tmp_path / "s.csv", *(ORDER * 700), sequences=2)
    options = ("method=fair_co", "method.scope=sequence", f"sequence={sequence}", "groups=none")
    assert command(*words(tiny, tiny_run, *options, f"output={tmp_path / 'alone'}"))[0] == 0
    ledger = ("ledger=sqlite", f"ledger.path={tmp_path / 'l.sqlite'}", "ledger.chunk=20")
    jobs = [
        process(words(tiny, tiny_run, *options, *ledger, f"output={tmp_path / name}"), tmp_path / "cache")
        for name in ("one", "two")
    ]
    for job in jobs:
        _, err = job.communicate(timeout=300)
        assert job.returncode == 0, err
    expected = (tmp_path / "alone" / "run.parquet").read_bytes()
    assert [(tmp_path / name / "run.parquet").read_bytes() for name in ("one", "two")] == [expected] * 2
    assert int(open_ledger(tmp_path / "l.sqlite").impressions.sum()) == len(ORDER) * 700
