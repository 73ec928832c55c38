"""Methods of teams at TREC Fair Ranking 2020: noise, communities and shifting fusion against plain twins."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from constraint_worlds import rankings_of
from hypothesis import given
from hypothesis import strategies as st
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure import GERR
from rerankers.methods.fusion.communities import communities, document_clusters
from rerankers.methods.macewan_fusion import MacewanFusion, shifting
from rerankers.methods.mtg_clusters import MtgClusters, one_each_first
from rerankers.methods.mtg_noise import MtgNoise
from rerankers.values import Block

SCORES = st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5, -3.0]), min_size=1, max_size=6)


def fused(part: Block, **columns: list[float]) -> Block:
    known = {name.replace("__", ":"): np.array(values) for name, values in columns.items()}
    return replace(part, candidates=part.candidates.with_columns(**known))


# noise


@given(scores=SCORES, noise=st.sampled_from([0.0, 1.0, 4.0]))
def test_noise_twin(scores: list[float], noise: float) -> None:
    part = replace(block([scores], {}), seed=3)
    found = rankings_of(MtgNoise(noise, draws=7).policy(part))
    n = len(scores)
    reach = noise * (max(scores) - min(scores)) / n
    drawn = uniforms(stream_key(3, part.stream[0], "mtg_noise"), 0, 7, n)
    for ranking, own in zip(found, drawn, strict=True):
        noisy = [scores[d] + reach * own[d] for d in range(n)]
        assert sorted(ranking) == list(range(n))
        assert all(noisy[one] >= noisy[other] - 1e-12 for one, other in pairwise(ranking))


def test_noise_moves_only_what_is_close() -> None:
    scores = [10.0, 9.5, 9.4, 0.0]  # mean distance 2.5
    found = rankings_of(MtgNoise(draws=300).policy(block([scores], {})))
    assert {ranking[3] for ranking in found} == {3}
    assert {tuple(ranking[:3]) for ranking in found} == {
        (a, b, c) for a in range(3) for b in range(3) for c in range(3) if len({a, b, c}) == 3
    }
    exposure = MtgNoise(draws=4000).policy(block([scores], {})).exposure(GERR().bind(np.zeros(4), np.array([0, 4])))
    assert exposure is not None
    assert exposure.value[0] > exposure.value[1] > exposure.value[3]
    two = MtgNoise(draws=20_000).policy(block([[1.0, 0.0]], {}))  # reach .5: they never change places
    assert set(map(tuple, rankings_of(two))) == {(0, 1)}
    wide = rankings_of(MtgNoise(noise=4.0, draws=20_000).policy(block([[1.0, 0.0]], {})))  # of U(0, 2): P = 1/8
    assert np.mean([ranking == [1, 0] for ranking in wide]) == pytest.approx(1 / 8, abs=0.01)
    assert set(map(tuple, rankings_of(MtgNoise().policy(block([[1.0, 1.0]], {}))))) == {(0, 1)}
    rankings_of(MtgNoise(draws=2).policy(block([[1.7e308, -1.7e308, 0.0], []], {})))


# communities


def test_communities_of_two_cliques() -> None:
    papers = [(0, (1, 2, 3)), (1, (1, 2)), (2, (2, 3)), (3, (7, 8, 9)), (4, (7, 9)), (5, (8, 9)), (6, (3, 7))]
    item = np.array([d for d, authors in papers for _ in authors])
    author = np.array([a for _, authors in papers for a in authors])
    for seed in range(5):
        found = communities(item, author, 1.0, seed)
        assert [found[a] for a in (1, 2, 3, 7, 8, 9)] == [0, 0, 0, 1, 1, 1]
    cluster = document_clusters(item, author, found, 8)
    assert cluster[:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert cluster[6] == 0  # one author of each, equally large: the lower number
    assert cluster[7] not in cluster[:7]  # no author: alone
    assert communities(np.empty(0, int), np.empty(0, int), 1.0, 0) == {}
    assert document_clusters(np.empty(0, int), np.empty(0, int), {}, 2).tolist() == [1, 2]
    assert document_clusters(np.array([0, 0]), np.array([4, 5]), {4: 0, 5: 1, 6: 1}, 1).tolist() == [1]  # the larger


@given(data=st.data(), n=st.integers(1, 7), draws=st.integers(1, 3))
def test_one_each_first_twin(data: st.DataObject, n: int, draws: int) -> None:
    cluster = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    rankings = np.array([data.draw(st.permutations(range(n))) for _ in range(draws)])
    for ranking, found in zip(rankings.tolist(), one_each_first(rankings, cluster).tolist(), strict=True):
        seen: set[int] = set()
        first = [d for d in ranking if cluster[d] not in seen and not seen.add(cluster[d])]  # type: ignore[func-returns-value]
        assert found == first + [d for d in ranking if d not in first]


def test_clusters_by_authors_and_by_groups() -> None:
    written = alignment("authors", [{"x": 1.0, "y": 1.0}, {"x": 1.0}, {"z": 1.0}, None, {"y": 1.0}], "drop")
    part = block([[5.0, 4.0, 3.0, 2.0, 1.0]], {"authors": written})
    policy, counts = MtgClusters(noise=0.0, draws=2).counted(part)
    assert rankings_of(policy) == [[0, 2, 3, 1, 4]] * 2
    assert counts == {"communities": 3, "documents_without_entity": 1}
    assert MtgClusters().tier == "metadata"
    assert MtgClusters("g").tier == "given_groups"
    grouped = block([[5.0, 4.0, 3.0]], {"g": alignment("g", ["A", "A", "B"])})
    assert rankings_of(MtgClusters("g", noise=0.0, draws=1).policy(grouped)) == [[0, 2, 1]]
    with pytest.raises(ConfigError, match=r"method\.entities: found authors; expected one of authors, g, which"):
        MtgClusters().policy(grouped)
    for options in ({"noise": -1.0}, {"resolution": 0.0}, {"draws": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            MtgClusters(**options)


# shifting fusion


@given(data=st.data(), n=st.integers(1, 5), merge=st.sampled_from(["base", "norm"]), times=st.integers(1, 4))
def test_fusion_twin(data: st.DataObject, n: int, merge: str, times: int) -> None:
    values = st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0, math.nan]), min_size=n, max_size=n)
    title, abstract = data.draw(values), data.draw(values)
    part = fused(block([[0.0] * n], {}), run__title=title, run__abstract=abstract)
    policy, counts = MacewanFusion(merge, ["run:title", "run:abstract"], times).counted(part)
    assert counts["documents_missing"] == sum(map(math.isnan, title + abstract))

    def keys(column: list[float]) -> list[float]:
        known = sorted({value for value in column if not math.isnan(value)}, reverse=True)
        if merge == "base":
            return [known.index(v) + 1.0 if not math.isnan(v) else len(known) + 1.0 for v in column]
        if not known:
            return [0.0] * n
        low, high = known[-1], known[0]
        return [0.0 if math.isnan(v) else -0.5 if high == low else -(v - low) / (high - low) for v in column]

    one, other = keys(title), keys(abstract)
    found = rankings_of(policy)
    assert len(found) == times
    for t, ranking in enumerate(found):
        w = t / (times - 1) if times > 1 else 0.0
        key = [(1 - w) * one[d] + w * other[d] for d in range(n)]
        assert sorted(ranking) == list(range(n))
        assert all(key[a] <= key[b] + 1e-9 for a, b in pairwise(ranking))


def test_fusion_shifts_and_draws_ties_anew() -> None:
    np.testing.assert_allclose(shifting(3, 2), [[1, 0], [0.5, 0.5], [0, 1]])
    np.testing.assert_allclose(shifting(5, 3)[1], [0.5, 0.5, 0])
    np.testing.assert_array_equal(shifting(1, 2), [[1, 0]])
    part = fused(block([[0.0] * 3], {}), run__x=[3.0, 2.0, 1.0], run__y=[1.0, 2.0, 3.0])
    method = MacewanFusion(columns=["run:x", "run:y"], impressions=101)
    found = rankings_of(method.policy(part))
    assert found[:50] == [[0, 1, 2]] * 50
    assert found[51:] == [[2, 1, 0]] * 50
    tied = rankings_of(MacewanFusion(impressions=200).policy(block([[1.0, 1.0, 0.0]], {})))
    assert {tuple(ranking) for ranking in tied} == {(0, 1, 2), (1, 0, 2)}
    assert MacewanFusion(impressions=1).policy(block([[], [1.0]], {})).sample(1, 0).item.tolist() == [0]
    for options in ({"merge": "sum"}, {"impressions": 0}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            MacewanFusion(**options)
    with pytest.raises(ConfigError, match=r"method\.columns"):
        MacewanFusion(columns=["run:z"]).policy(part)
