"""The peers that were written for the benchmarks compute what ours computes: a ratio to a wrong peer is worthless."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import permutations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import linprog

from rerankers.exposure import (
    GERR,
    RBP,
    foeir,
    pareto_front,
    pl_exposure,
    pl_exposure_gradient,
    pl_rank_marginals,
    ranking_exposure,
)
from rerankers.policies import sample_plackett_luce

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _in_path() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def peers(_in_path: None) -> ModuleType:
    return import_module("_numpy_peers")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.slow
def test_drawn_rankings_have_the_exact_chances_of_ranks(peers: ModuleType, rng: np.random.Generator) -> None:
    score, draws = np.array([1.0, 0.0, -1.0, 2.0, 0.5]), 20_000
    exact = pl_rank_marginals(score, 5)
    for order in (peers.full_rankings(score, draws, rng), peers.top_rankings(score, 3, draws, rng)):
        for rank in range(order.shape[1]):
            found = np.bincount(order[:, rank], minlength=5) / draws
            assert np.all(np.abs(found - exact[:, rank]) < 5 * np.sqrt(exact[:, rank] / draws))
    for deviation in (peers.full_rankings, lambda score, draws, rng: sample_plackett_luce(score, 5, draws, 1)):
        assert import_module("contest_sampler").deviation(score, deviation(score, 5000, rng)) < 5
    wrong = peers.full_rankings(1.1 * score, draws, rng)
    assert import_module("contest_sampler").deviation(score, wrong) > 6


def test_exposure_of_drawn_rankings(peers: ModuleType, rng: np.random.Generator) -> None:
    grades = np.array([0, 1, 0, 2])
    order = np.array([rng.permutation(4) for _ in range(6)])
    continuation = 0.5 * (1 - 0.5 * (grades > 0))
    found = peers.mean_exposure(order, peers.cascade_exposure(order, continuation), 4)
    expected = np.mean([ranking_exposure(one, GERR(), grades) for one in order], axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_fine_quadrature(peers: ModuleType, rng: np.random.Generator) -> None:
    score, grades = rng.normal(0, 2, 40), rng.integers(0, 2, 40)
    found = peers.fine_quadrature(score, 0.5 * (1 - 0.5 * (grades > 0)))
    np.testing.assert_allclose(found, pl_exposure(score, GERR(), grades), atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
def test_pl_rank_3_over_all_rankings_is_the_gradient(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    score, value, model = np.array([0.3, -1.0, 1.2, 0.0]), np.array([1.0, -2.0, 0.5, 3.0]), RBP(0.7, cutoff=k)
    total = np.zeros(4)
    for order in permutations(range(4)):
        monkeypatch.setattr(peers, "full_rankings", lambda *_, order=order: np.array([order]))
        weight = np.exp(score[list(order)])
        chance = np.prod(weight / np.cumsum(weight[::-1])[::-1])
        total += chance * peers.pl_rank_3(0.7 ** np.arange(k), value, score, 1, None)
    np.testing.assert_allclose(total, pl_exposure_gradient(score, model, value), atol=1e-12)


def test_frontier_path_holds_the_front(peers: ModuleType, rng: np.random.Generator) -> None:
    relevance, position = rng.random(12), 1 / np.log2(np.arange(12) + 2)
    fair = np.full(12, position.mean())
    curve = np.array(peers.frontier_path(position, relevance, fair))
    points = pareto_front(relevance, fair, position, np.geomspace(1e-3, 100, 20))
    front = import_module("contest_front")
    assert curve[-1] @ relevance == pytest.approx(np.sort(position) @ np.sort(relevance), abs=1e-9)
    assert front.distance_to_curve(points, curve, relevance) < 1e-9
    assert front.distance_to_curve(points[5:6] + 0.01, curve, relevance) > 1e-3


@pytest.mark.parametrize("constraint", ["parity", "treatment", "impact"])
def test_foeir_program_has_the_same_optimum(peers: ModuleType, rng: np.random.Generator, constraint: str) -> None:
    relevance, groups = rng.uniform(0.4, 0.8, 9), np.array([0, 1, 1, 0, 1, 0, 0, 1, 1])
    position = 1 / np.log2(np.arange(9) + 2)
    solved = linprog(**peers.foeir_program(relevance, groups, position, constraint))
    assert -solved.fun == pytest.approx(relevance @ foeir(relevance, groups, position, constraint)[0], abs=1e-9)


def test_evaluation_from_every_form_against_plain_python(tmp_path: Path, rng: np.random.Generator) -> None:
    contest, peers = import_module("contest_evaluation"), import_module("_numpy_peers")
    world = contest.make_world(rng, tmp_path, queries=3, draws=8, documents=12)
    check = peers.expeval_values(world.qrels, world.path("run.trec"), 0.5, 0.5)
    assert len(check) == 3
    for way, _, drawn in contest._ways(world).values():
        said = contest._agreement(way(), check, drawn)  # raises where values of the same draws differ
        assert said.startswith("values equal" if drawn else "exact exposure")
    lines = [
        f"{name}\t{qid}\t{value:f}"
        for qid, values in check.items()
        for name, value in zip(("disparity", "relevance", "difference"), values, strict=True)
    ]
    contest._same_as_printed(check, "\n".join(lines))
    with pytest.raises(AssertionError):
        contest._same_as_printed(check, "\n".join(lines).replace("0.", "1."))
