"""The scenario search: losses, slopes, moves, mixtures, Plackett-Luce weights."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_twins import best_gain, ranking_exposure
from tilt_worlds import alignment, block

from rerankers._base.streams import query_streams
from rerankers.exposure import ERR, GERR
from rerankers.methods.scenario_optimal import ScenarioOptimal
from rerankers.methods.scenarios.loss import ScenarioLoss
from rerankers.methods.scenarios.mixtures import Rankings, lowest_mixture
from rerankers.methods.scenarios.plackett_luce import exposures, lowest_weights
from rerankers.methods.scenarios.ranking_loops import gain_of, improve, walk
from rerankers.methods.scenarios.rows import Scenarios, draw_scenarios, scenarios_of
from rerankers.policies import Mixture, PlackettLuce
from rerankers.values import Block

STREAM = query_streams(["q"])[0]


def drawn(n: int, seed: int = 0, count: int = 16, model: object = None) -> Scenarios:
    chance = np.random.default_rng(seed).beta(1, 3, n)
    return draw_scenarios(chance, model or GERR(), count, True, seed, STREAM)  # type: ignore[arg-type]


def members(n: int, groups: int, seed: int = 0) -> np.ndarray:
    return np.eye(groups)[np.random.default_rng(seed).integers(0, groups, n)].T.copy()


def test_scenarios_have_a_relevant_document_and_their_chances() -> None:
    chance = np.array([0.02, 0.3, 0.0, 0.1, 0.05])
    made = draw_scenarios(chance, GERR(0.8, 0.5), 4001, True, 3, STREAM)
    assert made.count == 4004
    assert made.relevant.any(axis=1).all()
    np.testing.assert_allclose(made.relevant.mean(axis=0), chance / (1 - np.prod(1 - chance)), atol=0.02)
    np.testing.assert_array_equal(made.continuation, np.where(made.relevant.T, 0.4, 0.8))
    # without conditions a document is relevant as often as expected, to one scenario
    free = draw_scenarios(chance, GERR(), 4000, False, 3, STREAM).relevant
    assert np.abs(free.sum(axis=0) - 4000 * chance).max() <= 1
    again = draw_scenarios(chance, GERR(), 4000, False, 3, STREAM).relevant
    np.testing.assert_array_equal(free, again)
    assert not draw_scenarios(np.zeros(3), GERR(), 4, True, 3, STREAM).relevant.any()


@pytest.mark.parametrize("model", [GERR(0.9, 0.4), GERR(0.9, 0.4, cutoff=3), ERR(max_grade=2)], ids=str)
def test_walk_and_gain_are_those_of_the_ranking(model: object) -> None:
    made = drawn(6, model=model)
    order = np.random.default_rng(1).permutation(6)
    exposure = np.empty(made.continuation.shape)
    walk(order, made.continuation, made.position, exposure)
    twin = [ranking_exposure(tuple(order), made.continuation[:, m], made.position) for m in range(made.count)]
    np.testing.assert_allclose(exposure, np.array(twin).T, atol=1e-15)
    gain = np.random.default_rng(2).normal(size=exposure.shape)
    found = gain_of(order, gain, made.continuation, made.position)
    assert found == pytest.approx((gain * exposure).sum(), abs=1e-12)


@given(n=st.integers(1, 6), seed=st.integers(0, 10**6), cutoff=st.sampled_from([None, 1, 3]))
@settings(max_examples=40)
def test_moves_end_where_no_move_helps(n: int, seed: int, cutoff: int | None) -> None:
    made = drawn(n, seed, 8, GERR(0.9, 0.6, cutoff=cutoff))
    rng = np.random.default_rng(seed)
    gain = rng.normal(size=made.continuation.shape)
    arrays = (gain, made.continuation, made.position)
    order = rng.permutation(n)
    before = gain_of(order, *arrays)
    improve(order, *arrays, 50)
    after = gain_of(order, *arrays)
    assert sorted(order.tolist()) == list(range(n))
    assert after >= before - 1e-12
    for d in range(n):
        rest = [one for one in order.tolist() if one != d]
        for rank in range(n):
            moved = np.array([*rest[:rank], d, *rest[rank:]])
            assert gain_of(moved, *arrays) <= after + 1e-7
    best = best_gain(*arrays)
    assert after <= best + 1e-12


def test_one_continuation_is_solved_exactly() -> None:
    # with equal labels in all scenarios the sum of cascades is one cascade, whose best ranking moves find
    label = np.tile([True, False, True, False, False], (4, 1))
    made = scenarios_of(label, GERR(0.9, 0.5))
    for seed in range(20):
        gain = np.tile(np.random.default_rng(seed).normal(size=(5, 1)), (1, 4))
        found = Rankings(made).best(gain)[0]
        arrays = (gain, made.continuation, made.position)
        assert gain_of(found, *arrays) == pytest.approx(best_gain(*arrays), abs=1e-12)


@pytest.mark.parametrize("published", [None, 7])
def test_loss_gradient_and_curvature(published: int | None) -> None:
    made = drawn(5, count=4)
    loss = ScenarioLoss(made, 0.7, 1.3, 0.4, members(5, 2), published, 0.6)
    rng = np.random.default_rng(0)
    exposure, step = rng.random(made.continuation.shape), rng.normal(size=made.continuation.shape)
    twin = 0.0
    for m in range(made.count):
        rest = exposure[:, m] - made.target[:, m]
        twin += 0.7 * rest @ rest + 1.3 * np.square(members(5, 2) @ rest).sum() + 0.6 * rest.sum() ** 2
        twin -= 0.4 * made.satisfaction[:, m] @ exposure[:, m]
        if published is not None:
            own = exposure[:, m]
            square = 0.7 * own @ own + 1.3 * np.square(members(5, 2) @ own).sum() + 0.6 * own.sum() ** 2
            twin += -square / published
    second = 2.5
    twin = twin / made.count + (0.0 if published is None else second / published)
    assert loss.value(exposure, second) == pytest.approx(twin, rel=1e-12)
    slope = (loss.value(exposure + 1e-5 * step) - loss.value(exposure - 1e-5 * step)) / 2e-5
    assert slope == pytest.approx(np.vdot(loss.gradient(exposure), step), rel=1e-7)
    bent = loss.bent(step.reshape(1, -1))[0].reshape(step.shape)
    np.testing.assert_allclose(loss.gradient(exposure + step) - loss.gradient(exposure), bent, atol=1e-12)


@pytest.mark.parametrize("model", [GERR(0.9, 0.5), GERR(0.5, 1.0), GERR(1.0, 0.5)], ids=str)
def test_plackett_luce_exposures_of_all_scenarios(model: GERR) -> None:
    from rerankers.methods.scenarios.plackett_luce import _row_by_row

    made = drawn(9, model=model)
    for logit in (np.random.default_rng(1).normal(size=9) * 3, np.zeros(9)):
        found, back = exposures(logit, made)
        plain, plain_back = _row_by_row(logit, made)
        np.testing.assert_allclose(found, plain, atol=1e-11)
        pull = np.random.default_rng(2).normal(size=found.shape)
        np.testing.assert_allclose(back(pull), plain_back(pull), atol=1e-10)


def test_weights_approach_the_shuffle_within_grades_and_never_get_worse() -> None:
    label = np.tile([True, False, False, True, False, False], (4, 1))
    made = scenarios_of(label, GERR())
    loss = ScenarioLoss(made, 1.0, 0.0, 0.0, None)
    start = np.random.default_rng(0).normal(size=6)
    found = lowest_weights(loss, start, 300)
    assert found.value < 1e-4  # 0 up to the bounds of the weights
    again = lowest_weights(loss, found.logit, 1)
    assert again.value <= found.value


@given(n=st.integers(1, 5), seed=st.integers(0, 10**6), groups=st.booleans())
@settings(max_examples=15)
def test_mixture_is_the_minimum_over_all_rankings(n: int, seed: int, groups: bool) -> None:
    made = drawn(n, seed, 8)
    loss = ScenarioLoss(made, 0.5, 1.0, 0.3, members(n, 2, seed) if groups else None)
    found = lowest_mixture(loss, Rankings(made), np.arange(n)[None], None, 1e-9, 400)
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    mixed = np.tensordot(found.weights, [_exposure(order, made) for order in found.rankings], 1)
    np.testing.assert_allclose(mixed, found.exposure, atol=1e-12)
    assert loss.value(mixed) == pytest.approx(found.value, abs=1e-12)
    # the certificate by all rankings: convexity bounds what is left to the minimum
    slope = loss.gradient(mixed)
    least = min(float(np.vdot(slope, _exposure(order, made))) for order in itertools.permutations(range(n)))
    assert found.value <= loss.value(_exposure(np.arange(n), made)) + 1e-12  # never worse than where it began
    if n <= 2:  # where moves of one document reach every ranking; of three documents they miss the reverse order
        assert float(np.vdot(slope, mixed)) - least <= 1e-8


def _exposure(order: object, made: Scenarios) -> np.ndarray:
    out = np.empty(made.continuation.shape)
    walk(np.array(order, dtype=np.int64), made.continuation, made.position, out)
    return out


def world(**fields: object) -> Block:
    rng = np.random.default_rng(5)
    lengths = [8, 0, 1, 12]
    estimates = [rng.beta(1, 4, n).tolist() for n in lengths]
    labels = [["A", "B", None][i] for i in rng.integers(0, 3, sum(lengths))]
    return block(estimates, {"g": alignment("g", labels)}, estimates, **fields)


@pytest.mark.parametrize("form", ["rankings", "plackett_luce"])
@pytest.mark.parametrize("group", [0.0, 1.0])
def test_start_is_never_exceeded_and_rows_are_alone(form: str, group: float) -> None:
    part = world(seed=4)
    method = ScenarioOptimal(group=group, form=form, scenarios=32)
    found = method.lowest(part)
    assert isinstance(found.policy, Mixture if form == "rankings" else PlackettLuce)
    assert np.all(found.value <= found.start + 1e-12)
    assert found.value[0] < found.start[0]
    assert "start_not_reached" not in found.counts or not found.counts["start_not_reached"]
    assert np.isinf(found.gap[[0, 3]]).all()
    assert found.gap[[1, 2]].tolist() == [0, 0]
    draws = found.policy.sample(5, 1)
    for row in range(4):
        only = Block(part.candidates.rows(row, row + 1), part.stream[row : row + 1], part.groups, seed=4)
        alone = method.policy(only).sample(5, 1)
        np.testing.assert_array_equal(alone.item, draws.take(np.array([row])).item)
    other = ScenarioOptimal(group=group, form=form, scenarios=32).lowest(world(seed=5))
    assert other.value[0] != found.value[0]


def test_floor_and_weight_of_utility() -> None:
    part = world()
    free, bound, most = (ScenarioOptimal(scenarios=64, floor=floor).lowest(part) for floor in (0.0, 0.9, 1.0))
    rows = [0, 3]
    assert np.all(free.utility[rows] <= bound.utility[rows] + 1e-9)
    assert np.all(bound.utility[rows] >= 0.9 * most.utility[rows] - 1e-3)
    assert np.all(free.documents[rows] < bound.documents[rows])
    assert np.all(bound.documents[rows] < most.documents[rows])
    paid = ScenarioOptimal(scenarios=64, utility=5.0).lowest(part)
    assert np.all(paid.utility[rows] > free.utility[rows])


def test_draws_that_are_published_and_totals() -> None:
    part = world()
    plain = ScenarioOptimal(scenarios=32, group=1.0).lowest(part)
    few = ScenarioOptimal(scenarios=32, group=1.0, published=2).lowest(part)
    assert np.all(plain.value <= few.value + 1e-3)  # of the policy itself
    total = ScenarioOptimal(scenarios=32, total=5.0)
    assert total.tier == "blind"
    assert not np.array_equal(
        total.policy(part).sample(3, 0).item, ScenarioOptimal(scenarios=32).policy(part).sample(3, 0).item
    )
