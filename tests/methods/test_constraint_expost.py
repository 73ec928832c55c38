"""Ex-post group-fair rankings: counts and uniformity against enumeration, and bounds of every single ranking."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from constraint_worlds import rankings_of, world
from hypothesis import given, settings
from hypothesis import strategies as st
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers.methods.expost_group_fair import ExpostGroupFair, filled
from rerankers.methods.prefixes.quotas import bounds
from rerankers.methods.prefixes.sequences import Sequences
from rerankers.methods.targets import Population


def sequences(least: np.ndarray, most: np.ndarray) -> list[tuple[int, ...]]:
    """Return all sequences within bounds, by trying every one."""
    ranks, groups = len(least) - 1, least.shape[1]
    found = []
    for one in itertools.product(range(groups), repeat=ranks):
        held = np.array([[one[:k].count(g) for g in range(groups)] for k in range(ranks + 1)])
        if np.all((held >= least) & (held <= most)):
            found.append(one)
    return found


@settings(max_examples=30)
@given(
    size=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    every=st.integers(1, 3),
    slack=st.integers(0, 1),
    data=st.data(),
)
def test_sequences_are_counted_and_uniform(size: list[int], every: int, slack: int, data: st.DataObject) -> None:
    share = np.array([data.draw(st.sampled_from([0.2, 0.5, 1.0])) for _ in size])
    ranks = min(sum(size), 6)
    least, most = bounds(share, np.array(size), ranks, every, slack)
    every_one = sequences(least, most)
    assert every_one, "there always is one"
    found = Sequences.within(least, most)
    assert math.exp(found.log_count) == pytest.approx(len(every_one), rel=1e-12)
    for one in every_one:  # the chance of each is the product of its steps
        state, chance = 0, 1.0
        for rank, g in enumerate(one):
            chance *= found.chance[rank][state, g]
            state = found.after[rank][state, g]
        assert chance == pytest.approx(1 / len(every_one), rel=1e-12)
    drawn = found.draw(np.random.default_rng(0).random((50, ranks)))
    assert {tuple(one) for one in drawn.tolist()} <= set(every_one)


def test_draws_follow_the_chances() -> None:
    least, most = bounds(np.array([0.5, 0.5]), np.array([4, 4]), 6, 2, 0)
    every_one = sequences(least, most)
    assert len(every_one) == 8
    drawn = Sequences.within(least, most).draw(np.random.default_rng(1).random((8000, 6)))
    counts = [np.count_nonzero(np.all(drawn == one, axis=1)) for one in every_one]
    assert np.abs(np.array(counts) - 1000).max() < 5 * math.sqrt(1000)


def test_bounds_without_a_sequence() -> None:
    nothing = Sequences.within(np.array([[0, 0], [1, 1]]), np.array([[0, 0], [1, 1]]))
    assert nothing.log_count == -math.inf


@given(data=st.data(), n=st.integers(1, 12), within=st.sampled_from(["score", "plackett_luce"]))
def test_every_single_ranking_is_within_bounds(data: st.DataObject, n: int, within: str) -> None:
    labels = data.draw(st.lists(st.sampled_from(["A", "B", "C"]), min_size=n, max_size=n))
    target = Population({"A": 0.5, "B": 0.3, "C": 0.2})
    part = block([np.arange(n, 0, -1.0)], {"g": alignment("g", labels, names="ABC")}, target=target)
    every, slack = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 1))
    cutoff = data.draw(st.integers(1, 12))
    policy = ExpostGroupFair(within, every=every, slack=slack, cutoff=cutoff, draws=7).policy(part)
    present = sorted(set(labels))
    size = np.array([labels.count(g) for g in present])
    share = np.array([{"A": 0.5, "B": 0.3, "C": 0.2}[g] for g in present])
    ranks = min(cutoff, n)
    least, most = bounds(share, size, ranks, every, slack)
    for ranking in rankings_of(policy):
        member = np.array([[labels[d] == g for g in present] for d in ranking[:ranks]]).reshape(ranks, len(present))
        held = np.concatenate([np.zeros((1, len(present)), int), np.cumsum(member, axis=0)])
        assert np.all((held >= least) & (held <= most))
        if within == "score":
            for g in present:
                assert ranking == sorted(ranking) or [d for d in ranking if labels[d] == g] == sorted(
                    d for d in ranking if labels[d] == g
                )
            assert ranking[ranks:] == sorted(ranking[ranks:]), "the others follow by belief"


def test_plackett_luce_inside_groups() -> None:
    labels = list("AAB")
    logit = np.log([0.6, 0.2, 0.5])
    part = block([[3.0, 2.0, 1.0]], {"g": alignment("g", labels)}, [[0.6, 0.2, 0.5]], target=Population({"A": 1.0}))
    policy = ExpostGroupFair(draws=4000).policy(part)
    first = np.array([ranking[0] for ranking in rankings_of(policy)])
    assert logit[0] > logit[1]
    assert np.mean(first == 0) == pytest.approx(0.75, abs=5 * math.sqrt(0.75 * 0.25 / 4000))
    cold = ExpostGroupFair(draws=20, temperature=1e-9).policy(part)
    assert {tuple(one) for one in rankings_of(cold)} == {(0, 1, 2)}


def test_filled() -> None:
    found = filled(np.array([[1, 0], [0, 0]]), np.array([0, 0, 1]), np.array([[1, 0, 2], [0, 1, 2]]))
    assert found.tolist() == [[2, 1, 0], [0, 1, 2]]


def test_counts_and_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    part = world([[4.0, 3, 2, 1], []], ["A", "A", "A", "B"])
    policy, counts = ExpostGroupFair(draws=3).counted(part)
    assert counts == {"rows_with_used_up_group": 1}
    assert len(rankings_of(policy, 1)) == 3
    nothing = block([[2.0, 1.0]], {"g": alignment("g", [None, None], names="A")}, target=Population({"A": 1.0}))
    assert ExpostGroupFair(draws=2).counted(nothing)[1] == {"documents_left_in_place": 2}
    wide = block(
        [np.arange(400.0)],
        {"g": alignment("g", list("ABCDEFGH") * 50)},
        target=Population(dict.fromkeys("ABCDEFGH", 0.125)),
    )
    monkeypatch.setattr("rerankers.methods.prefixes.sequences.MOST_STATES", 10_000)
    with pytest.raises(ConfigError, match=r"method.every: found bounds that allow more than"):
        ExpostGroupFair(every=400, draws=1).policy(wide)
    assert len(rankings_of(ExpostGroupFair(draws=1, cutoff=40).policy(wide))) == 1
    for options in ({"slack": -1}, {"every": 0}, {"draws": 0}, {"temperature": 0.0}, {"within": "x"}, {"cutoff": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            ExpostGroupFair(**options)


def test_seeds() -> None:
    first, again, other = (
        rankings_of(ExpostGroupFair(draws=9).policy(world([[3.0, 2, 1, 0]], ["A", "B"], seed=seed)))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
