"""Corners of optimisers and groups that ordinary runs do not reach: full buffers, forgotten points, odd labels."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.exposure.optimal.atoms import Atoms
from rerankers.exposure.optimal.losses import SquaredLoss
from rerankers.exposure.optimal.minimise import _forget, _towards
from rerankers.exposure.optimal.newton import Model
from rerankers.exposure.optimal.objective import evaluate
from rerankers.exposure.optimal.quadratic import Quadratic
from rerankers.exposure.optimal.regions import Vertex
from rerankers.measures.consistency import exact_overlap, pair_weights
from rerankers.measures.least_variance import least_variance_policy
from rerankers.measures.memberships import memberships, target_vector
from rerankers.measures.rate_parity import combined
from rerankers.measures.shuffled_loops import shuffled_products
from rerankers.policies import GradeShuffle
from rerankers.values import Ragged


def square_loss(n: int) -> tuple[SquaredLoss, Atoms]:
    """A loss whose target is the mean of all rankings, and the rankings that put one document first."""
    vertices = [Vertex(np.eye(n)[d], np.roll(np.arange(n), -d)[None].astype(np.int64), np.ones(1)) for d in range(n)]
    return SquaredLoss(np.full(n, 1.0 / n)), Atoms(vertices, np.eye(n)[0])


def test_a_quadratic_without_some_of_its_weights_is_that_of_the_others() -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(6, 9))
    whole, kept = root @ root.T, np.array([True, False, True, True, False, True])
    slope, weight = rng.normal(size=6), np.full(6, 1 / 6)
    quadratic = Quadratic(whole, 1e-13)
    quadratic.minimum(slope, weight, 1e-12)
    quadratic.keep(kept)
    fresh = Quadratic(whole[np.ix_(kept, kept)], 1e-13)
    np.testing.assert_array_equal(quadratic.square, fresh.square)
    start = np.full(4, 0.25)
    found, expected = (one.minimum(slope[kept], start, 1e-12) for one in (quadratic, fresh))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.sum() == pytest.approx(1.0, rel=1e-15)
    gradient = slope[kept] + quadratic.square @ (found - start)
    assert np.ptp(gradient[found > 0]) < 1e-9
    assert gradient.min() > gradient[found > 0].max() - 1e-9


def test_a_quadratic_that_rounding_spoils_keeps_the_weights_given() -> None:
    weight = np.array([0.5, 0.5])
    with np.errstate(all="ignore"):
        found = Quadratic(np.array([[np.nan, 0.0], [0.0, 1.0]]), 1e-13).minimum(np.ones(2), weight, 1e-12)
    np.testing.assert_array_equal(found, weight)


def test_points_without_weight_are_forgotten_when_they_are_very_many() -> None:
    objective, atoms = square_loss(3)
    rng = np.random.default_rng(4)
    for number in range(200):
        atoms.add(Vertex(rng.random(3), np.array([[number, 0, 1]]), np.ones(1)))
    atoms.weight = np.zeros(len(atoms))
    atoms.weight[[0, 150]] = 0.5
    point = evaluate(objective, atoms.mean(atoms.weight))
    model, before, mean = Model(objective, point), atoms.exposure.copy(), point.exposure
    model.improve(atoms, point, 1e-9)
    atoms.weight = np.zeros(len(atoms))
    atoms.weight[[0, 150]] = 0.5
    _forget(atoms, model, point)
    assert len(atoms) in (101, 102)
    np.testing.assert_allclose(atoms.mean(atoms.weight), mean, rtol=1e-15)
    gone = [one for one in before.tolist() if one not in atoms.exposure.tolist()]
    assert min(np.dot(point.gradient, one) for one in gone) >= max(
        np.dot(point.gradient, one) for one in atoms.exposure[atoms.weight == 0].tolist()
    )
    place = atoms.add(Vertex(before[0], np.array([[0, 1, 2]]), np.ones(1)))
    assert atoms.weight[place] == 0.5  # it is still known
    assert model.improve(atoms, point, 1e-9)
    assert evaluate(objective, atoms.mean(atoms.weight)).value < point.value
    _forget(atoms, model, point)
    few = len(atoms)
    assert few in (50, 51, 52)
    _forget(atoms, model, point)
    assert len(atoms) == few


def test_a_step_straight_towards_a_ranking() -> None:
    objective, atoms = square_loss(3)
    point = evaluate(objective, atoms.mean(atoms.weight))
    assert _towards(objective, atoms, atoms.vertices[1], point)
    np.testing.assert_allclose(atoms.weight, [0.5, 0.5, 0.0], atol=1e-3)
    assert evaluate(objective, atoms.mean(atoms.weight)).value < point.value
    best = evaluate(objective, np.full(3, 1 / 3))
    assert not _towards(objective, atoms, atoms.vertices[1], best)  # nothing lies lower


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.uint64, np.int64, np.float32])
def test_overlap_of_shuffles_by_levels_of_any_type(kind: type) -> None:
    """Levels 1, 1, 0: the first two ranks are one of two orders each, the third is fixed."""
    over = Ragged(np.zeros(1, np.int64), np.array([0, 3]), np.arange(3))
    policy = GradeShuffle(over, np.array([1, 0, 1]).astype(kind), query_streams(["q"]))
    orders = [(0, 2, 1), (2, 0, 1)]
    for p in (0.5, 0.9):
        mean = 0.0
        for a in orders:
            for b in orders:
                agree = [len({*a[:d]} & {*b[:d]}) / d for d in (1, 2, 3)]
                mean += ((1 - p) * sum(x * p**d for d, x in enumerate(agree)) + agree[-1] * p**3) / 4
        assert exact_overlap(policy, p, "ext", None)[0] == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("kind", ["ext", "min"])
@pytest.mark.parametrize("p", [5e-324, 1e-310, 1e-160, 0.5])
def test_weights_of_pairs_for_any_persistence(kind: str, p: float) -> None:
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        weight = pair_weights(4, p, kind)
    second = sum((1 - p) * p ** (d - 1) / d for d in (2, 3, 4)) + p**4 / 4
    if kind == "ext":
        assert weight.sum() == pytest.approx(1.0, rel=1e-15)
        assert weight[1] == pytest.approx(second, rel=1e-15, abs=5e-324)
    else:
        assert weight[0] == pytest.approx((1 - p) * (-np.log1p(-p) / p), rel=1e-15)
        assert weight[1] == pytest.approx(weight[0] - (1 - p), rel=1e-14, abs=2e-16)


def test_the_least_variance_of_nothing_and_of_a_single_document() -> None:
    for n in (0, 1):
        over = Ragged(np.zeros(1, np.int64), np.array([0, n]), np.arange(n))
        policy, miss = least_variance_policy(over, np.full(n, 2.0), [2.0], query_streams(["q"]), np.ones(n))
        assert (policy.rankings.item.tolist(), policy.rankings.weight.tolist(), miss) == ([0] * n, [1.0], 0.0)
    two = Ragged(np.arange(2), np.array([0, 1, 2]), np.arange(2))
    with pytest.raises(InputError, match="over: found 2 rows; expected one row"):
        least_variance_policy(two, [1.0, 1.0], [1.0], query_streams(["q", "r"]), [1.0, 1.0])


@pytest.mark.parametrize("same", [True, False])
def test_shuffled_products_are_their_definition(same: bool) -> None:
    rng = np.random.default_rng(5)
    order = np.array(list(permutations(range(4))), dtype=np.int32)
    item, group, weight = np.array([0, 1, 1, 3]), np.array([0, 0, 1, 2]), rng.random(4)
    x, y = rng.random(4), rng.random(4)
    found = np.empty(len(order))
    shuffled_products(order, item, group, weight, 3, x, x if same else y, same, found)
    part = np.zeros((4, 3))
    part[item, group] = weight
    expected = [(x[one] @ part) @ ((x if same else y)[one] @ part) for one in order]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_how_unequal_rates_are_with_groups_that_have_none() -> None:
    rate = np.array([[3.0, 1.0, np.nan], [np.nan, np.nan, 1.0]])
    expected = {
        "min_max": 1 / 3,
        "max_min": 3.0,
        "difference": 2.0,
        "max_deviation": 1.0,
        "mean_deviation": 1.0,
        "variance": 1.0,
        "l2": np.sqrt(10.0),
    }
    for how, value in expected.items():
        found = combined(rate, how)
        assert found[0] == pytest.approx(value, rel=1e-15)
        assert np.isnan(found[1])


def test_odd_labels_and_targets_are_named() -> None:
    for groups, found in (
        (["a", float("nan")], "the label NaN"),
        ([{"a"}, {"b"}], "several labels for a document"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([["a", "b"], ["c", "d"]], "weights that are no numbers"),
        ([[1.0, -1.0]], "weights that are negative"),
    ):
        with pytest.raises(InputError, match=f"groups: found {found}"):
            memberships(groups)
    assert memberships(["b", 1, None])[1] == [1, "b"]  # of no common order: by text
    for target, found in (([1.0], r"shape \(1,\)"), (["x", "y"], r"\['x', 'y'\]"), ([0.0, 0.0], r"\[0.0, 0.0\]")):
        with pytest.raises(InputError, match=f"target: found {found}"):
            target_vector(target, ["a", "b"])
