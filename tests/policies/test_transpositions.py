"""Random transpositions as a policy: draws, exposure, probabilities by all coins, schedules; mixtures of rankings."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers.exposure import DCG, GERR, RBP, Cascade, Positions, TopKSet
from rerankers.exposure.optimal.permutahedron import project_permutahedron
from rerankers.exposure.rankings import exposure_of
from rerankers.policies.caratheodory import mixture_of_exposure
from rerankers.policies.transpositions import Transpositions
from rerankers.values import Ragged, Rankings

LENGTHS = [4, 0, 1, 7, 300]
WEIGHTS = 1 / np.log2(np.arange(300) + 2)


def goal(over: Ragged, first_row: int = 0, position: np.ndarray = WEIGHTS) -> np.ndarray:
    """Return exposures that can be reached, another for every row."""
    parts = []
    for row, n in enumerate(over.lengths.tolist(), first_row):
        wish = np.random.default_rng([n, row]).random(n) ** 2
        parts.append(project_permutahedron(wish, position))
    return np.concatenate([np.empty(0), *parts])


def make(over: Ragged, stream: np.ndarray, first_row: int = 0) -> Transpositions:
    return Transpositions.of_exposure(over, goal(over, first_row), WEIGHTS, stream)


def small(swaps: list[list[int]], chance: list[float], order: list[int]) -> Transpositions:
    return Transpositions(
        rows([len(order)]),
        np.array(order),
        np.array([0, len(swaps)]),
        np.array(swaps).reshape(-1, 2),
        chance,
        streams(1),
    )


def by_all_coins(policy: Transpositions) -> dict[tuple[int, ...], float]:
    """Return the probability of every ranking of the one row by all outcomes of its swaps."""
    found: dict[tuple[int, ...], float] = {}
    n = len(policy.order)
    for outcome in product([False, True], repeat=len(policy.chance)):
        rank, probability = np.arange(n), 1.0
        for (one, other), happens, chance in zip(policy.swaps, outcome, policy.chance, strict=True):
            probability *= chance if happens else 1 - chance
            if happens:
                rank[[one, other]] = rank[[other, one]]
        ranking = tuple(policy.order[np.argsort(rank)].tolist())
        found[ranking] = found.get(ranking, 0.0) + probability
    return found


@st.composite
def chains(draw: st.DrawFn) -> Transpositions:
    """Swaps each of which settles a place: made backwards, each takes in a place that no later one has, or none new."""
    n = draw(st.integers(1, 5))
    order = draw(st.permutations(range(n)))
    fresh, used, swaps = list(draw(st.permutations(range(n)))), [], []
    for _ in range(draw(st.integers(0, n - 1))):
        place = fresh.pop()
        other = draw(st.sampled_from(fresh + used)) if fresh + used else None
        if other is None:
            break
        used.append(place)
        if other in fresh:
            fresh.remove(other)
            used.append(other)
        swaps.append([place, other] if draw(st.booleans()) else [other, place])
        if not fresh:
            break
    chance = draw(st.lists(st.floats(0, 1), min_size=len(swaps), max_size=len(swaps)))
    return small(swaps[::-1], chance, order)


@given(chains(), st.integers(0, 5))
def test_log_probabilities_by_all_coins(policy: Transpositions, k: int) -> None:
    n = len(policy.order)
    expected = by_all_coins(policy)
    for depth in {min(k, n), n}:
        asked = every_ranking(n, depth)
        with np.errstate(divide="ignore"):
            wanted = [
                sum(chance for ranking, chance in expected.items() if ranking[:depth] == beginning)
                for beginning in permutations(range(n), depth)
            ]
        np.testing.assert_allclose(np.exp(policy.log_prob(asked)), wanted, rtol=1e-12, atol=1e-300)


@given(chains(), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_exposure_by_all_coins(policy: Transpositions, weights: list[float]) -> None:
    position = Positions(tuple(sorted(weights, reverse=True)))
    browsing = position.bind(None, policy.over.indptr)
    expected = np.zeros(len(policy.order))
    for ranking, chance in by_all_coins(policy).items():
        expected[list(ranking)] += chance * browsing.position
    found = policy.exposure(browsing)
    assert found is not None
    assert found.exact
    np.testing.assert_allclose(found.value, expected, atol=1e-14)


def test_the_exposure_asked_for() -> None:
    over = rows(LENGTHS)
    for position in (WEIGHTS, 0.9 ** np.arange(300), WEIGHTS[:5]):
        value = goal(over, position=position)
        policy = Transpositions.of_exposure(over, value, position, streams(5))
        found = policy.exposure(Positions(tuple(position)).bind(None, over.indptr))
        assert found is not None
        np.testing.assert_allclose(found.value, value, rtol=0, atol=1e-14)
        mixture, residual = mixture_of_exposure(over, value, position, streams(5))
        mixed = mixture.exposure(Positions(tuple(position)).bind(None, over.indptr)).value
        np.testing.assert_allclose(mixed, value, rtol=0, atol=1e-14)
        assert residual.shape == (5,)
        assert residual.max() < 1e-14
        assert np.all(mixture.rankings.counts <= np.maximum(LENGTHS, 1))
        assert mixture.rankings.label[: mixture.rankings.counts[0]].tolist() == list(range(mixture.rankings.counts[0]))
    browsing = RBP(0.8).bind(None, over.indptr)
    value = np.concatenate([project_permutahedron(np.ones(n), 0.8 ** np.arange(300)) for n in LENGTHS])
    policy = Transpositions.of_exposure(over, value, 0.8 ** np.arange(300), streams(5))
    np.testing.assert_allclose(policy.exposure(browsing).value, value, atol=1e-14)


def test_no_closed_form_where_continuations_differ() -> None:
    over = rows([3, 0, 1])
    policy = Transpositions.of_exposure(over, [0.5, 0.5, 0.5, 1.0], [1.0, 0.5], streams(3))
    assert policy.exposure(GERR(0.9, 0.5).bind([0, 1, 0, 1], over.indptr)) is None
    equal = policy.exposure(Cascade([0.3, 0.3, 0.3, 0.8]).bind(None, over.indptr))
    assert equal is not None
    np.testing.assert_allclose(equal.value[3], 1.0)
    assert policy.exposure(GERR(0.9, 0.5).bind([1, 1, 1, 0], over.indptr)) is not None
    # Documents of equal exposure under one model may differ under another.
    np.testing.assert_allclose(policy.exposure(RBP(0.0).bind(None, over.indptr)).value, [0.5, 0, 0.5, 1], atol=1e-15)


@pytest.mark.parametrize("spec", [DCG(), RBP(0.7), TopKSet(2), RBP(0.9, cutoff=3)])
def test_draws_have_the_exact_exposure(spec: object) -> None:
    over = rows([4, 7, 60])
    policy = make(over, streams(3))
    browsing = spec.bind(None, over.indptr)  # type: ignore[attr-defined]
    exact = policy.exposure(browsing)
    drawn = exposure_of(policy.sample(4000, seed=5), browsing)
    one = np.array([exposure_of(policy.sample(1, seed=5, first=at), browsing).value for at in range(300)])
    assert np.all(np.abs(drawn.value - exact.value) < 6 * one.std(axis=0) / np.sqrt(4000) + 2e-3)


def test_draws_are_rankings_with_labels() -> None:
    over = rows(LENGTHS)
    policy = make(over, streams(5))
    for drawn, labels in ((policy.sample(6, 3, first=10), range(10, 16)), (policy.schedule(6, 3), range(6))):
        assert drawn.over is over
        assert drawn.counts.tolist() == [6] * 5
        assert drawn.label.tolist() == list(labels) * 5
        np.testing.assert_allclose(drawn.weight, 1 / 6)
        for size, orders in zip(LENGTHS, matrices(drawn), strict=True):
            assert all(sorted(order) == list(range(size)) for order in orders)


def test_a_draw_depends_on_seed_query_and_number_only() -> None:
    policy = make(rows(LENGTHS), streams(5))
    whole = matrices(policy.sample(700, seed=3))
    later = matrices(policy.sample(5, seed=3, first=640))
    assert later == [orders[640:645] for orders in whole]
    assert matrices(policy.sample(5, seed=4, first=640))[4] != later[4]
    alone = make(rows(LENGTHS[3:], 3), streams(2, 3), 3)
    assert matrices(alone.sample(5, seed=3, first=640)) == later[3:]
    assert matrices(alone.schedule(50, seed=3)) == matrices(policy.schedule(50, seed=3))[3:]
    assert matrices(make(rows(LENGTHS), streams(5, 1)).sample(5, seed=3, first=640))[4] != later[4]
    assert matrices(policy.schedule(700, seed=3))[4] != whole[4]


def test_depth_keeps_the_first_ranks_unchanged() -> None:
    policy = make(rows(LENGTHS), streams(5))
    for draw in (policy.sample, policy.schedule):
        whole = matrices(draw(50, seed=1))
        for depth in (1, 3, 150, 1000):
            assert matrices(draw(50, seed=1, depth=depth)) == [[order[:depth] for order in orders] for orders in whole]
    assert len(policy.sample(0, seed=1)) == len(policy.schedule(0, seed=1)) == 0
    for wrong in ({"n": -1}, {"n": 1, "depth": 0}):
        with pytest.raises(ValueError, match=r"(n|first|depth): found"):
            policy.schedule(seed=0, **wrong)


def test_log_probabilities_of_draws() -> None:
    policy = make(rows(LENGTHS), streams(5))
    drawn = policy.sample(20, seed=2)
    found = policy.log_prob(drawn)
    assert np.all(np.isfinite(found))
    assert np.all(found[20:60] == 0)
    begun = policy.log_prob(policy.sample(20, seed=2, depth=2))
    assert np.all(begun >= found - 1e-12)
    alone = make(rows(LENGTHS[3:], 3), streams(2, 3), 3)
    np.testing.assert_array_equal(alone.log_prob(alone.sample(20, seed=2)), found[60:])
    with pytest.raises(ValueError, match="twice"):
        policy.log_prob(Rankings.of_matrix(policy.over, [np.array([[0, 0]]), *[np.empty((0, 0), int)] * 4]))
    with pytest.raises(ValueError, match="other rows"):
        policy.log_prob(every_ranking(2))


def test_a_schedule_has_the_distribution_of_draws_rank_by_rank() -> None:
    policy = small([[1, 2], [0, 1], [1, 3]], [0.4, 0.3, 0.5], [2, 0, 1, 3])
    expected = by_all_coins(policy)
    schedules = [matrices(policy.schedule(7, seed))[0] for seed in range(3000)]
    for at in (0, 3, 6):
        seen: dict[tuple[int, ...], int] = {}
        for orders in schedules:
            seen[tuple(orders[at])] = seen.get(tuple(orders[at]), 0) + 1
        for ranking, chance in expected.items():
            assert abs(seen.get(ranking, 0) / 3000 - chance) < 5 * np.sqrt(chance * (1 - chance) / 3000)


def test_a_schedule_swaps_as_often_as_expected() -> None:
    policy = small([[0, 1]], [0.3], [0, 1])
    for n in (1, 7, 10, 100):
        swapped = np.mean([order == [1, 0] for order in matrices(policy.schedule(n, seed=n))[0]])
        assert abs(swapped - 0.3) < 1 / n
    assert np.sum([order == [1, 0] for order in matrices(policy.schedule(10, seed=1))[0]]) == 3


@pytest.mark.parametrize(("n", "draws", "gain"), [(20, 100, 25), (100, 100, 8), (20, 1000, 150)])
def test_a_schedule_has_a_smaller_error(n: int, draws: int, gain: float) -> None:
    over = rows([n])
    browsing = DCG().bind(None, over.indptr)
    value = np.full(n, browsing.position.mean())
    policy = Transpositions.of_exposure(over, value, browsing.position, streams(1))

    def error(rankings: Rankings) -> float:
        return float(np.mean((exposure_of(rankings, browsing).value - value) ** 2))

    independent = np.mean([error(policy.sample(draws, seed)) for seed in range(10)])
    assert np.mean([error(policy.schedule(draws, seed)) for seed in range(10)]) < independent / gain


def test_wrong_policies() -> None:
    over, stream = rows([2, 3]), streams(2)
    right = {"order": [0, 1, 2, 0, 1], "swap_ptr": [0, 1, 2], "swaps": [[0, 1], [2, 0]], "chance": [0.5, 1.0]}
    assert len(Transpositions(over, *right.values(), stream).chance) == 2  # type: ignore[arg-type]
    for wrong, text in (
        ({"order": [0, 1, 2, 0, 2]}, "order: found a document twice or outside its row"),
        ({"order": [2, 1, 0, 0, 1]}, "order: found a document twice or outside its row"),
        ({"order": [0, 1]}, "order: found shape"),
        ({"swap_ptr": [0, 2]}, "swaps: found swap_ptr, swaps and chance of shapes"),
        ({"swap_ptr": [0, 2, 1]}, "swaps: found swap_ptr"),
        ({"chance": [0.5]}, "swaps: found swap_ptr"),
        ({"swaps": [[0, 1], [2, 2]]}, "a swap of one place, or outside its row"),
        ({"swaps": [[0, 2], [2, 0]]}, "a swap of one place, or outside its row"),
        ({"chance": [0.5, 1.1]}, "chance: found a number that is no probability"),
        ({"chance": [0.5, np.nan]}, "chance: found a number that is no probability"),
    ):
        with pytest.raises(ValueError, match=text):
            Transpositions(over, *(right | wrong).values(), stream)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one digest a row"):
        Transpositions(over, *right.values(), stream[:1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a swap whose places are both swapped later"):
        small([[0, 1], [0, 1]], [0.5, 0.5], [0, 1])
    for function in (Transpositions.of_exposure, mixture_of_exposure):
        with pytest.raises(ValueError, match=r"found exposures in row 1 that exceed what rankings can give by 0\.5"):
            function(over, [1, 0.5, 1, 0, 0], [1.0, 0.5], stream)
        with pytest.raises(ValueError, match=r"exposure: found an array of shape \(2,\)"):
            function(over, [1, 0.5], [1.0, 0.5], stream)


def test_blocks_without_rows() -> None:
    over = rows([])
    policy = Transpositions.of_exposure(over, [], [1.0], streams(0))
    assert len(policy.sample(3, 0)) == 0
    assert policy.log_prob(policy.sample(3, 0)).shape == (0,)
    assert policy.exposure(RBP(0.5).bind(None, over.indptr)).value.shape == (0,)
    mixture, residual = mixture_of_exposure(over, [], [1.0], streams(0))
    assert len(mixture.rankings) == len(residual) == 0
