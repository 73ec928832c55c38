"""The contest of gradients in training: its clock, its levels, and that all contenders start alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rerankers.learning.neural import Linear
from rerankers.learning.objectives.exact_exposure import ExactExposure
from rerankers.learning.rows import LearningRows

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def contest() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    yield import_module("contest_training")
    sys.path.remove(str(BENCHMARKS))


def rows(prefix: str, seed: int) -> LearningRows:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(2, 7, size=6))])
    values = rng.normal(size=(indptr[-1], 3))
    grade = (values[:, 0] > 0.5).astype(float)
    return LearningRows.of(indptr, values, grade, qids=[f"{prefix}{row}" for row in range(6)])


@pytest.mark.slow
def test_estimates_follow_the_exact_gradient(contest: ModuleType) -> None:
    spec = Linear(epochs=6, queries_per_batch=3, patience=None, device="cpu")
    objectives = (
        ExactExposure(browsing=contest.BROWSING),
        ExactExposure(browsing=contest.BROWSING, gradient="pl_rank_3"),
        contest.NumpyPLRank3(0),
    )
    train, valid = rows("t", 0), rows("v", 1)
    courses = [contest.train(spec, objective, train, valid, 5) for objective in objectives]
    for course in courses:
        assert len(course.losses) == len(course.seconds) == 7
        assert course.losses[0] == courses[0].losses[0]
        assert course.losses[-1] < course.losses[0]
        assert course.seconds == sorted(course.seconds)
        np.testing.assert_allclose(course.losses, courses[0].losses, rtol=0.02)


def test_levels_and_their_times(contest: ModuleType) -> None:
    ours = contest.Course([0.0, 1.0, 2.0, 3.0], [1.0, 0.5, 0.2, 0.3])
    peer = contest.Course([0.0, 9.0, 18.0], [1.0, 0.6, 0.3])
    assert (ours.reached(0.5), ours.reached(0.1)) == (1.0, float("inf"))
    result = contest._compared("x", ours, peer, "PL-Rank-3, 1,000 full rankings")
    assert (result.ours.best, result.peer.best, result.ratio, result.verdict) == (2.0, 18.0, 9.0, "ok")
    assert "9 at 50%, 9 at 90%, 9 at 100%" in result.notes
    assert contest._compared("x", ours, peer, "PL-Rank-3, 100 full rankings").demanded is None
    still = contest.Course([0.0, 1.0], [1.0, 1.1])
    assert "did not fall" in contest._compared("x", ours, still, "PL-Rank-3").reason


@pytest.mark.shared_data
def test_data_are_read_whole(contest: ModuleType, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "SHARED", shared)
    train, valid = contest.lambdarank(np.random.default_rng(0))
    assert (len(train), train.over.nnz, len(valid), valid.over.nnz) == (201, 3005, 50, 768)
    train, valid = contest.trec_2020(np.random.default_rng(0))
    assert train.over.nnz + valid.over.nnz == 4826
    assert not set(train.qids) & set(valid.qids)
    assert len(train.names) == 22
