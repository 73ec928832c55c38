"""Pools of variants: counts, bounds against all ways of judging, and exact growth against all orders."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.queries import pool_growth, pool_overlap_bounds
from rerankers.queries.pool_bounds import MEASURES, RELEVANT, bounds, overlaps, plug_in, unjudged_shares
from rerankers.queries.pools import TopicPools, keys_of, tally, width_of
from rerankers.queries.ranked import Ranked
from rerankers.queries.rarefaction import equal_number_overlap, split_half_overlap


def coded(runs: dict[str, list[str]]) -> list[Ranked]:
    return [Ranked(np.array([int(doc[1:]) for doc in docs])) for docs in runs.values()]


@pytest.mark.shared_data
def test_reference_values(shared: Path) -> None:
    cases = json.loads((shared / "oracles/text-bias-and-queries/pools.json").read_text())["cases"]
    assert len(cases) == 2
    human = [coded(case["runs_human"]) for case in cases]
    generated = [coded(case["runs_generated"]) for case in cases]
    width = width_of(dict(enumerate(human)), dict(enumerate(generated)))
    pools = [TopicPools.of(side, width) for side in (human, generated)]
    judged = [np.array([int(doc[1:]) for doc in case["qrels"]]) for case in cases]
    good = [np.array([int(doc[1:]) for doc, grade in case["qrels"].items() if grade > 0]) for case in cases]
    depths = [row["k"] for row in cases[0]["by_depth"]]
    counted = tally(*pools, keys_of(judged, width), keys_of(good, width), depths)
    tables = {**overlaps(counted), **unjudged_shares(counted)}
    for topic, case in enumerate(cases):
        relevant = [doc for doc, grade in case["qrels"].items() if grade > 0]
        for column, row in enumerate(case["by_depth"]):
            sets = [
                {doc for docs in case[runs].values() for doc in docs[: row["k"]]}
                for runs in ("runs_human", "runs_generated")
            ]
            found = pool_overlap_bounds(*sets, case["qrels"], relevant)
            for name, value in row.items():
                if name != "k":
                    assert found[name] == (None if value is None else pytest.approx(value, abs=1e-15)), name
            for name, table in tables.items():
                assert (None if np.isnan(table[topic, column]) else table[topic, column]) == found[name]
            for name in RELEVANT:
                ends = [end[topic, column] for end in bounds(counted, name)]
                assert [None if np.isnan(end) else end for end in ends] == found[f"{name}_bounds"]
        for name, value in case["expected_pool_growth"].items():
            side, depth = (0 if name[0] == "H" else 1), int(name[2:])
            keys = pools[side].best()[0]
            counts = pools[side].variants(keys[keys // width == topic], depth)
            assert pool_growth(counts, len(value)) == pytest.approx(value, abs=1e-13)


ids = st.sets(st.integers(0, 7), max_size=6)


@settings(max_examples=60)
@given(ids, ids, ids, ids)
def test_bounds_are_the_extremes_over_all_judgments(
    human: set[int], generated: set[int], judged: set[int], relevant: set[int]
) -> None:
    relevant &= judged
    found = pool_overlap_bounds(human, generated, judged, relevant)
    open_docs = sorted((human | generated) - judged)
    values: dict[str, list[float]] = {name: [] for name in RELEVANT}
    for way in product([False, True], repeat=len(open_docs)):
        good = relevant | {doc for doc, yes in zip(open_docs, way, strict=True) if yes}
        one, two = human & good, generated & good
        for name, whole in zip(RELEVANT, (one | two, one, two), strict=True):
            if whole:
                values[name].append(len(one & two) / len(whole))
    assert found["judgments_needed"] == len(open_docs)
    for name, met in values.items():
        low, high = found[f"{name}_bounds"]
        assert low is None or low == pytest.approx(min(met))
        assert high is None or high == pytest.approx(max(met))
        if found[name] is not None:
            assert low <= found[name] <= high
            estimate = found[f"{name}_plug_in"]
            assert estimate is None or low - 1e-12 <= estimate <= high + 1e-12


def test_plug_in_by_hand() -> None:
    # only human: 1 of 2 judged relevant, 1 unjudged; only generated: 0 of 1, 2 unjudged; both: 2 of 3, 1 unjudged
    human, generated = {"h1", "h2", "h3", "b1", "b2", "b3", "b4"}, {"g1", "g2", "g3", "b1", "b2", "b3", "b4"}
    found = pool_overlap_bounds(human, generated, {"h1", "h2", "g1", "b1", "b2", "b3"}, {"h1", "b1", "b2"})
    assert found["jaccard_rel_plug_in"] == pytest.approx((2 + 2 / 3) / (3 + 1 / 2 + 2 / 3))
    assert found["cov_h_by_g_rel_plug_in"] == pytest.approx((2 + 2 / 3) / (3 + 1 / 2 + 2 / 3))
    assert found["cov_g_by_h_rel_plug_in"] == 1.0
    assert found["jaccard_rel_bounds"] == [2 / 6, 3 / 4]
    assert (found["unjudged_h"], found["unjudged_g"], found["unjudged_both"]) == (1, 2, 1)
    nothing = pool_overlap_bounds({"h1", "h2", "b1"}, {"b1"}, {"b1"}, {"b1"})
    assert nothing["jaccard_rel_plug_in"] is None  # no judged document only in the human pool


def test_bounds_of_empty_pools_and_wrong_judgments() -> None:
    found = pool_overlap_bounds([], [], [], [])
    assert all(found[name] is None for name in MEASURES)
    assert found["judgments_needed"] == 0
    assert pool_overlap_bounds(["a", "a"], ["a"], [], [])["jaccard_rel_bounds"] == [None, 1.0]
    with pytest.raises(InputError, match="relevant: found 1 documents that are not judged"):
        pool_overlap_bounds(["a"], ["b"], ["a"], ["a", "b"])


rankings = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), max_size=4)


@given(st.lists(st.tuples(rankings, rankings, ids, ids), min_size=1, max_size=3))
def test_tally_is_that_of_sets(topics: list[tuple[list[list[int]], list[list[int]], set[int], set[int]]]) -> None:
    depths = [5, 1, 3]
    sides = [[[Ranked(np.array(docs, dtype=np.int64)) for docs in one[at]] for one in topics] for at in (0, 1)]
    width = width_of(*(dict(enumerate(side)) for side in sides))
    pools = [TopicPools.of(side, width) for side in sides]
    judged = keys_of([np.array(sorted(one[2] | one[3]), dtype=np.int64) for one in topics], width)
    relevant = keys_of([np.array(sorted(one[3]), dtype=np.int64) for one in topics], width)
    found = tally(*pools, judged, relevant, depths)
    for row, (human, generated, known, good) in enumerate(topics):
        for column, depth in enumerate(depths):
            one, two = ({doc for docs in side for doc in docs[:depth]} for side in (human, generated))
            for sizes, pool in ((found.human, one), (found.generated, two), (found.both, one & two)):
                assert sizes.all[row, column] == len(pool)
                assert sizes.relevant[row, column] == len(pool & good)
                assert sizes.unjudged[row, column] == len(pool - known - good)
            keys = pools[0].best()[0]
            keys = keys[keys // max(width, 1) == row]
            counts = [sum(key % width in docs[:depth] for docs in human) for key in keys.tolist()]
            assert pools[0].variants(keys, depth).tolist() == counts
    assert np.isnan(plug_in(found, "jaccard_rel")).shape == (len(topics), 3)


def test_pools_of_other_topics_do_not_compare() -> None:
    with pytest.raises(InputError, match="docs: found codes up to 4611686018427387904"):
        TopicPools.of([[], []], 2**62 + 1)
    with pytest.raises(InputError, match="1 topics of width 2 and 2 of width 2"):
        tally(TopicPools.of([[]], 2), TopicPools.of([[], []], 2), np.zeros(0, np.int64), np.zeros(0, np.int64), [1])


@given(st.integers(1, 5), st.lists(st.lists(st.integers(0, 6), unique=True), min_size=5, max_size=5))
def test_growth_is_the_mean_over_all_choices(n: int, docs: list[list[int]]) -> None:
    variants = [set(one) for one in docs[:n]]
    counts = [sum(doc in one for one in variants) for doc in range(7)]
    for m, found in enumerate(pool_growth(counts, n), 1):
        sizes = [len(set().union(*some)) for some in combinations(variants, m)]
        assert found == pytest.approx(np.mean(sizes), abs=1e-12)
    for m in range(n // 2 + 1):
        sizes, shared = [], []
        for one in combinations(range(n), m):
            for two in combinations(sorted(set(range(n)) - set(one)), m):
                pools = [set().union(*(variants[at] for at in some)) for some in (one, two)]
                sizes.append(len(pools[0]))
                shared.append(len(pools[0] & pools[1]))
        half = split_half_overlap(counts, n, m)
        assert half.human == half.generated == pytest.approx(np.mean(sizes), abs=1e-12)
        assert half.both == pytest.approx(np.mean(shared), abs=1e-12)


@given(st.integers(1, 4), st.integers(1, 3), st.lists(st.lists(st.integers(0, 6), unique=True), min_size=7, max_size=7))
def test_equal_numbers_are_the_mean_over_all_choices(n: int, other: int, docs: list[list[int]]) -> None:
    sides = ([set(one) for one in docs[:n]], [set(one) for one in docs[4 : 4 + other]])
    counts = [[sum(doc in one for one in side) for doc in range(7)] for side in sides]
    for m in range(min(n, other) + 1):
        pools = [[set().union(*some) for some in combinations(side, m)] for side in sides]
        shared = np.mean([len(one & two) for one, two in product(*pools)])
        union = np.mean([len(one | two) for one, two in product(*pools)])
        found = equal_number_overlap(counts[0], n, counts[1], other, m)
        assert found.both == pytest.approx(shared, abs=1e-12)
        expected = None if union == 0 else pytest.approx(shared / union, abs=1e-12)
        assert found.jaccard_of_expectations == expected
        sizes = [np.mean([len(one) for one in side]) for side in pools]
        assert found.coverage_of_human == (None if sizes[0] == 0 else pytest.approx(shared / sizes[0], abs=1e-12))
        assert found.coverage_of_generated == (None if sizes[1] == 0 else pytest.approx(shared / sizes[1], abs=1e-12))


def test_growth_of_very_many_variants_is_exact() -> None:
    n, counts = 4000, np.array([1, 2, 17, 2000, 3999, 4000, 0])
    found = pool_growth(counts, n)
    assert found.shape == (n,)
    assert found[-1] == 6.0
    for m in (1, 2, 10, 2000, 3999):
        exact = sum(1 - Fraction(comb(n - int(c), m), comb(n, m)) for c in counts)
        assert abs(Fraction(float(found[m - 1])) - exact) / exact < Fraction(1, 10**12)
    assert np.all(np.diff(found) >= 0)


def test_growth_edges_and_wrong_counts() -> None:
    assert pool_growth([], 3).tolist() == [0.0, 0.0, 0.0]
    assert pool_growth([], 0).shape == (0,)
    assert pool_growth([0, 0], 2).tolist() == [0.0, 0.0]
    assert pool_growth([1], 1).tolist() == [1.0]
    assert pool_growth({"d1": 2, "d2": 1}.values(), 2).tolist() == [1.5, 2.0]
    with pytest.raises(InputError, match="counts: found numbers from 1 to 4; expected at least 0, at most n = 3"):
        pool_growth([1, 4], 3)
    with pytest.raises(InputError, match="counts: found numbers from -1"):
        pool_growth([-1], 3)
    with pytest.raises(InputError, match="counts: found float64 of shape"):
        pool_growth([0.5], 3)
    with pytest.raises(InputError, match=r"n: found -1; expected a whole number"):
        pool_growth([], -1)
    with pytest.raises(InputError, match="m: found 2; expected a whole number from 0 to 1"):
        split_half_overlap([1], 3, 2)
    with pytest.raises(InputError, match="generated: found 2 counts"):
        equal_number_overlap([1], 1, [1, 1], 1, 1)


def test_rankings_say_what_is_wrong() -> None:
    for docs, scores, message in (
        ([1, 1], None, "docs: found a document more than once"),
        ([-1], None, "docs: found the code -1"),
        ([[1]], None, "docs: found int64 of shape"),
        ([0.5], None, "docs: found float64"),
        ([1, 2], [1.0], r"scores: found shape \(1,\)"),
        ([1, 2], [1.0, 2.0], "scores: found 1 before 2 at rank 1"),
        ([1, 2], [1.0, np.nan], "scores: found NaN"),
    ):
        with pytest.raises(InputError, match=message):
            Ranked(np.array(docs), None if scores is None else np.array(scores))
    tied = Ranked(np.arange(5), np.array([3.0, 2.0, 2.0, 2.0, 1.0]))
    assert tied.tie_sizes().tolist() == [1, 3, 1]
    assert tied.tie_sizes(3).tolist() == [1, 2]
    assert tied.tie_sizes(2) is None
    assert len(Ranked(np.array([]))) == 0
