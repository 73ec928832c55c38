"""One contract for every method: the same candidates, seeded, ragged, ties, one document, no judgments needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import query_streams
from rerankers.exposure import GERR, RBP
from rerankers.methods import GROUP_TIERS, METHODS, TIERS, PlackettLuce, rerank_one
from rerankers.methods.targets import EqualExposure
from rerankers.policies.rows import take_rows
from rerankers.runs import read_policy, write_policy
from rerankers.values import Block, Candidates, GroupAlignment, Ids

OPTIONS = {"fa_star_ir": {"protected": "a"}, "fair_co": {"entities": "kind"}, "mtg_clusters": {"entities": "kind"}}
"""Options without which a method says what is missing."""
POSITION_BASED = ("foeir",)
"""Methods that are defined for browsing by position only."""
ROWS = st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, -3.0]), max_size=5), max_size=4)


def block(rows: list[list[float]], name: str = "plackett_luce") -> Block:
    """Return a block: document 0 of a row in group a, 1 in b, 2 in both, the next of an unknown group, and again."""
    lengths = [len(row) for row in rows]
    scores = np.array([score for row in rows for score in row])
    candidates = Candidates(
        np.arange(len(rows)),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([np.arange(n) for n in lengths]) if rows else np.empty(0),
        {"score": scores},
    )
    entries = [(doc, group) for doc in range(8) for group in ((0,), (1,), (0, 1), ())[doc % 4]]
    doc, group = np.array(entries).T
    alignment = GroupAlignment.of_entries("kind", ("a", "b"), doc, group, np.ones(len(doc)), 8).resolve("count")
    return Block(
        candidates,
        query_streams([f"q{row}" for row in range(len(rows))]),
        {"kind": alignment} if METHODS[name](**OPTIONS.get(name, {})).tier in GROUP_TIERS else {},
        browsing=RBP(0.7) if name in POSITION_BASED else GERR(),
        target=EqualExposure(),
    )


@pytest.mark.parametrize("name", METHODS)
@given(rows=ROWS, seed=st.integers(-5, 5))
def test_contract(name: str, rows: list[list[float]], seed: int) -> None:
    method = METHODS[name](**OPTIONS.get(name, {}))
    assert method.tier in TIERS
    part = block(rows, name)
    policy = method.policy(part)
    draws = policy.sample(3, seed)
    assert draws.counts.tolist() == [3] * len(rows)
    for row, length in enumerate(part.candidates.lengths.tolist()):
        for ranking in range(3 * row, 3 * row + 3):
            items = draws.item[draws.item_ptr[ranking] : draws.item_ptr[ranking + 1]]
            assert sorted(items.tolist()) == list(range(length)), "exactly the candidates"
    again = method.policy(block(rows, name)).sample(3, seed)
    np.testing.assert_array_equal(draws.item, again.item)
    if rows:  # a query's rankings do not depend on the block around it
        first = replace(part, candidates=part.candidates.rows(0, 1), stream=part.stream[:1])
        alone = method.policy(first).sample(3, seed)
        np.testing.assert_array_equal(alone.item, draws.item[: 3 * len(rows[0])])


@pytest.mark.parametrize("name", METHODS)
def test_policies_are_stored_and_taken_apart(name: str, tmp_path: Path) -> None:
    """What ``run`` writes and ``submit`` draws from: every kind of policy has a stored form."""
    policy = METHODS[name](**OPTIONS.get(name, {})).policy(block([[3.0, 1.0, 2.5, 1.0], [2.0], [0.0, 1.0]], name))
    qids, docs = ["q0", "q1", "q2"], Ids.of([f"d{number}" for number in range(8)])
    write_policy(tmp_path / "policy.parquet", policy, qids, docs, seed=3, samples=4)
    stored = read_policy(tmp_path / "policy.parquet").rankings()
    np.testing.assert_array_equal(stored.item, policy.sample(4, 3).item)
    rows = np.array([2, 0])
    taken = take_rows(policy, rows).sample(4, 3)
    np.testing.assert_array_equal(taken.item, policy.sample(4, 3).take(rows).item)


def test_methods_are_their_modules() -> None:
    for name, kind in METHODS.items():
        assert kind.__module__ == f"rerankers.methods.{name}"


def test_temperature_goes_from_static_to_uniform() -> None:
    scores = [3.0, 1.0, 2.0]
    cold = rerank_one("plackett_luce", scores, temperature=1e-6).sample(50, 0).item.reshape(50, 3)
    assert np.all(cold == [0, 2, 1])
    hot = rerank_one("plackett_luce", scores, temperature=1e9).sample(3000, 0).item.reshape(3000, 3)
    assert np.bincount(hot[:, 0]) / 3000 == pytest.approx([1 / 3] * 3, abs=0.05)


def test_deterministic_keeps_ties_in_order() -> None:
    assert rerank_one("deterministic", [1.0, 2.0, 1.0, 2.0]).sample(2, 0).item.tolist() == [1, 3, 0, 2] * 2


def test_blind_methods_do_not_look_at_groups() -> None:
    for name in (name for name, kind in METHODS.items() if kind(**OPTIONS.get(name, {})).tier == "blind"):
        plain = rerank_one(name, [3.0, 1.0, 2.0]).sample(5, 1)
        told = rerank_one(name, [3.0, 1.0, 2.0], ["a", None, "b"]).sample(5, 1)
        np.testing.assert_array_equal(plain.item, told.item)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="groups"):
        rerank_one("uniform", [1.0, 2.0], ["a"])
    with pytest.raises(ConfigError, match="aims at none"):
        rerank_one("uniform", [1.0], target=[0.5])
    with pytest.raises(ConfigError, match="Did you mean 'uniform'"):
        rerank_one("unifrom", [1.0])
    with pytest.raises(ConfigError, match="temprature"):
        rerank_one("plackett_luce", [1.0], temprature=2)
    with pytest.raises(InputError, match="finite"):
        rerank_one("uniform", [np.nan, 1.0])
    for temperature in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="positive"):
            PlackettLuce(temperature)
