"""Label shuffles: exposure by enumeration of labels, probabilities, draws given at least one label."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers.exposure import DCG, GERR, RBP, TopKSet
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import shuffle_exposure
from rerankers.policies.label_shuffle import LabelShuffle, levels
from rerankers.values import Ragged

MODELS = [GERR(0.9, 0.4), GERR(0.9, 0.4, cutoff=2), RBP(0.7), DCG(), TopKSet(1)]


def enumerated(chance: np.ndarray, browsing: object, over: Ragged, known: bool) -> np.ndarray:
    """Add up the exposure of shuffles within all labels."""
    total, mass = np.zeros(len(chance)), 0.0
    for label in itertools.product([0.0, 1.0], repeat=len(chance)):
        if known and sum(label) == 0 and chance.any():
            continue
        weight = np.prod(np.where(np.array(label) > 0, chance, 1 - chance))
        mass += weight
        total += weight * shuffle_exposure(over.indptr, np.array(label), browsing)  # type: ignore[arg-type]
    return total / mass


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(data=st.data(), n=st.integers(1, 5), known=st.booleans())
@settings(max_examples=20)
def test_exposure_is_the_mean_over_labels(model: object, data: st.DataObject, n: int, known: bool) -> None:
    chances = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-9, 0.5]))
    chance = np.array(data.draw(st.lists(chances, min_size=n, max_size=n)))
    grade = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    over = rows([n])
    browsing = model.bind(grade, over.indptr)  # type: ignore[attr-defined]
    found = LabelShuffle(over, chance, streams(1), known).exposure(browsing)
    assert found.exact
    np.testing.assert_allclose(found.value, enumerated(chance, browsing, over, known), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("chance", [[0.3, 0.0, 0.9, 0.2], [1.0, 0.5, 0.0, 0.1], [0.0] * 4, [1e-9, 1e-9, 0.0, 0.0]])
def test_probabilities_sum_to_one_and_give_the_exposure(known: bool, chance: list[float]) -> None:
    over = rows([4])
    policy = LabelShuffle(over, np.array(chance), streams(1), known)
    for k in range(5):
        assert np.exp(policy.log_prob(every_ranking(4, k))).sum() == pytest.approx(1, abs=1e-9)
    weighted = replace(every_ranking(4), weight=np.exp(policy.log_prob(every_ranking(4))))
    browsing = GERR(0.9, 0.4, cutoff=3).bind(np.array([1.0, 0, 0, 1]), over.indptr)
    np.testing.assert_allclose(exposure_of(weighted, browsing).value, policy.exposure(browsing).value, atol=1e-9)


@pytest.mark.parametrize("known", [False, True])
def test_draws_and_schedules_have_the_exposure(known: bool) -> None:
    lengths = [5, 0, 1, 40]
    over = rows(lengths)
    chance = np.random.default_rng(3).beta(1, 6, over.nnz)
    policy = LabelShuffle(over, chance, streams(4), known)
    browsing = GERR(0.8, 0.5).bind((np.arange(over.nnz) % 3 == 0).astype(float), over.indptr)
    exact = policy.exposure(browsing).value
    drawn = exposure_of(policy.sample(4000, seed=1), browsing).value
    assert np.abs(drawn - exact).max() < 5 * 0.5 / np.sqrt(4000)
    even = exposure_of(policy.schedule(4000, seed=1), browsing).value
    np.testing.assert_allclose(even, exact, atol=5 * 0.5 / np.sqrt(4000))
    assert np.square(even - exact).sum() < np.square(drawn - exact).sum()
    for size, orders in zip(lengths, matrices(policy.schedule(7, seed=2)), strict=True):
        assert all(sorted(order) == list(range(size)) for order in orders)


def test_a_draw_depends_on_seed_query_and_number_only() -> None:
    over = rows([4, 30])
    chance = np.random.default_rng(1).random(34)
    policy = LabelShuffle(over, chance, streams(2), True)
    whole = matrices(policy.sample(500, seed=3))
    assert matrices(policy.sample(5, seed=3, first=450)) == [orders[450:455] for orders in whole]
    assert matrices(policy.sample(500, seed=3, depth=3)) == [[order[:3] for order in orders] for orders in whole]
    alone = LabelShuffle(rows([30], 1), chance[4:], streams(1, 1), True)
    assert matrices(alone.sample(500, seed=3)) == whole[1:]
    assert matrices(policy.sample(5, seed=4))[1] != whole[1][:5]


def test_labels_given_at_least_one() -> None:
    chance = np.array([0.05, 0.0, 0.1, 0.02])
    noise = np.random.default_rng(0).random((60_000, 4))
    label = noise < levels(chance, noise)
    assert label.any(axis=1).all()
    expected = chance / (1 - np.prod(1 - chance))
    np.testing.assert_allclose(label.mean(axis=0), expected, atol=0.01)
    both = chance[0] * chance[2] / (1 - np.prod(1 - chance))
    assert (label[:, 0] & label[:, 2]).mean() == pytest.approx(both, abs=0.005)
    nothing = levels(np.zeros(3), noise[:, :3])
    assert not (noise[:, :3] < nothing).any(), "where nothing may be relevant, nothing is"


def test_long_rows_are_exact_enough() -> None:
    n = 3000
    over, chance = rows([n]), np.full(n, 0.01)
    policy = LabelShuffle(over, chance, streams(1))
    # documents alike: everyone has the mean exposure of ranks
    browsing = RBP(0.99).bind(None, over.indptr)
    mean = (1 - 0.99**n) / (0.01 * n)
    np.testing.assert_allclose(policy.exposure(browsing).value, mean, rtol=1e-9)


def test_what_is_refused() -> None:
    over = rows([2])
    for wrong in ([0.5, 1.5], [-0.1, 0.5], [np.nan, 0.5]):
        with pytest.raises(ValueError, match="probability"):
            LabelShuffle(over, np.array(wrong), streams(1))
    with pytest.raises(ValueError, match="chance"):
        LabelShuffle(over, np.array([0.5]), streams(1))
    with pytest.raises(ValueError, match="browsing"):
        LabelShuffle(over, np.array([0.5, 0.5]), streams(1)).exposure(RBP().bind(None, np.array([0, 3])))
