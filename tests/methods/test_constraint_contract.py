"""One contract for the constraint methods and the baselines: candidates, seeds, ragged rows, ties, unknown groups."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from constraint_worlds import MADE, alone, rankings_of, world
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.methods.base import GROUP_TIERS, answered, check_method, check_policy

NAMES = sorted({name.split()[0] for name in MADE if name not in ("det_greedy", "det_cons", "det_relaxed")})
ROWS = st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, -3.0]), max_size=7), max_size=4)
LABELS = st.lists(st.sampled_from(["A", "B", None]), min_size=1, max_size=9)
CONF = Path(__file__).resolve().parents[2] / "conf" / "method"


@pytest.mark.parametrize("name", MADE)
@settings(max_examples=25)
@given(rows=ROWS, labels=LABELS, unknown=st.sampled_from(["count", "drop"]), seed=st.integers(-3, 3))
def test_contract(name: str, rows: list[list[float]], labels: list[str | None], unknown: str, seed: int) -> None:
    method = MADE[name]()
    check_method(method)
    part = world(rows, labels, unknown, seed=seed)
    policy, counts = answered(method, part)
    check_policy(policy, method, part)
    assert all(isinstance(count, int) and count >= 0 for count in counts.values())
    for row, n in enumerate(part.candidates.lengths.tolist()):
        assert all(sorted(ranking) == list(range(n)) for ranking in rankings_of(policy, row)), "exactly the candidates"
    again = method.policy(world(rows, labels, unknown, seed=seed))
    np.testing.assert_array_equal(policy.rankings.item, again.rankings.item)
    for row in range(len(rows)):  # a query's rankings do not depend on the block around it
        own = method.policy(alone(part, row))
        assert rankings_of(own) == rankings_of(policy, row)
        low, high = policy.rankings.query_ptr[row : row + 2]
        np.testing.assert_array_equal(own.rankings.weight, policy.rankings.weight[low:high])


@pytest.mark.parametrize("name", MADE)
def test_groups_are_asked_for_where_they_are_needed(name: str) -> None:
    method = MADE[name]()
    part = replace(world([[2.0, 1.0]], ["A", "B"]), groups={})
    if method.tier in GROUP_TIERS:
        with pytest.raises(ConfigError, match="found no groups"):
            method.policy(part)
    else:
        assert rankings_of(method.policy(part))


@pytest.mark.parametrize("name", MADE)
def test_all_of_one_group_and_all_unknown(name: str) -> None:
    method = MADE[name]()
    for label in ("A", "B", None):
        for unknown in ("count", "drop"):
            policy = method.policy(world([[3.0, 1.0, 2.0, 2.0]], [label], unknown))
            assert all(sorted(ranking) == [0, 1, 2, 3] for ranking in rankings_of(policy))


@pytest.mark.parametrize("name", NAMES)
def test_config_is_the_class(name: str) -> None:
    module = __import__(f"rerankers.methods.{name}", fromlist=["_"])
    options = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    target = options.pop("_target_")
    assert target.startswith(f"rerankers.methods.{name}.")
    kind = getattr(module, target.rpartition(".")[2])
    assert inspect.isclass(kind)
    assert options == {one.name: one.default for one in dataclasses.fields(kind)}


@pytest.mark.parametrize("name", [one for one in MADE if MADE[one]().tier in GROUP_TIERS and not one.startswith("mmr")])
def test_an_attribute_must_be_named_where_there_are_two(name: str) -> None:
    method, part = MADE[name](), world([[2.0, 1.0]], ["A", "B"])
    two = replace(part, groups={**part.groups, "h": replace(part.groups["g"], attribute="h")})
    if hasattr(method, "attributes"):
        assert rankings_of(method.policy(two))
    else:
        with pytest.raises(ConfigError, match=r"method.attribute: found null; expected one of g, h"):
            method.policy(two)
        assert rankings_of(replace(method, attribute="h").policy(two)) == rankings_of(method.policy(part))
        with pytest.raises(ConfigError, match="found 'x'; expected one of g, h"):
            replace(method, attribute="x").policy(two)
