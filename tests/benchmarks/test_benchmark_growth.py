"""What grows, what memory is measured for and what schedules gain: each is run once, small."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR, RBP, pl_exposure
from rerankers.policies import PlackettLuce
from rerankers.values import Ragged

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _in_path() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.mark.slow
def test_all_that_grows_can_be_called_at_its_smallest_size() -> None:
    lines = list(import_module("growth")._lines(np.random.default_rng(0)))
    assert len({(what, variable) for what, variable, _, _ in lines}) == len(lines)
    for what, _, sizes, make in lines:
        assert list(sizes) == sorted(set(sizes)), what
        assert make(sizes[0])() is not None, what


def test_chunks_add_up_to_the_mean_exposure(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = import_module("memory")
    monkeypatch.setattr(memory, "N", 20)
    monkeypatch.setattr(memory, "CHUNK", 300)
    found = memory.estimate(1000)
    rng = np.random.default_rng(0)
    exact = pl_exposure(rng.normal(size=20), GERR(), rng.random(20) < 0.05)
    assert np.abs(found - exact).max() < 0.05
    monkeypatch.setattr(memory, "CHUNK", 1000)
    np.testing.assert_allclose(found, memory.estimate(1000), atol=1e-14)


def test_peak_is_that_of_the_process_alone() -> None:
    code = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import memory, numpy; {{}}; print(memory.own_peak())"
    lean, full = (
        float(
            subprocess.run([sys.executable, "-c", code.format(work)], capture_output=True, text=True, check=True).stdout
        )
        for work in ("pass", "numpy.ones(25_000_000)")
    )
    assert 190 < full - lean < 230


def test_errors_of_schedules_are_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    schedules = import_module("schedules")
    monkeypatch.setattr(schedules, "REPEATS", 30)
    over = Ragged(np.zeros(1, np.int32), np.array([0, 20]), np.arange(20, dtype=np.int32))
    logit = np.random.default_rng(1).normal(size=20)
    policy, browsing = PlackettLuce(over, logit, query_streams(["q"])), RBP(0.9).bind(None, over.indptr)
    drawn = schedules.error(policy, policy.sample, browsing, 32)
    for publish in (policy.schedule, lambda n, seed: schedules.sobol(over, logit, n, seed)):
        assert schedules.error(policy, publish, browsing, 32) < drawn / 2
