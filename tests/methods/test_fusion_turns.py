"""Round-robin over groups and epsilon-greedy, against plain twins and enumeration."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from constraint_worlds import rankings_of, world
from hypothesis import given, settings
from hypothesis import strategies as st
from tilt_worlds import block

from rerankers._base.errors import ConfigError
from rerankers.methods.epsilon_greedy import EpsilonGreedy
from rerankers.methods.fa_star_ir import FaStarIr
from rerankers.methods.round_robin import RoundRobin, seated
from rerankers.methods.targets import Population


@given(group=st.lists(st.integers(0, 2), min_size=1, max_size=9), rankings=st.integers(1, 4))
def test_seats_are_given_in_turn(group: list[int], rankings: int) -> None:
    share = np.array([0.5, 0.3, 0.2])
    orders = seated(np.array(group), share, rankings).tolist()
    held = [0, 0, 0]
    for rank, r in itertools.product(range(len(group)), range(rankings)):
        left = [d for d in range(len(group)) if d not in orders[r][:rank]]
        firsts = {g: next(d for d in left if group[d] == g) for g in {group[d] for d in left}}
        expected = min(firsts, key=lambda g: ((held[g] + 0.5) / share[g], firsts[g]))
        assert orders[r][rank] == firsts[expected]
        held[expected] += 1


def test_round_robin() -> None:
    part = world([[6.0, 5, 4, 3, 2, 1], []], ["B", "B", "B", "A", "A", "A"], target=Population({"A": 0.25, "B": 0.75}))
    assert rankings_of(RoundRobin().policy(part)) == [[0, 3, 1, 4, 2, 5]]
    assert rankings_of(RoundRobin("target").policy(part)) == [[0, 1, 3, 2, 4, 5]]
    across = rankings_of(RoundRobin("target", rankings=4).policy(part))
    assert sorted(ranking[0] for ranking in across) == [0, 0, 0, 3], "the first rank has the shares"
    labels = [None, "A", "B", "A"]
    kept = rankings_of(RoundRobin(unknown="keep").policy(world([[4.0, 3, 2, 1]], labels)))
    assert kept == [[0, 1, 2, 3]]
    assert rankings_of(RoundRobin().policy(replace(part, target=None))) == [[0, 3, 1, 4, 2, 5]]
    assert (RoundRobin().uses_target, RoundRobin("target").uses_target) == (False, True)
    assert [FaStarIr().uses_target, FaStarIr(p=0.5).uses_target, FaStarIr(pool=True).uses_target] == [
        True,
        False,
        False,
    ]
    for options in ({"shares": "all"}, {"rankings": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            RoundRobin(**options)


def greedy_chances(n: int, epsilon: float) -> np.ndarray:
    """Return the rank probabilities of epsilon-greedy (document, rank) over all of its rankings."""
    total = np.zeros((n, n))
    for order in itertools.permutations(range(n)):
        chance = 1.0
        for rank, d in enumerate(order):
            chance *= epsilon / (n - rank) + (1 - epsilon) * (d == min(order[rank:]))
        total[list(order), range(n)] += chance
    return total


@settings(max_examples=8)
@given(n=st.integers(1, 5), epsilon=st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_epsilon_greedy_by_enumeration(n: int, epsilon: float) -> None:
    draws = 4000
    found = np.array(rankings_of(EpsilonGreedy(epsilon, draws).policy(block([np.arange(n, 0, -1.0)], {}))))
    share = np.array([[np.mean(found[:, rank] == d) for rank in range(n)] for d in range(n)])
    chance = greedy_chances(n, epsilon)
    assert np.all(np.abs(share - chance) <= 5.5 * np.sqrt(chance * (1 - chance) / draws) + 1e-12)


def test_epsilon_greedy_seeds() -> None:
    part = block([[3.0, 2.0, 1.0, 0.0]], {}, seed=3)
    assert rankings_of(EpsilonGreedy(0.5).policy(part)) == rankings_of(EpsilonGreedy(0.5).policy(part))
    assert rankings_of(EpsilonGreedy(0.5).policy(part)) != rankings_of(EpsilonGreedy(0.5).policy(replace(part, seed=4)))
    for options in ({"epsilon": 1.5}, {"draws": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            EpsilonGreedy(**options)
