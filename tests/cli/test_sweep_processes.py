"""Sweeps that are killed, and sweeps beside each other."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
QUICK = ("samples=3", "measures.names=[nDCG@10,EEL]", "measures.resamples=20", "measures.permutations=0")


def begin(cache: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rerankers", "run", "--multirun", f"paths.cache={cache}", *QUICK, *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env=environment, start_new_session=True, **pipes)  # type: ignore[call-overload,no-any-return]


def wait_for(path: Path) -> None:
    end = time.monotonic() + 240
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.05)


@pytest.fixture
def own(tiny: Path, tiny_run: Path) -> tuple[str, ...]:
    """Return the words of a collection that needs no Java."""
    return ("collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}")


def states(folder: Path) -> list[str]:
    return [row["state"] for row in csv.DictReader((folder / "sweep.csv").read_text().splitlines())]


@pytest.mark.parametrize("launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")])
def test_a_killed_sweep_goes_on_where_it_was(own: tuple[str, ...], tmp_path: Path, launcher: tuple[str, ...]) -> None:
    words = (*own, *launcher, "seed=range(4)", f"output={tmp_path / 'sweep'}")
    first = begin(tmp_path / "cache", *words)
    wait_for(tmp_path / "sweep" / "0" / "inputs.json")
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    before = (tmp_path / "sweep" / "0" / "metadata.yaml").read_bytes()
    second = begin(tmp_path / "cache", *words)
    out, err = second.communicate()
    assert second.returncode == 0, err
    assert "0 seed=0: was there already" in out
    assert states(tmp_path / "sweep")[0] == "was there"
    assert set(states(tmp_path / "sweep")[1:]) <= {"done", "was there"}
    assert (tmp_path / "sweep" / "0" / "metadata.yaml").read_bytes() == before
    left = sorted(path.name for path in (tmp_path / "sweep").iterdir())
    assert left == ["0", "1", "2", "3", "sweep.csv"]


@pytest.mark.parametrize("launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")])
def test_ctrl_c_ends_a_sweep_and_its_workers(own: tuple[str, ...], tmp_path: Path, launcher: tuple[str, ...]) -> None:
    process = begin(tmp_path / "cache", *own, *launcher, "seed=range(6)", f"output={tmp_path / 'sweep'}")
    wait_for(tmp_path / "sweep" / "0" / "inputs.json")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "of 6 points have not run; the same command runs them" in err
    assert "fair-rerank run: interrupted" in err
    assert "Traceback" not in err
    assert "not run" in states(tmp_path / "sweep")


@pytest.mark.java
def test_two_sweeps_on_one_cache_at_once(tmp_path: Path) -> None:
    small = ("collection.documents=300", "collection.topics=5")
    both = [
        begin(tmp_path / "cache", *small, "method=uniform,plackett_luce", f"output={tmp_path / name}") for name in "ab"
    ]
    for process in both:
        _, err = process.communicate()
        assert process.returncode == 0, err
    for number in "01":
        one, other = ((tmp_path / name / number / "run.parquet").read_bytes() for name in "ab")
        assert one == other


def test_two_sweeps_in_one_folder(own: tuple[str, ...], tmp_path: Path) -> None:
    words = (*own, "seed=range(3)", f"output={tmp_path / 'sweep'}")
    first = begin(tmp_path / "cache", *words)
    wait_for(tmp_path / "sweep" / ".fair-rerank-sweep.lock")
    second = begin(tmp_path / "cache", *words)
    _, refused = second.communicate()
    _, err = first.communicate()
    assert first.returncode == 0, err
    assert states(tmp_path / "sweep") == ["done"] * 3
    if second.returncode:  # else the first was through before it came
        assert second.returncode == 2
        assert "another sweep is running there" in refused
