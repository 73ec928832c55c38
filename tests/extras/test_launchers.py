"""Sweeps under each launcher and sweeper, every extra alone: the same bits as one after the other."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow
SAME = ("measures.parquet", "run.parquet", "policy.parquet", "measures.json", "config.yaml")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Return the words of a quick run without Java over four documents."""
    docs = [
        ("a", "fair exposure", "u1"),
        ("b", "rankings", "u2"),
        ("c", "exposure of groups", "u3"),
        ("d", "pasta", "u1"),
    ]
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = [json.dumps({"docno": docno, "title": title, "author_ids": [author]}) for docno, title, author in docs]
    (folder / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "queries.tsv").write_text("q1\tfair exposure\nq2\trankings\n")
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 c 1\nq2 0 b 1\n")
    (folder / "seniority_groups.csv").write_text("author_id,group\nu1,senior\nu2,junior\nu3,junior\n")
    run = [f"{q} Q0 {d} {r} {9 - r} x" for q, ds in (("q1", "cad"), ("q2", "bca")) for r, d in enumerate(ds, 1)]
    (tmp_path / "first.run").write_text("\n".join(run) + "\n")
    options = ["measures.names=[nDCG@10,EEL]", "measures.resamples=20", "measures.permutations=0"]
    place = [
        f"collection.path={folder}",
        f"retriever.run={tmp_path / 'first.run'}",
        f"paths.cache={tmp_path / 'cache'}",
    ]
    return ["run", "--multirun", "collection=jsonl", "retriever=run_file", *place, *options]


def start(python: Path | str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_AUTH_MODE": "disabled"}
    command = [str(python), "-m", "rerankers", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)


@pytest.mark.parametrize(
    ("extra", "launcher"),
    [
        ("joblib", ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]),
        ("slurm", ["hydra/launcher=submitit_local"]),
        ("ray", ["hydra/launcher=ray", "+hydra.launcher.ray.init.num_cpus=2"]),
    ],
)
def test_a_launcher_gives_the_same_bits(
    python_with: Callable[[str], Path], words: list[str], tmp_path: Path, extra: str, launcher: list[str]
) -> None:
    python = Path(sys.executable) if extra == "joblib" else python_with(extra)
    points = ["method=uniform,plackett_luce", "samples=0,3"]
    serial = start(python, *words, *points, f"output={tmp_path / 'sweep'}")
    (tmp_path / "sweep").rename(tmp_path / "serial")
    other = start(python, *words, *points, f"output={tmp_path / 'sweep'}", *launcher)
    assert (serial.returncode, other.returncode) == (2, 2), serial.stderr + other.stderr
    for said in (serial.stderr, other.stderr):
        assert "0 method=uniform samples=0: samples: found 0" in said
        assert "2 method=plackett_luce samples=0: samples: found 0" in said
        assert "Traceback" not in said
    for number in (1, 3):
        for name in SAME:
            mine = (tmp_path / "sweep" / str(number) / name).read_bytes()
            assert mine == (tmp_path / "serial" / str(number) / name).read_bytes(), (number, name)
    states = [row["state"] for row in csv.DictReader((tmp_path / "sweep" / "sweep.csv").read_text().splitlines())]
    assert states == ["failed", "done", "failed", "done"]
    again = start(python, *words, *points, f"output={tmp_path / 'sweep'}", *launcher)
    assert again.stdout.count("was there already") == 2, again.stdout + again.stderr


def test_optuna_with_one_objective_and_with_two(
    python_with: Callable[[str], Path], words: list[str], tmp_path: Path
) -> None:
    python = python_with("sweep")
    study = ["hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", "method=plackett_luce"]
    study += ["method.temperature=interval(0.2,2)"]
    one = start(python, *words, *study, "optimise=nDCG@10", f"output={tmp_path / 'one'}")
    assert one.returncode == 0, one.stderr
    assert "hydra.sweeper.direction=maximize" in one.stdout
    best = yaml.safe_load((tmp_path / "one" / "optimization_results.yaml").read_text())["best_value"]
    rows = list(csv.DictReader((tmp_path / "one" / "sweep.csv").read_text().splitlines()))
    assert best == max(float(row["nDCG@10"]) for row in rows)
    again = start(python, *words, *study, "optimise=nDCG@10", f"output={tmp_path / 'one'}")
    assert again.stdout.count("was there already") == 3, again.stdout
    two = start(python, *words, *study, "optimise=[nDCG@10,EEL]", f"output={tmp_path / 'two'}")
    assert two.returncode == 0, two.stderr
    assert "hydra.sweeper.direction=[maximize,minimize]" in two.stdout
    assert yaml.safe_load((tmp_path / "two" / "optimization_results.yaml").read_text())["solutions"]
    nothing = start(python, *words, *study, f"output={tmp_path / 'none'}")
    assert nothing.returncode == 2
    assert "optimise: found null" in nothing.stderr
    neither = start(python, *words, *study, "optimise=EED", f"output={tmp_path / 'none'}")
    assert "neither more nor less is better" in neither.stderr
    failing = start(python, *words, *study, "optimise=AP", f"output={tmp_path / 'failing'}")
    assert failing.returncode == 2
    assert "optimise: AP was not measured" in failing.stderr


def test_the_next_hydra(tmp_path: Path, words: list[str]) -> None:
    """Compose, sweep and explain under hydra-core 1.4, where it can be had."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (own,) = (tmp_path / "venv" / "lib").glob("*/site-packages")
    beside = [path for path in sys.path if path.endswith("site-packages")]
    (own / "beside.pth").write_text("\n".join([*beside, str(Path(__file__).resolve().parents[2])]) + "\n")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "hydra-core==1.4.0rc3"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"hydra-core 1.4.0rc3 cannot be installed: {done.stderr.strip()[-300:]}")
    (tmp_path / "mine" / "method").mkdir(parents=True)
    text = "_target_: rerankers.methods.plackett_luce.PlackettLuce\ntemperature: 0.5\n"
    (tmp_path / "mine" / "method" / "sharp.yaml").write_text(text)
    assert "Sweep:" in start(python, "run", "--help").stdout
    folder = ["--config-dir", str(tmp_path / "mine")]
    found = start(python, *words, *folder, "method=sharp,uniform", f"output={tmp_path / 'sweep'}")
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    assert len(list((tmp_path / "sweep").glob("*/report.html"))) == 2
    wrong = start(python, *words, "method=uniform,kl_tlit", f"output={tmp_path / 'other'}")
    assert "Did you mean method=kl_tilt?" in wrong.stderr
