"""Given exposures as transpositions and as mixtures of few rankings."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from permutahedron_twins import WEIGHTS, hull_point, vertices

from rerankers.exposure.optimal.caratheodory import decompose
from rerankers.exposure.optimal.permutahedron import project_permutahedron
from rerankers.exposure.optimal.transpositions import Swaps, settled, transpositions

RANDOM = st.randoms(use_true_random=False)


def composed(swaps: Swaps, weights: np.ndarray) -> np.ndarray:
    """Return the expected exposures: the product of the transfers, one after the other."""
    held = weights[: len(swaps.order)].copy()
    for (one, other), chance in zip(swaps.swaps, swaps.chance, strict=True):
        mean = np.array([[1 - chance, chance], [chance, 1 - chance]]) @ held[[one, other]]
        held[[one, other]] = mean
    exposure = np.empty(len(held))
    exposure[swaps.order] = held
    return exposure


def enumerated(swaps: Swaps, weights: np.ndarray) -> np.ndarray:
    """Return the expected exposures by all outcomes of the swaps."""
    n, exposure = len(swaps.order), np.zeros(len(swaps.order))
    for outcome in product([False, True], repeat=len(swaps.chance)):
        rank, chance = list(range(n)), 1.0
        for (one, other), happens, probability in zip(swaps.swaps, outcome, swaps.chance, strict=True):
            chance *= probability if happens else 1 - probability
            if happens:
                rank[one], rank[other] = rank[other], rank[one]
        exposure[swaps.order] += chance * weights[rank]
    return exposure


def test_settled_places() -> None:
    swaps = np.array([[0, 1], [0, 2], [3, 2], [3, 4]], dtype=np.int32)
    np.testing.assert_array_equal(settled(swaps, 5), [[0, 1], [1, 0], [0, 1], [1, 1]])
    assert settled(np.empty((0, 2), np.int32), 3).shape == (0, 2)


@given(st.integers(0, 5), WEIGHTS, RANDOM)
def test_any_mixture_of_rankings_is_realised(n: int, weights: list[float], random: object) -> None:
    goal = hull_point(weights, n, random)
    padded = vertices(weights, n)[0]
    swaps = transpositions(goal, weights)
    assert len(swaps.chance) <= max(0, n - 1)
    assert np.all((swaps.chance >= 0) & (swaps.chance <= 0.5))  # 0 where rounding left nothing to transfer
    assert np.all(settled(swaps.swaps, n).any(axis=1))
    assert sorted(swaps.order) == list(range(n))
    np.testing.assert_allclose(enumerated(swaps, padded), goal, atol=1e-14)
    np.testing.assert_allclose(composed(swaps, padded), goal, atol=1e-14)
    mixture = decompose(goal, weights)
    assert len(mixture.weights) <= max(1, n)
    assert np.all(mixture.weights > 0)
    assert mixture.weights.sum() == pytest.approx(1, abs=1e-14)
    assert np.all(np.sort(mixture.rankings, axis=1) == np.arange(n))
    exposure = np.zeros(n)
    for order, share in zip(mixture.rankings, mixture.weights, strict=True):
        exposure[order] += share * padded
    np.testing.assert_allclose(exposure, goal, atol=1e-14)
    assert mixture.residual == pytest.approx(np.abs(exposure - goal).max(initial=0), abs=1e-15)
    assert mixture.residual < 1e-14


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("kind", ["dcg", "geometric", "steep", "top 10", "one", "flat"])
def test_many_documents(n: int, kind: str) -> None:
    rank = np.arange(n)
    weights = {
        "dcg": 1 / np.log2(rank + 2),
        "geometric": 0.9**rank,
        "steep": 0.5**rank,
        "top 10": np.where(rank < 10, 1 / np.log2(rank + 2), 0),
        "one": np.where(rank < 1, 1.0, 0),
        "flat": np.full(n, 0.3),
    }[kind]
    rng = np.random.default_rng(n)
    for shape in (rng.random(n) ** 3, np.ones(n), np.linspace(1, 0.2, n), rng.permutation(weights)):
        goal = project_permutahedron(shape * weights.sum() / shape.sum(), weights)
        swaps = transpositions(goal, weights)
        assert len(swaps.chance) < n
        np.testing.assert_allclose(composed(swaps, weights), goal, rtol=0, atol=1e-13)
        mixture = decompose(goal, weights)
        assert len(mixture.weights) <= n
        assert mixture.residual < 1e-13
    assert len(transpositions(goal, weights).chance) == 0  # the last is a ranking
    assert decompose(goal, weights).weights.tolist() == [1.0]


def test_small_cases() -> None:
    assert transpositions([], [1.0]).swaps.shape == (0, 2)
    nothing = decompose([], [1.0])
    assert nothing.rankings.shape == (1, 0)
    assert nothing.residual == 0
    alone = decompose([0.7], [0.7, 0.2])
    assert alone.rankings.tolist() == [[0]]
    half = decompose([0.75, 0.75], [1.0, 0.5])
    assert sorted(map(tuple, half.rankings.tolist())) == [(0, 1), (1, 0)]
    np.testing.assert_allclose(half.weights, 0.5)
    zero = transpositions([0.0, 0.0], [0.0])
    assert len(zero.chance) == 0


@pytest.mark.parametrize("function", [transpositions, decompose])
def test_exposures_out_of_reach(function: object) -> None:
    for exposure, excess in (([1.2, 0.3], "0.2"), ([0.7, 0.7], "0.1"), ([1.5, 0.5], "0.5"), ([0.5, 0.5], "0.5")):
        with pytest.raises(ValueError, match=f"exceed what rankings can give by {excess}; expected"):
            function(exposure, [1.0, 0.5])  # type: ignore[operator]
    with pytest.raises(ValueError, match="exposure: found nan"):
        function([np.nan, 1], [1.0, 0.5])  # type: ignore[operator]
    nearly = function([1.0 + 4e-10, 0.5 + 4e-10], [1.0, 0.5])  # type: ignore[operator]
    assert nearly is not None


@pytest.mark.shared_data
def test_transpositions_of_the_oracle(shared: Path) -> None:
    oracle = json.loads((shared / "oracles/algorithms/exact_pl_permutahedron_kl.json").read_text())
    for case in oracle["t_transforms"]:
        weights, goal = np.array(case["gamma"]), np.array(case["projection"])
        swaps = transpositions(goal, weights)
        assert len(swaps.chance) <= len(case["transforms"])
        np.testing.assert_allclose(composed(swaps, weights), goal, rtol=0, atol=1e-14)
        # The stored transforms are another sequence with the same product.
        places, chances = [step[:2] for step in case["transforms"]], [step[2] for step in case["transforms"]]
        stored = Swaps(np.array(case["order"]), np.array(places), np.array(chances))
        np.testing.assert_allclose(composed(stored, weights), goal, rtol=0, atol=1e-14)
        assert decompose(goal, weights).residual < 1e-14


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", ["meritocratic", "demographic"])
def test_decompositions_of_the_oracle(shared: Path, kind: str) -> None:
    for case in json.loads((shared / "oracles/algorithms/expohedron.json").read_text())["cases"]:
        weights, given_one = np.array(case["pbm"]), case[f"{kind}_decomposition"]
        exposure = np.zeros(case["n"])
        for order, share in zip(given_one["orders"], given_one["weights"], strict=True):
            exposure[order] += share * weights
        for point in (exposure, *case[f"{kind}_curve"]):
            point = project_permutahedron(point, weights)  # what is stored misses the permutahedron by up to 1e-9
            assert decompose(point, weights).residual < 1e-15
