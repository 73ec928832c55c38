"""Fused scores, MMR and PM-2 against plain twins, and the odd ends of their input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from constraint_worlds import rankings_of, world
from hypothesis import given
from hypothesis import strategies as st
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError, InputError
from rerankers.methods.fusion.columns import ranks, scaled
from rerankers.methods.linear_fusion import LinearFusion
from rerankers.methods.mmr import Mmr, diverse
from rerankers.methods.pm2 import Pm2, proportional
from rerankers.methods.rrf import Rrf
from rerankers.methods.targets import Population
from rerankers.values import Block, Relevance

VALUES = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.5, math.nan]), min_size=1, max_size=6)


def fused(part: Block, **columns: list[float]) -> Block:
    """Return a block with more columns."""
    known = {name.replace("__", ":"): np.array(values) for name, values in columns.items()}
    return replace(part, candidates=part.candidates.with_columns(**known))


# reciprocal ranks


@given(first=VALUES, data=st.data(), k=st.sampled_from([0.0, 1.0, 60.0]))
def test_rrf_twin(first: list[float], data: st.DataObject, k: float) -> None:
    n = len(first)
    second = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, math.nan]), min_size=n, max_size=n))
    part = fused(block([[0.0] * n], {}), a=first, b=second)
    policy, counts = Rrf(k, ["a", "b"], [1.0, 0.5]).counted(part)
    total = np.zeros(n)
    for heed, column in ((1.0, first), (0.5, second)):
        known = [d for d in range(n) if not math.isnan(column[d])]
        for rank, d in enumerate(sorted(known, key=lambda d: (-column[d], d)), 1):
            total[d] += heed / (k + rank)
    assert rankings_of(policy) == [sorted(range(n), key=lambda d: (-total[d], d))]
    assert counts["documents_missing"] == sum(map(math.isnan, [*first, *second]))


def test_which_columns_are_fused() -> None:
    part = block([[3.0, 2.0, 1.0]], {})
    assert rankings_of(Rrf().policy(part)) == [[0, 1, 2]]
    more = fused(part, run__x=[1.0, 2.0, 3.0], run__y=[1.0, 2.0, 3.0], f1=[9.0, 0.0, 0.0])
    assert rankings_of(Rrf().policy(more)) == [[2, 1, 0]]
    assert rankings_of(Rrf(k=0.0).policy(more)) == [[2, 0, 1]]
    assert rankings_of(LinearFusion().policy(more)) == [[2, 1, 0]]
    assert rankings_of(LinearFusion(columns=["f1"]).policy(more)) == [[0, 1, 2]]
    model = Relevance(np.array([0.0, 5.0, 1.0]), "logit", "model:x")
    believed = replace(part, estimates=model)
    assert rankings_of(LinearFusion(columns=["belief"]).policy(believed)) == [[1, 2, 0]]
    assert rankings_of(LinearFusion(scale="none").policy(believed)) == [[1, 0, 2]]  # 5 + 2, 0 + 3, 1 + 1
    assert rankings_of(LinearFusion(columns=["belief", "score"], weights=[0.0, -1.0]).policy(believed)) == [[2, 1, 0]]


def test_fusion_refuses() -> None:
    part = fused(block([[3.0, 2.0]], {}), bad=[math.inf, 0.0])
    part = replace(part, candidates=part.candidates.with_columns(word=np.array(["a", "b"])))
    with pytest.raises(ConfigError, match=r"method.columns: found 'scroe'.*Did you mean 'score'"):
        Rrf(columns=["scroe"]).policy(part)
    with pytest.raises(ConfigError, match=r"method.weights: found 2; expected one for each of belief"):
        LinearFusion(weights=[1.0, 2.0]).policy(part)
    with pytest.raises(ConfigError, match=r"method.columns: found none"):
        Rrf(columns=[]).policy(part)
    with pytest.raises(ConfigError, match="finite"):
        Rrf(weights=[math.nan]).policy(part)
    for name in ("bad", "word"):
        with pytest.raises(InputError, match=f"{name}: found values that are infinite or no numbers"):
            Rrf(columns=[name]).policy(part)
    with pytest.raises(ConfigError, match=r"method\.k"):
        Rrf(-1.0)
    with pytest.raises(ConfigError, match=r"method\.scale"):
        LinearFusion("rank")


@given(rows=st.lists(VALUES | st.just([]), max_size=3))
def test_scales_twin(rows: list[list[float]]) -> None:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    value = np.array([one for row in rows for one in row])
    for scale in ("minmax", "zscore", "none"):
        found = scaled(indptr, value, scale)
        assert np.all(np.isfinite(found))
        for row, own in zip(rows, np.split(found, indptr[1:-1]) if rows else [], strict=True):
            known = [one for one in row if not math.isnan(one)]
            if not known:
                assert not np.any(own)
                continue
            filled = np.array([min(known) if math.isnan(one) else one for one in row])
            level = max(known) == min(known)
            if scale == "minmax":
                expected = np.full(len(row), 0.5) if level else (filled - min(known)) / (max(known) - min(known))
            elif scale == "zscore":
                expected = np.zeros(len(row)) if level else (filled - np.mean(known)) / np.std(known)
            else:
                expected = filled
            np.testing.assert_allclose(own, expected, atol=1e-12)
    assert np.all((ranks(indptr, value) == np.inf) == np.isnan(value))


def test_scales_of_wide_spreads() -> None:
    for scale in ("minmax", "zscore"):
        found = scaled(np.array([0, 3]), np.array([1e308, -1e308, 0.0]), scale)
        assert np.all(np.isfinite(found))
        assert found[0] - found[2] == pytest.approx(found[2] - found[1])


# diversification


@given(data=st.data(), n=st.integers(1, 7), weight=st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_mmr_twin(data: st.DataObject, n: int, weight: float) -> None:
    vector = np.array(data.draw(st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=n, max_size=n)), dtype=float)
    relevance = np.linspace(1.0, 0.0, n)
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    unit = vector / np.where(length > 0, length, 1)
    order = diverse(relevance, unit, weight, n).tolist()
    assert sorted(order) == list(range(n))
    for rank in range(n):

        def worth(d: int, shown: list[int] = order[:rank]) -> float:
            closest = max([0.0, *(round(float(unit[d] @ unit[e]), 12) for e in shown)])
            return (1 - weight) * relevance[d] - weight * closest

        assert worth(order[rank]) >= max(worth(d) for d in order[rank:]) - 1e-12


def test_mmr_takes_no_unknown_group_for_a_likeness() -> None:
    """Two documents of which nothing is known are not alike, nor one half of which is known more like another."""
    labels = ["A", None, None, "B", {"A": 0.5}, {"B": 0.5}, "A"]
    scores = [[7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]]
    found = [
        rankings_of(Mmr(0.6).policy(block(scores, {"g": alignment("g", labels, unknown, names)})))
        for unknown, names in (("count", ()), ("drop", ()), ("drop", ("A", "B", "unknown")))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0][0][:4] == [0, 1, 2, 3]
    apart = [["A", "unknown", "unknown"], ["A", None, None]]
    named = [rankings_of(Mmr(0.9).policy(block([[3.0, 2.0, 1.0]], {"g": alignment("g", one)}))) for one in apart]
    assert named == [[[0, 1, 2]]] * 2


def test_mmr_by_groups_and_columns() -> None:
    part = block([[4.0, 3.0, 2.0, 1.0]], {"g": alignment("g", ["A", "A", "B", None], "drop")})
    assert rankings_of(Mmr().policy(part)) == [[0, 2, 3, 1]]
    assert rankings_of(Mmr(0.0).policy(part)) == [[0, 1, 2, 3]]
    assert rankings_of(Mmr(0.9, cutoff=2).policy(part)) == [[0, 2, 1, 3]]
    both = replace(part, groups={**part.groups, "h": alignment("h", ["x", "y", "x", "x"])})
    assert rankings_of(Mmr(0.5, attributes=["h"]).policy(both))[0][:2] == [0, 1]
    plain = fused(block([[4.0, 3.0, 2.0]], {}), f=[1.0, 1.0, 0.0], h=[0.0, 0.0, 1.0])
    method = Mmr(0.7, similarity="columns", columns=["f", "h"])
    assert (method.tier, Mmr().tier) == ("metadata", "given_groups")
    assert rankings_of(method.policy(plain)) == [[0, 2, 1]]
    for options in ({"diversity_weight": 2.0}, {"similarity": "text"}, {"cutoff": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            Mmr(**options)


@given(data=st.data(), n=st.integers(1, 7), focus=st.sampled_from([0.3, 0.5, 1.0]))
def test_pm2_twin(data: st.DataObject, n: int, focus: float) -> None:
    covered = np.array(
        data.draw(st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 0.3, 0.7])] * 3), min_size=n, max_size=n))
    )
    share = np.array(data.draw(st.sampled_from([(0.5, 0.3, 0.2), (1.0, 0.0, 0.0), (0.4, 0.0, 0.6)])))
    found = proportional(covered, share, focus, n).tolist()
    seats, order = [0.0] * 3, []
    left = [d for d in range(n) if any(covered[d, g] > 0 and share[g] > 0 for g in range(3))]
    while left:
        q = [share[g] / (2 * seats[g] + 1) for g in range(3)]
        served = [g for g in range(3) if share[g] > 0 and any(covered[d, g] > 0 for d in left)]
        turn = max(served, key=lambda g: (q[g], -g))

        def worth(d: int, q: list[float] = q, turn: int = turn) -> float:
            rest = sum(q[g] * covered[d, g] for g in range(3) if g != turn)
            return focus * q[turn] * covered[d, turn] + (1 - focus) * rest

        best = [d for d in left if covered[d, turn] > 0]
        chosen = found[len(order)]
        assert chosen in best
        assert worth(chosen) >= max(map(worth, best)) - 1e-12
        order.append(chosen)
        left.remove(chosen)
        own = [covered[chosen, g] if share[g] > 0 else 0.0 for g in range(3)]
        seats = [seat + one / sum(own) for seat, one in zip(seats, own, strict=True)]
    assert found == order


def test_pm2_gives_seats_in_proportion() -> None:
    labels = ["A"] * 30 + ["B"] * 30
    rho = [0.5] * 60
    part = block([rho], {"g": alignment("g", labels)}, [rho], target=Population({"A": 0.75, "B": 0.25}))
    first = rankings_of(Pm2().policy(part))[0][:20]
    assert sum(d < 30 for d in first) == 15
    two = replace(part, groups={**part.groups, "h": alignment("h", list("xy") * 30)}, target=None)
    assert sorted(rankings_of(Pm2().policy(two))[0]) == list(range(60))
    assert rankings_of(Pm2(attributes=["g"]).policy(two)) == rankings_of(Pm2().policy(replace(two, groups=part.groups)))
    outside = world([[3.0, 2.0, 1.0]], [None, "A", "B"])
    assert rankings_of(Pm2().policy(outside)) == [[1, 2, 0]]
    assert rankings_of(Pm2(cutoff=1).policy(outside)) == [[1, 0, 2]]
    with pytest.raises(ConfigError, match=r"method\.focus"):
        Pm2(focus=-0.1)
