"""The parts that time, load published code, and write tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _in_path() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


def test_interleaved_calls_all_in_turn() -> None:
    timing = import_module("_timing")
    called: list[str] = []
    slow = timing.SHORTEST
    works = [lambda name=name: (called.append(name), import_module("time").sleep(slow)) for name in "ab"]
    found = timing.interleaved(works, 1)
    assert "".join(called) == "aabb" + timing.FEWEST * "ab"
    assert all(len(seconds.all) == timing.FEWEST and seconds.best >= slow for seconds in found)


def test_ratio_is_of_medians_and_judged() -> None:
    timing = import_module("_timing")
    ours, peer = timing.Seconds((1.0, 2.0, 3.0)), timing.Seconds((30.0, 20.0, 5.0))
    result = timing.Result("x", ours, peer, "p", 10.0)
    assert (result.ratio, result.best_ratio, result.verdict) == (10.0, 5.0, "ok")
    assert timing.Result("x", ours, peer, "p", 10.1).verdict == "missed"
    assert timing.Result("x", ours, peer, "p").verdict == ""
    assert timing.exponent((10, 100, 1000), (3.0, 300.0, 30_000.0)) == pytest.approx(2.0)


def test_published_modules_are_loaded_and_their_names_freed(tmp_path: Path) -> None:
    peers_module = import_module("_peers")
    for name, text in (("expeval", "A"), ("expohedron", "B")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "utils_of_peer.py").write_text(f"import numpy as np\nwho, kind = {text!r}, np.float\n")
        (tmp_path / name / "main_of_peer.py").write_text("from utils_of_peer import who, kind\n")
    peers = peers_module.Peers(tmp_path)
    assert peers.held() == ["expeval", "expohedron"]
    for name, who in (("expeval", "A"), ("expohedron", "B")):
        (module,) = peers.load(name, "main_of_peer")
        assert module.who == who
        assert module.kind is float
        assert peers.label(name) == f"{name} @commit unknown (published)"
    assert "utils_of_peer" not in sys.modules
    assert not hasattr(np, "float")
    assert not list(tmp_path.rglob("*.pyc"))
    assert str(tmp_path / "expeval") not in sys.path
    assert peers_module.Peers(None).held() == []


def test_tables() -> None:
    timing, tables = import_module("_timing"), import_module("_tables")
    report = timing.Report()
    seconds = timing.Seconds((0.002, 0.001, 0.003))
    report.add(timing.Result("a | b", seconds, timing.Seconds((1.0, 1.0, 1.0)), "numpy", 600.0, "same"))
    report.add(timing.Result("c", seconds, seconds, "numpy"))
    report.add(timing.NotRun("d", "no checkout"))
    report.add(timing.Growth("e", "documents", (10, 100, 1000), (1.0, 10.0, 10.0), 0.5))
    report.add(timing.Gain("f", (10,), (4.0,), (2.0,)))
    text = tables.markdown(report, {"numpy": "2"})
    for line in (
        "numpy 2.",
        "| 1 | a \\| b | 2 ms (1 ms) | 1 s (1 s) | 500 | 1000 | 600 | missed |",
        "| 2 | c | 2 ms (1 ms) | 2 ms (1 ms) | 1 | 1 |  |  |",
        "- Peer of 1-2: numpy.",
        "- 1: same.",
        "0 of 1 demanded ratios met.",
        "Not run: d: no checkout.",
        "| e | documents | 10, 100, 1,000 | 1, 10, 10 ms | 0.50 | 0.00 |  |",
        "| f | 10 | 2 |",
    ):
        assert line in text.splitlines(), line
    assert "ratios met" not in tables.markdown(timing.Report(), {})


def test_command_line_refuses_what_is_not_there(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(BENCHMARKS / "run.py"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("--only", "nothing").returncode == 2
    missing = run("--peers", str(tmp_path / "absent"))
    assert missing.returncode == 2
    assert "there is no folder" in missing.stderr
