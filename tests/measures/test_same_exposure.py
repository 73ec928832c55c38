"""Policies of one exposure: what of their spread is equal, what is not, and the least there can be."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rerankers._base.errors import InfeasibleError, InputError
from rerankers._base.streams import query_streams, stream_key
from rerankers.exposure import project_permutahedron
from rerankers.measures.least_variance import least_variance, least_variance_policy
from rerankers.measures.same_exposure import billiard, compare_same_exposure
from rerankers.values import Ragged

STREAM = query_streams(["q"])


def row(n: int) -> Ragged:
    return Ragged(np.zeros(1, np.int32), np.array([0, n]), np.arange(n, dtype=np.int32))


def scene(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = 0.7 ** np.arange(n)
    goal = project_permutahedron(np.where(rng.random(n) < 0.4, 1.0, 0.2) + 0.05 * rng.normal(size=n), weights)
    return goal, weights, (rng.random(n) < 0.4).astype(float)


@given(st.integers(0, 10**6), st.integers(1, 9))
@settings(max_examples=15)
def test_the_sum_of_variances_is_that_of_every_policy(seed: int, n: int) -> None:
    goal, weights, worth = scene(n, seed)
    found = compare_same_exposure(row(n), goal, weights, STREAM, worth, impressions=(1,), seeds=1)
    fixed = float(weights @ weights - goal @ goal)
    assert [one.variance for one in found] == pytest.approx([fixed] * len(found), abs=1e-7)
    least = least_variance(goal, weights, worth)
    assert all(least <= one.of_worth + 1e-9 for one in found)
    assert least_variance(goal, weights, np.ones(n)) == pytest.approx(fixed, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_variance_is_that_of_enumerated_mixtures(seed: int) -> None:
    n = 4
    goal, weights, worth = scene(n, seed)
    vertices = np.array([[weights[order.index(doc)] for doc in range(n)] for order in permutations(range(n))])
    mix = linprog(
        np.square(vertices) @ worth,
        A_eq=np.vstack([vertices.T, np.ones(len(vertices))]),
        b_eq=np.append(goal, 1.0),
        method="highs",
    )
    assert least_variance(goal, weights, worth) == pytest.approx(mix.fun - worth @ goal**2, abs=1e-9)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_the_policy_of_least_variance_has_it(n: int) -> None:
    goal, weights, worth = scene(n, n)
    policy, miss = least_variance_policy(row(n), goal, weights, STREAM, worth)
    assert miss < 1e-8
    assert len(policy.rankings) <= 3 * n + 1
    exposure = np.zeros((len(policy.rankings), n))
    for place, items in enumerate(policy.rankings.item.reshape(-1, n)):
        assert sorted(items) == list(range(n))
        exposure[place, items] = weights
    share = policy.rankings.weight
    variance = share @ np.square(exposure) - np.square(share @ exposure)
    assert worth @ variance == pytest.approx(least_variance(goal, weights, worth), abs=1e-8)


def test_what_a_benchmark_of_40_documents_says() -> None:
    """Swaps and few rankings vary four times as much in the relevant documents as the policy of least variance.

    Independent draws err by variance / n. In 100 impressions schedules err some forty times less, a billiard ten times.
    """
    n = 40
    rng = np.random.default_rng(0)
    weights = 0.9 ** np.arange(n)
    relevant = (np.arange(n) % 4 == 0).astype(float)
    level = weights.mean() * (1 + 1.2 * (relevant - relevant.mean()))
    goal = project_permutahedron(level + 0.02 * rng.normal(size=n), weights)
    found = {
        (one.policy, one.served): one
        for one in compare_same_exposure(row(n), goal, weights, STREAM, relevant, impressions=(10, 100), seeds=30)
    }
    assert len(found) == 7
    for policy in ("transpositions", "Carathéodory", "least variance"):
        drawn, scheduled = found[policy, "draws"], found[policy, "schedule"]
        assert drawn.error == pytest.approx([drawn.variance / 10, drawn.variance / 100], rel=0.3)
        assert scheduled.error[1] < drawn.error[1] / 15
    billiards, drawn = found["Carathéodory", "billiard"], found["Carathéodory", "draws"]
    assert found["Carathéodory", "schedule"].error[1] < billiards.error[1] < drawn.error[1] / 5
    least = least_variance(goal, weights, relevant)
    assert found["least variance", "draws"].of_worth == pytest.approx(least, abs=1e-8)
    assert all(found[policy, "draws"].of_worth > 3 * least for policy in ("transpositions", "Carathéodory"))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 200), st.integers(0, 99))
def test_billiard_words_keep_their_shares(weights: list[float], n: int, seed: int) -> None:
    share = np.array(weights)
    key = stream_key(seed, STREAM[0], "test")
    if not share.sum() > 1e-6:
        return
    word = billiard(share, n, key)
    assert len(word) == n
    counts = np.bincount(word, minlength=len(share))
    assert np.all(np.abs(counts - n * share / share.sum()) <= len(share) + 1)
    assert np.all(counts[share == 0] == 0)


def test_wrong_arguments() -> None:
    goal, weights, worth = scene(4, 0)
    two = Ragged(np.arange(2), np.array([0, 4, 8]), np.tile(np.arange(4), 2))
    with pytest.raises(InputError, match="over: found 2 rows"):
        compare_same_exposure(two, np.tile(goal, 2), weights, query_streams(["a", "b"]))
    with pytest.raises(InputError, match="seeds"):
        compare_same_exposure(row(4), goal, weights, STREAM, seeds=0)
    with pytest.raises(InputError, match="impressions"):
        compare_same_exposure(row(4), goal, weights, STREAM, impressions=[0])
    with pytest.raises(InfeasibleError, match="expected an attainable one"):
        least_variance([9.0, 0, 0, 0], weights, worth)
    with pytest.raises(InputError, match="worth"):
        least_variance(goal, weights, -worth - 1)
    with pytest.raises(InputError, match="weights"):
        billiard([0.0], 3, stream_key(0, STREAM[0], "x"))
    assert least_variance([], weights, []) == 0.0
