"""Dominance, fronts, ranks, hypervolume and crowding against brute force and published implementations."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerankers._base.errors import InputError
from rerankers.queries.crowding import crowding, least_crowded
from rerankers.queries.hypervolume import hypervolume
from rerankers.queries.pareto import dominance_counts, pareto_mask, pareto_ranks

# few values, so that equal rows and equal coordinates are common
GRID = st.integers(0, 3).map(float)
POINTS = st.tuples(st.integers(0, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=GRID)
)


def beats(a, b) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True)) and any(x > y for x, y in zip(a, b, strict=True))


def peeled(points) -> list[int]:
    left, ranks, rank = set(range(len(points))), [0] * len(points), 0
    while left:
        rank += 1
        front = {i for i in left if not any(beats(points[j], points[i]) for j in left)}
        for i in front:
            ranks[i] = rank
        left -= front
    return ranks


def inclusion_exclusion(points) -> float:
    points = np.unique(np.maximum(points, 0.0), axis=0)
    return sum(
        (-1) ** (size + 1) * float(np.prod(np.min(points[list(chosen)], axis=0)))
        for size in range(1, len(points) + 1)
        for chosen in combinations(range(len(points)), size)
    )


@pytest.fixture
def cases(shared: Path):
    return json.loads((shared / "oracles/text-bias-and-queries/pareto.json").read_text())["cases"]


@pytest.mark.shared_data
def test_published_values(cases) -> None:
    for case in cases:
        if case.get("kind") == "method_comparison":
            assert hypervolume(case["A"]) == pytest.approx(case["hv_A"], abs=1e-9)
            assert hypervolume(case["B"]) == pytest.approx(case["hv_B"], abs=1e-9)
            continue
        points = case["objectives_maximised"]
        assert pareto_mask(points).tolist() == case["front_mask"]
        assert pareto_ranks(points).tolist() == case["rank"]
        dominates, dominated_by = dominance_counts(points)
        assert dominates.tolist() == case["dominates_count"]
        assert dominated_by.tolist() == case["dominated_by_count"]
        if "hypervolume_ref0" in case:
            assert hypervolume(points) == pytest.approx(case["hypervolume_ref0"], abs=1e-9)


@given(POINTS)
def test_brute_force(points) -> None:
    expected = [not any(beats(other, one) for other in points) for one in points]
    assert pareto_mask(points).tolist() == expected
    assert pareto_ranks(points).tolist() == peeled(points)
    dominates, dominated_by = dominance_counts(points)
    assert dominates.tolist() == [sum(beats(one, other) for other in points) for one in points]
    assert dominated_by.tolist() == [sum(beats(other, one) for other in points) for one in points]


@settings(max_examples=60)
@given(st.tuples(st.integers(0, 7), st.integers(1, 5)).flatmap(lambda s: arrays(np.float64, s, elements=GRID)))
def test_hypervolume_is_inclusion_and_exclusion(points) -> None:
    assert hypervolume(points) == pytest.approx(inclusion_exclusion(points), abs=1e-9)


def test_many_points_in_parts() -> None:
    # more than one part of 256, and more than one part of comparisons
    points = np.random.default_rng(3).integers(0, 40, size=(1500, 3)).astype(float)
    higher = np.ones((1500, 1500), bool)
    strictly = np.zeros((1500, 1500), bool)
    for column in points.T:
        higher &= column[:, None] >= column
        strictly |= column[:, None] > column
    over = higher & strictly
    assert np.array_equal(pareto_mask(points), ~over.any(axis=0))
    dominates, dominated_by = dominance_counts(points)
    assert np.array_equal(dominates, over.sum(axis=1))
    assert np.array_equal(dominated_by, over.sum(axis=0))


def test_equal_rows_stay_together_whatever_the_order() -> None:
    points = np.array([[1, 0], [0, 1], [1, 0], [0, 0], [0, 1], [1.0, 0]])
    assert pareto_mask(points).tolist() == [True, True, True, False, True, True]
    order = np.random.default_rng(0).permutation(6)
    assert np.array_equal(pareto_mask(points[order]), pareto_mask(points)[order])
    assert pareto_mask([[0.0, 1.0], [-0.0, 1.0]]).all()


def test_infinite_values_are_compared() -> None:
    assert pareto_mask([[np.inf, 0], [1, 0], [-np.inf, 1]]).tolist() == [True, False, True]


def test_no_points() -> None:
    empty = np.empty((0, 3))
    assert pareto_mask(empty).shape == pareto_ranks(empty).shape == crowding(empty).shape == (0,)
    assert hypervolume(empty) == 0.0
    assert [len(one) for one in dominance_counts(empty)] == [0, 0]
    assert least_crowded(empty, 3).tolist() == []
    assert pareto_mask([]).tolist() == pareto_ranks([]).tolist() == []


@pytest.mark.parametrize("function", [pareto_mask, pareto_ranks, dominance_counts, hypervolume, crowding])
@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[1.0, np.nan], [0, 0], [np.nan, 1]], "not-a-number in row 0 and 1 more"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.empty((3, 0)), "at least one objective"),
        ([["a"]], "matrix of numbers"),
        ([[1, 2], [1]], "matrix of numbers"),
        ([[None, 1.0]], "not-a-number|matrix of numbers"),
    ],
)
def test_bad_points(function, points, words) -> None:
    with pytest.raises(InputError, match=words):
        function(points)


def test_hypervolume_of_four_objectives_is_what_random_darts_hit() -> None:
    draw = np.random.default_rng(7)
    points = draw.random((14, 4))
    darts = draw.random((200_000, 4))
    hit = np.zeros(len(darts), bool)
    for point in points:
        hit |= np.all(darts <= point, axis=1)
    share = hit.mean()
    assert hypervolume(points) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / len(darts)))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_hypervolume_does_not_see_order_copies_and_dominated_points(d) -> None:
    draw = np.random.default_rng(d)
    points = draw.random((9, d))
    value = hypervolume(points)
    more = np.concatenate([points, points[:4], points * 0.5])
    assert hypervolume(draw.permutation(more)) == pytest.approx(value, abs=1e-12)
    assert hypervolume(points * 2) == pytest.approx(2**d * value)
    assert hypervolume(points + 3, reference=np.full(d, 3.0)) == pytest.approx(value)
    assert value <= hypervolume([*points.tolist(), [1.0] * d]) == pytest.approx(1.0)


def test_hypervolume_leaves_out_what_is_not_above_the_reference() -> None:
    assert hypervolume([[-1, 5], [0, 5], [2, 3]]) == 6.0
    assert hypervolume([[0.5, 0.5]], reference=1.0) == 0.0


@pytest.mark.parametrize(("points", "reference"), [([[np.inf, 1]], 0), ([[1, 1]], np.inf), ([[1, 1]], [0, 0, 0])])
def test_hypervolume_takes_finite_numbers_only(points, reference) -> None:
    with pytest.raises(InputError, match=r"finite|reference"):
        hypervolume(points, reference)


def test_crowding_of_deb() -> None:
    points = [[0.0, 1.0], [0.25, 0.5], [0.5, 0.4], [1.0, 0.0]]
    # (0.5 - 0) / 1 + (1 - 0.4) / 1, and (1 - 0.25) / 1 + (0.5 - 0) / 1
    assert crowding(points) == pytest.approx([np.inf, 1.1, 1.25, np.inf])
    assert crowding([[1.0, 2.0], [1.0, 2.0]]).tolist() == [0.0, 0.0]


def test_crowding_does_not_see_the_order() -> None:
    points = np.random.default_rng(0).integers(0, 5, (20, 3)).astype(float)
    order = np.random.default_rng(1).permutation(20)
    assert np.array_equal(crowding(points[order]), crowding(points)[order])


def test_least_crowded_takes_the_crowded_away_one_by_one() -> None:
    line = np.array([[x, 1 - x] for x in (0.0, 0.3, 0.5, 0.51, 1.0)])
    assert least_crowded(line, 4).tolist() == [0, 1, 3, 4]
    assert least_crowded(line, 3).tolist() == [0, 3, 4]
    assert least_crowded(line, 2).tolist() == [0, 4]
    assert least_crowded(line, 0).tolist() == []
    assert least_crowded(line, 9).tolist() == [0, 1, 2, 3, 4]


def test_copies_go_first() -> None:
    points = [[0, 1], [0, 1], [1, 0], [0.5, 0.5]]
    assert least_crowded(points, 3).tolist() == [0, 2, 3]
    assert least_crowded(points, 4).tolist() == [0, 1, 2, 3]
    with pytest.raises(InputError, match="at least 0"):
        least_crowded(points, -1)
