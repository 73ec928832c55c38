"""Thompson and the Pareto optimum under beliefs: exact where it can be, certified elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_twins import label_worlds
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, TopKSet
from rerankers.methods import check_method, check_policy
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.methods.scenario_optimal import ScenarioOptimal
from rerankers.methods.scenarios.believed import Believed
from rerankers.methods.targets import believed_browsing
from rerankers.methods.thompson import Thompson
from rerankers.policies import Mixture, PlackettLuce, Transpositions
from rerankers.values import Block

CHANCE = np.array([0.5, 0.05, 0.3, 0.0, 0.2, 0.05])
LABELS = ["A", "B", None, "A", "B", "B"]


def one(chance: np.ndarray = CHANCE, labels: list[str | None] | None = None, **fields: object) -> Block:
    groups = {} if labels is None else {"g": alignment("g", labels)}
    return block([chance.tolist()], groups, [chance.tolist()], **fields)


def expected_loss(policy: object, chance: np.ndarray, model: object, member: np.ndarray | None = None) -> float:
    """Return the mean loss of a policy over all labels with a relevant document."""
    total = 0.0
    for weight, grade, _, target, _ in label_worlds(chance, True, model):  # type: ignore[arg-type]
        bound = model.bind(grade, np.array([0, len(chance)]))  # type: ignore[attr-defined]
        rest = policy.exposure(bound).value - target  # type: ignore[attr-defined]
        total += weight * float(np.square(rest if member is None else member @ rest).sum())
    return total


@pytest.mark.parametrize("model", [RBP(0.7), DCG(), TopKSet(2), GERR(0.9, 0.4), ERR(max_grade=1)], ids=str)
@pytest.mark.parametrize("known", [True, False])
def test_mean_target_and_worth_are_the_means_over_labels(model: object, known: bool) -> None:
    believed = Believed.of(one(browsing=model), known)
    worlds = label_worlds(CHANCE, known, model)  # type: ignore[arg-type]
    mean = sum(weight * target for weight, _, _, target, _ in worlds)
    np.testing.assert_allclose(believed.target(), mean, atol=1e-13)
    # the expected utility is linear: worth times the exposure under believed browsing
    part = one(browsing=model)
    policy = PlackettLuce(part.candidates, np.log(CHANCE + 0.01), part.stream)
    found = believed.worth() @ policy.exposure(believed_browsing(part)).value
    utility = 0.0
    for weight, grade, _, _, worth in worlds:
        utility += weight * float(worth @ policy.exposure(model.bind(grade, np.array([0, 6]))).value)  # type: ignore[attr-defined]
    assert found == pytest.approx(utility, rel=1e-11)


def test_beliefs_at_the_edges() -> None:
    tiny = Believed.of(one(np.array([1e-30, 2e-30, 0.0])), True)
    np.testing.assert_allclose(tiny.worth() / 0.5, [1 / 3, 2 / 3, 0], rtol=1e-6)
    only = GERR().bind(np.array([1.0, 0, 0]), np.array([0, 3]))
    assert np.all(np.isfinite(tiny.target()))
    assert tiny.target().sum() == pytest.approx(1 + 0.25 * (1 + 0.5), rel=1e-6)
    assert only.continuation[0] == 0.25
    none = Believed.of(one(np.zeros(3)), True)
    assert none.counts == {"rows_without_chance": 1}
    np.testing.assert_allclose(none.target(), np.full(3, 1.75 / 3))
    assert none.worth().tolist() == [0, 0, 0]
    assert Believed.of(block([[1.0, 2.0]], {}), True).counts == {"rows_with_guessed_probabilities": 1}


@pytest.mark.parametrize("model", [RBP(0.7), DCG(), TopKSet(2)], ids=str)
def test_thompson_is_the_minimum_under_positions(model: object) -> None:
    part = one(browsing=model, labels=LABELS)
    thompson = Thompson().policy(part)
    browsing = model.bind(None, part.candidates.indptr)  # type: ignore[attr-defined]
    np.testing.assert_allclose(thompson.exposure(browsing).value, Believed.of(part, True).target(), atol=1e-13)
    member = np.array([[label == name for label in LABELS] for name in ("A", "B", None)], dtype=float)
    least = expected_loss(thompson, CHANCE, model), expected_loss(thompson, CHANCE, model, member)
    exact = ParetoOptimal().optimal(part)
    assert expected_loss(exact.policy, CHANCE, model) == pytest.approx(least[0], abs=1e-9)
    assert exact.documents[0] == pytest.approx(0, abs=1e-12)
    assert exact.gap[0] <= 1e-8
    scenario = ScenarioOptimal(group=1.0).lowest(part)
    assert scenario.gap[0] <= 1e-8
    assert expected_loss(scenario.policy, CHANCE, model, member) == pytest.approx(least[1], abs=1e-7)
    for seed in range(4):
        other = PlackettLuce(part.candidates, np.random.default_rng(seed).normal(size=6) * 2, part.stream)
        assert expected_loss(other, CHANCE, model) > least[0]
        assert expected_loss(other, CHANCE, model, member) >= least[1] - 1e-12


def test_scenarios_beat_thompson_under_cascades() -> None:
    model = GERR(0.9, 0.8)
    part = one(browsing=model, labels=LABELS)
    member = np.array([[label == name for label in LABELS] for name in ("A", "B", None)], dtype=float)
    thompson = Thompson().policy(part)
    found = ScenarioOptimal(individual=0.0, group=1.0, scenarios=1024, tolerance=1e-6).policy(part)
    weights = ScenarioOptimal(individual=0.0, group=1.0, scenarios=1024, form="plackett_luce").policy(part)
    own, theirs = (expected_loss(policy, CHANCE, model, member) for policy in (found, thompson))
    assert own < theirs - 0.01
    assert own < expected_loss(weights, CHANCE, model, member)
    documents = ScenarioOptimal(scenarios=1024, tolerance=1e-6).policy(part)
    assert expected_loss(documents, CHANCE, model) < expected_loss(thompson, CHANCE, model)


@given(n=st.integers(1, 7), seed=st.integers(0, 10**6), group=st.sampled_from([0.0, 1.0]))
@settings(max_examples=25)
def test_optimum_is_certified_and_no_policy_is_better(n: int, seed: int, group: float) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.beta(1, 3, n)
    labels = [["A", "B", None][i] for i in rng.integers(0, 3, n)]
    model = [GERR(0.8, 0.5), RBP(0.6), GERR(0.9, 0.3, cutoff=2)][seed % 3]
    part = one(chance, labels, browsing=model)
    utility = float(rng.choice([0.0, 0.5, 3.0]))
    method = ParetoOptimal(group=group, utility=utility, tolerance=1e-7)
    found = method.optimal(part)
    assert found.gap[0] <= 1e-7
    own = found.documents[0] + group * found.groups[0] - utility * found.utility[0]
    browsing, believed = believed_browsing(part), Believed.of(part, True)
    target, worth = believed.target(), believed.worth()
    member = np.array([[label == name for label in labels] for name in ("A", "B", None)], dtype=float)
    for _ in range(20):
        other = PlackettLuce(part.candidates, 2 * rng.normal(size=n), part.stream).exposure(browsing).value
        rest = other - target
        assert own <= rest @ rest + group * np.square(member @ rest).sum() - utility * worth @ other + 2e-7


@pytest.mark.parametrize("model", [GERR(), RBP(0.7), DCG(), GERR(cutoff=4)], ids=str)
@pytest.mark.parametrize("group", [0.0, 2.0])
def test_floor_of_utility(model: object, group: float) -> None:
    part = one(browsing=model, labels=LABELS)
    most = ParetoOptimal(floor=1.0, group=group).optimal(part).utility[0]
    losses = []
    for floor in (0.0, 0.8, 0.9, 0.97, 1.0):
        found = ParetoOptimal(floor=floor, group=group, tolerance=1e-7).optimal(part)
        assert found.utility[0] >= floor * most - 1e-9
        assert found.gap[0] <= 1e-6
        losses.append(found.documents[0] + group * found.groups[0])
    assert np.all(np.diff(losses) >= -1e-6)
    assert losses[-1] > losses[0]


def test_greatest_weight_is_the_static_ranking() -> None:
    part = one(browsing=GERR())
    drawn = ParetoOptimal(utility=1e9, tolerance=1.0).policy(part).sample(1, 0).item
    assert drawn.tolist()[:2] == [0, 2]
    assert (
        ParetoOptimal(utility=1e9, tolerance=1.0).policy(part).sample(20, 3).item.reshape(20, 6)[:, 0].tolist()
        == [0] * 20
    )


def test_realisations() -> None:
    part = one(browsing=RBP(0.8))
    mixed, swapped = (ParetoOptimal(realise=how, utility=0.3).policy(part) for how in ("mixture", "transpositions"))
    assert isinstance(mixed, Mixture)
    assert isinstance(swapped, Transpositions)
    browsing = RBP(0.8).bind(None, part.candidates.indptr)
    np.testing.assert_allclose(mixed.exposure(browsing).value, swapped.exposure(browsing).value, atol=1e-12)
    with pytest.raises(ConfigError, match="transpositions"):
        ParetoOptimal(realise="transpositions").policy(one(browsing=GERR()))
    plain = ParetoOptimal(target="plug_in").optimal(one(np.array([0.4, 0.4, 0.1]), browsing=RBP(0.5)))
    assert plain.policy.exposure(RBP(0.5).bind(None, np.array([0, 3]))).value == pytest.approx([0.75, 0.75, 0.25])


@pytest.mark.parametrize(
    "method", [Thompson(), ParetoOptimal(), ScenarioOptimal(scenarios=8), ParetoOptimal(group=1.0)]
)
@pytest.mark.parametrize("model", [None, RBP(0.5), GERR(cutoff=2)])
def test_contract(method: object, model: object) -> None:
    check_method(method)
    rows = [[0.2, 0.2, 0.9], [], [0.5], [0.0, 0.0], [1.0, 1.0, 0.3, 0.0]]
    labels = ["A", None, "B", "A", None, None, "A", "A", "A", "A"]
    part = block(rows, {"g": alignment("g", labels)}, rows, browsing=model)
    policy = method.policy(part)  # type: ignore[attr-defined]
    check_policy(policy, method, part)
    draws = policy.sample(3, 5)
    lengths = [len(row) for row in rows]
    for row, length in enumerate(lengths):
        for items in draws.take(np.array([row])).item.reshape(3, length):
            assert sorted(items.tolist()) == list(range(length))
    again = method.policy(part).sample(3, 5)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(draws.item, again.item)
    alone = Block(part.candidates.rows(4, 5), part.stream[4:], part.groups, browsing=model)
    np.testing.assert_array_equal(method.policy(alone).sample(3, 5).item, draws.item[-12:])  # type: ignore[attr-defined]
    assert policy.schedule(4, 0).counts.tolist() == [4] * 5


def test_tiers_and_blind_methods() -> None:
    for kind in (ParetoOptimal, ScenarioOptimal):
        assert kind().tier == "blind"
        assert kind(group=0.5).tier == "given_groups"
        told = replace(one(browsing=GERR(), labels=LABELS))
        plain = one(browsing=GERR())
        np.testing.assert_array_equal(kind().policy(told).sample(3, 0).item, kind().policy(plain).sample(3, 0).item)
        with pytest.raises(ConfigError, match="attribute"):
            kind(group=1.0).policy(plain)
        with pytest.raises(ConfigError, match="'h'"):
            kind(group=1.0, attribute="h").policy(told)


@pytest.mark.parametrize(
    ("kind", "options", "key"),
    [
        (ParetoOptimal, {"individual": -1.0}, "individual"),
        (ParetoOptimal, {"individual": 0.0}, "individual"),
        (ParetoOptimal, {"utility": float("nan")}, "utility"),
        (ParetoOptimal, {"floor": 1.5}, "floor"),
        (ParetoOptimal, {"floor": 0.5, "utility": 1.0}, "floor"),
        (ParetoOptimal, {"target": "means"}, "target"),
        (ParetoOptimal, {"realise": "swaps"}, "realise"),
        (ParetoOptimal, {"tolerance": -1.0}, "tolerance"),
        (ParetoOptimal, {"max_iterations": 0}, "max_iterations"),
        (ScenarioOptimal, {"scenarios": 0}, "scenarios"),
        (ScenarioOptimal, {"form": "mallows"}, "form"),
        (ScenarioOptimal, {"floor": 0.5, "form": "plackett_luce"}, "floor"),
        (ScenarioOptimal, {"published": 0}, "published"),
        (ScenarioOptimal, {"total": -0.1}, "total"),
    ],
)
def test_what_is_refused(kind: type, options: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError, match=f"method.{key}"):
        kind(**options)


def test_browsing_without_a_solution_is_said() -> None:
    with pytest.raises(ValueError, match="browsing"):
        ParetoOptimal().policy(one(browsing=Cascade(np.linspace(0.1, 0.6, 6))))
