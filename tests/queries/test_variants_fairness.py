"""Fairness under query variability against plain sums over rankings, and what must hold whatever the numbers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.exposure.browsing import GERR, RBP
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.names import parse
from rerankers.policies import PlackettLuce, static
from rerankers.queries.fairness_under_variants import (
    TopicExposure,
    VariantExposure,
    exposure_of_variants,
    over_variants,
    target_of_topics,
)
from rerankers.values import Candidates, GroupAlignment, Judgments

GROUP = np.array([0, 0, 1, 1, 2, 1])
D, G = len(GROUP), 3
ALIGNED = GroupAlignment.of_entries("g", ("x", "y", "z"), np.arange(D), GROUP, np.ones(D), D).resolve("drop")
LISTS = [[0, 2, 4], [2, 3], [1, 5, 0], []]
TOPIC = np.array([0, 0, 1, 1])
LOGITS = np.array([1.0, 0.2, -0.5, 0.0, 0.3, 0.1, -0.2, 0.9])
GRADES = {0: {0: 1, 3: 2, 5: -1}, 1: {1: 1}}


def rows() -> Candidates:
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in LISTS])])
    doc = np.array([doc for one in LISTS for doc in one], dtype=np.int32)
    return Candidates(np.arange(len(LISTS), dtype=np.int32), indptr, doc, {"score": LOGITS})


def judged(of: list[dict[int, int]]) -> Judgments:
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in of])])
    doc = np.array([doc for one in of for doc in sorted(one)], dtype=np.int32)
    grade = np.array([one[doc] for one in of for doc in sorted(one)], dtype=np.int16)
    return Judgments(np.arange(len(of), dtype=np.int32), indptr, doc, {"grade": grade})


def evaluation(policy: object, **options: object) -> Evaluation:
    judgments = judged([GRADES[topic] for topic in TOPIC])
    return Evaluation(policy, judgments, {"g": ALIGNED}, Options(max_grade=2, **options))  # type: ignore[arg-type]


def streams() -> np.ndarray:
    return query_streams([f"v{row}" for row in range(len(LISTS))])


def plain(model: GERR, docs: list[int], logits: np.ndarray, grades: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and mean square of the groups' exposure over all rankings of one Plackett-Luce policy."""
    mean, square = np.zeros(G), np.zeros(G)
    for order in permutations(range(len(docs))):
        chance, left = 1.0, list(range(len(docs)))
        for item in order:
            chance *= np.exp(logits[item]) / np.exp(logits[left]).sum()
            left.remove(item)
        exposure, reached = np.zeros(G), 1.0
        for item in order:
            exposure[GROUP[docs[item]]] += reached
            stops = model.satisfaction if grades.get(docs[item], 0) > 0 else 0.0
            reached *= model.patience * (1 - stops)
        mean += chance * exposure
        square += chance * exposure**2
    return mean, square


MODEL = GERR(patience=0.8, satisfaction=0.7)


def test_against_sums_over_all_rankings() -> None:
    policy = PlackettLuce(rows(), LOGITS, streams())
    found = exposure_of_variants(evaluation(policy, browsing=MODEL, samples=20_000), "g", MODEL)
    for row, docs in enumerate(LISTS):
        logits = LOGITS[rows().row(row)]
        mean, square = plain(MODEL, docs, logits, GRADES[int(TOPIC[row])])
        np.testing.assert_allclose(found.expected[row], mean, atol=1e-12)
        np.testing.assert_allclose(found.within[row], square - mean**2, atol=0.02)
    np.testing.assert_array_equal(found.noise, 0.0)


def test_a_static_policy_has_no_variance_within() -> None:
    policy = static(rows(), LOGITS, streams())
    found = exposure_of_variants(evaluation(policy, browsing=MODEL), "g", MODEL)
    assert found.within.max() < 1e-15
    order = [np.argsort(-LOGITS[rows().row(row)], kind="stable") for row in range(len(LISTS))]
    for row, docs in enumerate(LISTS):
        exposure, reached = np.zeros(G), 1.0
        for item in order[row]:
            exposure[GROUP[docs[item]]] += reached
            reached *= 0.8 * (0.3 if GRADES[int(TOPIC[row])].get(docs[item], 0) > 0 else 1.0)
        np.testing.assert_allclose(found.expected[row], exposure, atol=1e-12)


class Closed:
    """A policy without a closed form: its exposure has to be drawn."""

    def __init__(self, policy: PlackettLuce) -> None:
        self.policy, self.over, self.stream = policy, policy.over, policy.stream

    def exposure(self, browsing: object) -> None:
        return None

    def sample(self, *args: object, **more: object) -> object:
        return self.policy.sample(*args, **more)  # type: ignore[arg-type]


def test_estimates_from_draws_are_unbiased() -> None:
    """Over many seeds, loss and both variances from two draws meet those of the closed form."""
    policy = PlackettLuce(rows(), LOGITS, streams())
    target = np.array([[0.5, 0.6, 0.1], [0.9, 0.2, 0.1]])
    exact = exposure_of_variants(evaluation(policy, browsing=MODEL, samples=50_000), "g", MODEL)
    truth = over_variants(exact, TOPIC, np.array([1.0, 3.0, 1.0, 1.0]), target)
    names = ("loss", "mean_loss", "between", "within")
    sums = {name: 0.0 * getattr(truth, name) for name in names}
    seeds = 1500
    for seed in range(seeds):
        drawn = evaluation(Closed(policy), browsing=MODEL, samples=2, seed=seed)
        found = over_variants(exposure_of_variants(drawn, "g", MODEL), TOPIC, np.array([1.0, 3.0, 1.0, 1.0]), target)
        for name in names:
            sums[name] += getattr(found, name) / seeds
    for name in names:
        np.testing.assert_allclose(sums[name], getattr(truth, name), atol=0.05, err_msg=name)


def test_one_draw_tells_nothing_of_the_variance_within() -> None:
    policy = PlackettLuce(rows(), LOGITS, streams())
    found = exposure_of_variants(evaluation(policy, browsing=MODEL, samples=1), "g", MODEL)
    assert np.isnan(found.within).all()
    assert np.isfinite(found.expected).all()
    np.testing.assert_array_equal(found.noise, 0.0)
    found = exposure_of_variants(evaluation(Closed(policy), browsing=MODEL, samples=1), "g", MODEL)
    topics = over_variants(found, TOPIC, np.ones(len(TOPIC)), np.ones((2, G)))
    assert np.isnan(topics.loss).all()
    assert np.isnan(topics.between).all()
    assert np.isfinite(topics.expected).all()


def test_the_target_is_over_what_any_variant_finds_and_what_is_judged() -> None:
    target = target_of_topics(rows(), TOPIC, judged([GRADES[0], GRADES[1]]), 2, ALIGNED, MODEL)
    # topic 0: documents 0, 2, 3, 4 were found, 5 is judged; 3 (grade 2) first, then 0, then 2, 4, 5 in any order
    first, second = 1.0, 0.8 * 0.3
    rest = np.mean([(0.8 * 0.3) ** 2 * 0.8**place for place in range(3)])
    expected = np.zeros(G)
    expected[1] += first + 2 * rest  # 3, 2 and 5
    expected[0] += second
    expected[2] += rest
    np.testing.assert_allclose(target[0], expected, atol=1e-12)
    nothing = target_of_topics(rows(), TOPIC, judged([{0: 0}, {1: -1}]), 2, ALIGNED, MODEL)
    assert np.isnan(nothing).all()


def test_one_variant_has_the_loss_of_the_measure() -> None:
    """A topic with a single variant is a query: its loss is the measure group_EEL over the union."""
    policy = PlackettLuce(rows(), LOGITS, streams())
    one = evaluation(policy, browsing=MODEL)
    each = np.arange(len(LISTS))
    judgments = judged([GRADES[topic] for topic in TOPIC])
    target = target_of_topics(rows(), each, judgments, len(each), ALIGNED, MODEL)
    found = over_variants(exposure_of_variants(one, "g", MODEL), each, np.ones(len(each)), target)
    scores = parse("group_EEL").per_unit(one, [str(row) for row in each])
    np.testing.assert_allclose(found.loss, scores.value, atol=1e-12)
    np.testing.assert_allclose(found.between, 0.0, atol=1e-15)
    assert np.isnan(found.between_sample).all()


def tables(size: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, (size, G), elements=st.floats(0, 3))


@given(
    tables(5),
    tables(2),
    hnp.arrays(np.float64, 5, elements=st.floats(0.1, 5)),
    hnp.arrays(np.int64, 5, elements=st.integers(0, 1)),
)
@settings(max_examples=60, deadline=None)
def test_what_always_holds(expected: np.ndarray, target: np.ndarray, weight: np.ndarray, topic: np.ndarray) -> None:
    zero = np.zeros_like(expected)
    found = over_variants(VariantExposure(expected, zero + 0.25, zero), topic, weight, target)
    for row in range(2):
        mine = topic == row
        if not mine.any():
            assert found.variants[row] == 0
            assert np.isnan(found.loss[row])
            assert found.worst[row] == -1
            continue
        share = weight[mine] / weight[mine].sum()
        mean = share @ expected[mine]
        own = np.square(expected[mine] - target[row]).sum(axis=1)
        np.testing.assert_allclose(found.expected[row], mean, atol=1e-9)
        np.testing.assert_allclose(found.between[row], share @ np.square(expected[mine] - mean), atol=1e-9)
        np.testing.assert_allclose(found.mean_loss[row], found.loss[row] + found.between[row].sum(), atol=1e-9)
        np.testing.assert_allclose(
            found.second_moment[row], (share @ (np.square(expected[mine]) + 0.25)).sum(), atol=1e-9
        )
        np.testing.assert_allclose(found.worst_loss[row], own.max(), atol=1e-9)
        assert mine[found.worst[row]]
        assert found.worst_loss[row] >= found.mean_loss[row] - 1e-9 >= found.loss[row] - 2e-9
        if mine.sum() > 1:
            factor = 1 - np.square(share).sum()
            np.testing.assert_allclose(found.between_sample[row] * factor, found.between[row], atol=1e-9)


def test_equal_variants_differ_in_nothing_and_the_first_is_the_worst() -> None:
    same = np.tile([1.0, 0.5, 0.0], (3, 1))
    found = over_variants(VariantExposure(same, 0 * same, 0 * same), np.zeros(3, int), np.ones(3), np.ones((1, G)))
    assert isinstance(found, TopicExposure)
    np.testing.assert_array_equal(found.between, 0.0)
    assert found.worst[0] == 0
    assert found.loss[0] == pytest.approx(1.25)


@pytest.mark.parametrize("weight", [[1.0, 0.0], [1.0, -1.0], [np.nan, 1.0]])
def test_weights_that_are_none(weight: list[float]) -> None:
    two = np.zeros((2, G))
    with pytest.raises(InputError, match="weight: found weights that are not positive"):
        over_variants(VariantExposure(two, two, two), np.zeros(2, int), np.array(weight), np.zeros((1, G)))


def test_no_variant_at_all() -> None:
    none = np.zeros((0, G))
    found = over_variants(VariantExposure(none, none, none), np.zeros(0, int), np.zeros(0), np.zeros((2, G)))
    assert found.variants.tolist() == [0, 0]
    assert np.isnan(found.expected).all()


def test_browsing_by_position() -> None:
    model = RBP(patience=0.5)
    policy = PlackettLuce(rows(), LOGITS, streams())
    found = exposure_of_variants(evaluation(policy, browsing=model), "g", model)
    lengths = np.array([len(one) for one in LISTS])
    np.testing.assert_allclose(found.expected.sum(axis=1), 2 * (1 - 0.5**lengths), atol=1e-12)
