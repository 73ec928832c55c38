"""The InfoSeeking rule against a plain twin, and its softmax."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers.methods.infoseeking_kl import InfoseekingKl
from rerankers.methods.targets import Population
from rerankers.values import Block


def order(method: InfoseekingKl, part: Block) -> list[int]:
    items: list[int] = method.policy(part).rankings.item.tolist()
    return items


def prefix_cost(prefix: list[int], counts: np.ndarray, ideal: np.ndarray) -> float:
    total = counts[prefix].sum(axis=0)
    if total.sum() == 0:
        return 0.0
    p = total / total.sum()
    return float(sum(x * (np.log(x / q) if q > 0 else np.inf) for x, q in zip(p, ideal, strict=True) if x > 0))


def relative_cost(score: np.ndarray, published: bool) -> np.ndarray:
    if not published:
        return np.ones(len(score)) if np.ptp(score) == 0 else (score.max() - score) / np.ptp(score)
    high, low = max(score.max(), 0.0), max(np.where(score == -1, 0.0, score).min(), 0.0)
    return np.array([1.0 if one == -1 or high == low else (high - one) / (high - low) for one in score])


@given(data=st.data(), n=st.integers(1, 9), published=st.booleans(), weight=st.sampled_from([0.0, 0.25, 0.6, 1.0]))
def test_twin(data: st.DataObject, n: int, published: bool, weight: float) -> None:
    authors = st.dictionaries(st.sampled_from(["A", "B", "unknown"]), st.sampled_from([1.0, 2.0, 3.0]), max_size=3)
    labels = [
        data.draw(st.lists(authors, min_size=n, max_size=n), label=f"authors of attribute {attribute}")
        for attribute in range(2)
    ]
    values = st.sampled_from([-12.27, -1.0, -0.948, 0.0, 1.0, 2.5, 7.0])
    score = np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
    # documents without an entry would be wholly unknown
    groups = {f"g{at}": alignment(f"g{at}", one, "drop", ["A", "B", "unknown"]) for at, one in enumerate(labels)}
    method = InfoseekingKl(weight, published=published)
    chosen = order(method, block([score.tolist()], groups))
    assert sorted(chosen) == list(range(n))
    relevance = weight * relative_cost(score, published)
    counts = [np.array([[one.get(g, 0.0) for g in "AB"] for one in rows]) for rows in labels]
    ideals = []
    for rows, known in zip(labels, counts, strict=True):
        whole = sum(sum(one.values()) for one in rows) if published else known.sum()
        ideals.append(known.sum(axis=0) / whole if whole > 0 else np.zeros(2))
    by_score = np.argsort(-score, kind="stable").tolist()
    for rank in range(n):
        costs = {}
        for d in chosen[rank:]:
            fair = sum(
                (1 - weight) / 2 * prefix_cost([*chosen[:rank], d], known, ideal)
                for known, ideal in zip(counts, ideals, strict=True)
                if weight < 1
            )
            costs[d] = relevance[d] + fair
        assert costs[chosen[rank]] <= min(costs.values()) + 1e-12
        same = [d for d in costs if np.array_equal(counts[0][d], counts[0][chosen[rank]])]
        same = [d for d in same if np.array_equal(counts[1][d], counts[1][chosen[rank]])]
        same = [d for d in same if relevance[d] == relevance[chosen[rank]]]
        assert chosen[rank] == min(same, key=by_score.index), "ties by score"


def test_ideals() -> None:
    labels = ["A", "A", "A", "B", "B", "A", "A", "A", "A"]
    part = block([[5.0, 4, 3, 2, 1]], {"g": alignment("g", labels)}, target=Population({"B": 1.0}))
    assert order(InfoseekingKl(0.0), part)[:5] == [0, 3, 1, 4, 2]
    assert order(InfoseekingKl(0.0, ideal="corpus"), part)[:5] == [0, 3, 1, 2, 4]
    assert order(InfoseekingKl(0.0, ideal="target"), part)[:2] == [3, 4]
    assert order(InfoseekingKl(1.0), part) == [0, 1, 2, 3, 4]
    assert order(InfoseekingKl(0.5, attribute_weights=[0.0], ideal="target"), part) == [0, 1, 2, 3, 4]


def test_stochastic_rankings_follow_the_softmax() -> None:
    labels, score, temperature = ["A", "B", "A"], np.array([1.0, 0.8, 0.0]), 0.5
    part = block([score.tolist()], {"g": alignment("g", labels)}, seed=3)
    method = InfoseekingKl(0.6, stochastic=True, temperature=temperature, draws=4000)
    rankings = method.policy(part).rankings
    assert rankings.counts.tolist() == [4000]
    relevance, counts = 0.6 * relative_cost(score, False), np.array([[1, 0], [0, 1], [1, 0]])
    for want in itertools.permutations(range(3)):
        chance, prefix = 1.0, list[int]()
        for d in want:
            left = [other for other in range(3) if other not in prefix]
            cost = [relevance[o] + 0.4 * prefix_cost([*prefix, o], counts, np.array([2, 1]) / 3) for o in left]
            mass = np.exp(-np.array(cost) / temperature)
            chance *= mass[left.index(d)] / mass.sum()
            prefix.append(d)
        seen = np.all(rankings.item.reshape(-1, 3) == want, axis=1).mean()
        assert seen == pytest.approx(chance, abs=4 * (chance * (1 - chance) / 4000) ** 0.5 + 1e-9)
    np.testing.assert_array_equal(method.policy(part).rankings.item, rankings.item)
    cold = InfoseekingKl(0.6, stochastic=True, temperature=1e-9, draws=3).policy(part).rankings
    assert np.all(cold.item.reshape(3, 3) == order(InfoseekingKl(0.6), part))


@pytest.mark.parametrize("stochastic", [False, True])
def test_odd_rows(stochastic: bool) -> None:
    labels = ["A", None, "B", None, None, "A"]
    rows = [[1.0, 1.0, 1.0], [], [2.0], [0.1, 0.1]]
    for unknown in ("count", "drop", "spread"):
        for published in (False, True):
            part = block(rows, {"g": alignment("g", labels, unknown)})
            policy = InfoseekingKl(stochastic=stochastic, draws=3, published=published).policy(part)
            assert policy.sample(2, 1).counts.tolist() == [2, 2, 2, 2]
            for row, length in enumerate([3, 0, 1, 2]):
                first = policy.rankings.query_ptr[row]
                own = policy.rankings.item[policy.rankings.item_ptr[first] : policy.rankings.item_ptr[first + 1]]
                assert sorted(own.tolist()) == list(range(length))
            alone = Block(part.candidates.rows(3, 4), part.stream[3:4], part.groups)
            again = InfoseekingKl(stochastic=stochastic, draws=3, published=published).policy(alone).rankings
            np.testing.assert_array_equal(again.item, policy.rankings.item[-len(again.item) :])


def formula(score: list[float], labels: list[str], ideal: dict[str, float] | None, weight: float) -> list[int]:
    """Rank by the published rule as it is written, looking at every document that is left."""
    counts = np.array([[label == group for group in "AB"] for label in labels], dtype=float)
    wanted = counts.mean(axis=0) if ideal is None else np.array([ideal[group] for group in "AB"])
    relevance = weight * relative_cost(np.array(score), True)
    left, chosen = np.argsort(-np.array(score), kind="stable").tolist(), list[int]()
    while left:
        cost = [relevance[d] + (1 - weight) * prefix_cost([*chosen, d], counts, wanted) for d in left]
        chosen.append(left.pop(int(np.argmin(cost))))
    return chosen


@given(
    score=st.lists(st.integers(-2000, 2000).map(lambda x: x / 100), min_size=1, max_size=8),
    data=st.data(),
    ideal=st.sampled_from([None, {"A": 0.0, "B": 1.0}, {"A": 0.7, "B": 0.3}]),
)
def test_published_costs_of_negative_scores(score: list[float], data: st.DataObject, ideal: object) -> None:
    """They rise above that of documents that were not found, so that scores and costs have different orders."""
    labels = data.draw(st.lists(st.sampled_from("AB"), min_size=len(score), max_size=len(score)))
    target = None if ideal is None else Population(ideal)  # type: ignore[arg-type]
    part = block([score], {"g": alignment("g", labels, names="AB")}, target=target)
    method = InfoseekingKl(0.6, published=True, ideal="candidates" if ideal is None else "target")
    present = {} if ideal is None else {name: share for name, share in ideal.items() if name in labels}  # type: ignore[attr-defined]
    if ideal is not None and not sum(present.values()):
        return  # no target
    aimed = None if ideal is None else {name: present.get(name, 0.0) / sum(present.values()) for name in "AB"}
    chosen, expected = order(method, part), formula(score, labels, aimed, 0.6)
    if chosen != expected:  # only where two costs are equal but for rounding
        assert sorted(chosen) == sorted(expected)
        at = next(i for i, (one, other) in enumerate(zip(chosen, expected, strict=True)) if one != other)
        counts = np.array([[label == group for group in "AB"] for label in labels], dtype=float)
        wanted = counts.mean(axis=0) if aimed is None else np.array([aimed[group] for group in "AB"])
        relevance = 0.6 * relative_cost(np.array(score), True)
        costs = [
            relevance[d] + 0.4 * prefix_cost([*chosen[:at], d], counts, wanted) for d in (chosen[at], expected[at])
        ]
        assert costs[0] == pytest.approx(costs[1], abs=1e-12)


def test_one_kind_of_published_costs() -> None:
    part = block([[-1.0, -0.948, -12.27, 2.01]], {"g": alignment("g", "AAAA")})
    assert order(InfoseekingKl(published=True), part) == [3, 0, 1, 2]
    for score in ([2.3e-309, -2.0], [1e308, -1e308]):  # beyond what numbers hold
        part = block([score], {"g": alignment("g", "AA")})
        assert order(InfoseekingKl(published=True), part) == [0, 1]
        assert order(InfoseekingKl(0.0, published=True), part) == [0, 1]
    # all of infinite cost: by score
    labels, target = list("AAAB"), Population({"A": 0.0, "B": 1.0})
    part = block([[-1.0, -0.5, 3.0, 1.0]], {"g": alignment("g", labels)}, target=target)
    assert order(InfoseekingKl(published=True, ideal="target"), part) == [3, 2, 1, 0]


def test_groups_that_the_ideal_does_not_have_come_last() -> None:
    part = block([[3.0, 2, 1, 0]], {"g": alignment("g", list("AABB"))}, target=Population({"A": 0.0, "B": 1.0}))
    assert order(InfoseekingKl(0.6, ideal="target"), part) == [2, 3, 0, 1]
    drawn = InfoseekingKl(0.6, ideal="target", stochastic=True, draws=20).policy(part).rankings.item.reshape(20, 4)
    assert np.all(np.sort(drawn[:, :2], axis=1) == [2, 3])


def test_messages() -> None:
    with pytest.raises(ConfigError, match=r"method.relevance_weight: found 2\.0"):
        InfoseekingKl(2.0)
    with pytest.raises(ConfigError, match=r"method.attribute_weights: found -1\.0"):
        InfoseekingKl(attribute_weights=[-1.0])
    with pytest.raises(ConfigError, match=r"method.ideal: found 'query'"):
        InfoseekingKl(ideal="query")
    with pytest.raises(ConfigError, match=r"method.temperature: found 0\.0"):
        InfoseekingKl(temperature=0.0)
    with pytest.raises(ConfigError, match=r"method.draws: found 0"):
        InfoseekingKl(draws=0)
    part = block([[1.0]], {"g": alignment("g", ["A"])})
    with pytest.raises(ConfigError, match=r"method.attribute_weights: found 2; expected one for each of g"):
        InfoseekingKl(attribute_weights=[0.1, 0.2]).policy(part)
