"""Exact gradients of Plackett-Luce exposure: enumeration, differences, published values, identities, determinism."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, pointers
from gradient_twins import differences, enumerated_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet, pl_exposure
from rerankers.exposure.gradients import pl_exposure_gradient, plackett_luce_gradient

RNG = np.random.default_rng(11)
SCORES = st.integers(0, 6).flatmap(
    lambda n: arrays(np.float64, n, elements=st.floats(-9, 9) | st.just(-np.inf) | st.floats(-900, 900))
)
MODELS = [
    RBP(0.9),
    RBP(0.97, cutoff=12),
    GERR(0.9, 0.5),
    ERR(1.0, 4),
    DCG(),
    DCG(10),
    TopKSet(15),
    Positions((1.0, 0.7, 0.7, 0.1)),
    Positions(tuple(np.linspace(1, 0, 40))),
]


@settings(max_examples=60, deadline=None)
@given(SCORES, SPECS, st.randoms(use_true_random=False))
def test_agrees_with_the_enumeration_of_rankings(score: np.ndarray, spec: object, random: object) -> None:
    grades = np.array([random.randint(-1, 4) for _ in score], dtype=np.int64)  # type: ignore[attr-defined]
    pull = np.array([random.choice([0.0, -2.0, 0.3, 1.0]) for _ in score])  # type: ignore[attr-defined]
    browsing = bound(spec, grades, one_row(len(score)))
    expected = enumerated_gradient(score, browsing.position, browsing.continuation, pull)
    found = plackett_luce_gradient(one_row(len(score)), score, browsing, pull)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("spec", MODELS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize(("n", "scale"), [(5, 1.0), (60, 2.0), (33, 30.0)])
def test_agrees_with_central_differences(spec: object, n: int, scale: float) -> None:
    score, pull, grades = RNG.normal(size=n) * scale, RNG.normal(size=n), RNG.integers(-1, 4, n)
    expected = differences(lambda s: float(pull @ pl_exposure(s, spec, grades)), score)
    found = pl_exposure_gradient(score, spec, pull, grades)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert found.sum() == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("spec", [GERR(0.9, 0.5), DCG(5)], ids=lambda value: str(value)[:40])
def test_a_squared_distance_to_a_target_by_the_chain_rule(spec: object) -> None:
    n = 20
    score, target, grades = RNG.normal(size=n), RNG.random(n), RNG.integers(0, 3, n)

    def loss(s: np.ndarray) -> float:
        return float(np.square(pl_exposure(s, spec, grades) - target).sum())

    slope = 2 * (pl_exposure(score, spec, grades) - target)
    found = pl_exposure_gradient(score, spec, slope, grades)
    np.testing.assert_allclose(found, differences(loss, score), rtol=0, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.floats(0, 300), st.integers(0, 2**32 - 1))
def test_identities(n: int, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, pull = rng.normal(size=n) * scale, rng.normal(size=n)
    continuation = rng.choice([0, 1, 0.3, rng.random()], size=n)
    flat, zero = Cascade(continuation), np.zeros(n)
    np.testing.assert_allclose(pl_exposure_gradient(score, flat, 1 - continuation), zero, atol=1e-13)
    np.testing.assert_allclose(pl_exposure_gradient(score, Cascade(np.ones(n)), pull), zero, atol=1e-13)
    share = np.exp(score - score.max()) / np.exp(score - score.max()).sum()
    first = share * (pull - share @ pull)
    np.testing.assert_allclose(pl_exposure_gradient(score, Cascade(zero), pull), first, atol=1e-13)
    order = rng.permutation(n)
    for spec in (RBP(0.9), DCG(), TopKSet(3), Positions((1.0, 0.4))):
        gradient = pl_exposure_gradient(score, spec, pull)
        assert gradient.sum() == pytest.approx(0, abs=1e-13)
        np.testing.assert_allclose(pl_exposure_gradient(score[order], spec, pull[order]), gradient[order], atol=1e-12)
        np.testing.assert_allclose(pl_exposure_gradient(score + 1234.5, spec, pull), gradient, atol=1e-10)
        np.testing.assert_allclose(pl_exposure_gradient(score, spec, np.full(n, 2.5)), zero, atol=1e-12)


@pytest.mark.parametrize("n", [30, 70, 400])
def test_weights_of_ranks_against_the_gradient_without(n: int) -> None:
    score, pull = RNG.normal(size=n) * 2, RNG.normal(size=n)
    for p in (0.5, 0.98):
        geometric = Positions(tuple(p ** np.arange(n)))
        expected = pl_exposure_gradient(score, RBP(p), pull)
        np.testing.assert_allclose(pl_exposure_gradient(score, geometric, pull), expected, atol=1e-13)
    continuation = RNG.choice([0.8, 0.95], n)
    expected = pl_exposure_gradient(score, Cascade(continuation), pull)
    same = Cascade(continuation / 0.97, 0.97 ** np.arange(n))
    np.testing.assert_allclose(pl_exposure_gradient(score, same, pull), expected, atol=1e-13)


def test_levels_beyond_a_gap_and_minus_infinity() -> None:
    score = np.array([3.0, -np.inf, 2.5, -90.0, -91.0, -np.inf])
    pull, continuation = RNG.normal(size=6), np.array([0.9, 0.5, 0.8, 0.7, 0.4, 0.3])
    for position in (None, np.array([1.0, 0.8, 0.7, 0.5])):
        found = pl_exposure_gradient(score, Cascade(continuation, position), pull)
        expected = enumerated_gradient(score, position, continuation, pull)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
        assert np.all(found[[1, 5]] == 0)
        assert np.all(found[[0, 2, 3, 4]] != 0)
    np.testing.assert_array_equal(pl_exposure_gradient([-np.inf] * 3, DCG(), [1.0, 2.0, 3.0]), np.zeros(3))


@pytest.mark.parametrize("spread", [36.0, 600.0, 2000.0, 1e300])
def test_spreads_of_any_size(spread: float) -> None:
    score, pull = np.linspace(0, -spread, 30), np.arange(30.0)
    for spec in (RBP(0.9), DCG(), TopKSet(4)):
        gradient = pl_exposure_gradient(score, spec, pull)
        assert np.all(np.isfinite(gradient))
        assert gradient.sum() == pytest.approx(0, abs=1e-12)
        if spread > 2000:
            np.testing.assert_array_equal(gradient, np.zeros(30))


def test_equal_scores_move_by_their_pull_alone() -> None:
    n, p = 50, 0.9
    pull = RNG.normal(size=n)
    mean = (1 - p**n) / (1 - p) / n
    step = 1e-4
    raised = pl_exposure(np.r_[step, np.zeros(n - 1)], RBP(p))[0]
    slope = (raised - mean) / step * n / (n - 1)  # every document is like every other
    np.testing.assert_allclose(pl_exposure_gradient(np.zeros(n), RBP(p), pull), slope * (pull - pull.mean()), atol=1e-3)
    for spec in (RBP(p), DCG(), DCG(7)):
        np.testing.assert_allclose(pl_exposure_gradient(np.zeros(n), spec, np.ones(n)), np.zeros(n), atol=1e-14)


def test_empty_and_single() -> None:
    for spec in (RBP(), DCG(), TopKSet(1)):
        assert pl_exposure_gradient([], spec, []).shape == (0,)
        np.testing.assert_array_equal(pl_exposure_gradient([3.0], spec, [2.0]), [0.0])
    rows = np.array([0, 0, 1, 1])
    np.testing.assert_array_equal(plackett_luce_gradient(rows, [5.0], RBP().bind(None, rows), [1.0]), [0.0])


def test_wrong_arguments() -> None:
    for wrong in ([0, np.nan], [np.inf, 0], [[0, 1]]):
        with pytest.raises(ValueError, match="scores: found"):
            pl_exposure_gradient(wrong, RBP(), [1, 1])
    for wrong in ([0, np.nan], [np.inf, 0], [1], [[0, 1]]):
        with pytest.raises(ValueError, match="weights: found"):
            pl_exposure_gradient([0, 1], RBP(), wrong)
    with pytest.raises(ValueError, match="grades"):
        pl_exposure_gradient([0, 1], GERR(), [1, 1])
    browsing = RBP().bind(None, one_row(2))
    with pytest.raises(ValueError, match="logits: found"):
        plackett_luce_gradient(one_row(2), [0, np.nan], browsing, [1, 1])
    with pytest.raises(ValueError, match="pull: found an array of shape"):
        plackett_luce_gradient(one_row(2), [0, 1], browsing, [1])
    with pytest.raises(ValueError, match="one a document"):
        plackett_luce_gradient(one_row(3), [0, 1, 2], browsing, [1, 1, 1])


@pytest.mark.parametrize(
    "spec", [GERR(0.9, 0.5), DCG(), DCG(5), TopKSet(30), GERR(0.5, 0.5, cutoff=100)], ids=lambda value: str(value)[:40]
)
def test_a_row_has_the_same_bits_in_every_block(spec: object) -> None:
    lengths = [0, 1, *RNG.integers(1, 12, 20).tolist(), 70, 70, 31, 32, 65, 70, *[5] * 100, 200, 2]
    rows = pointers(lengths)
    score, grades, pull = RNG.normal(size=rows[-1]) * 3, RNG.integers(0, 3, rows[-1]), RNG.normal(size=rows[-1])
    score[RNG.random(len(score)) < 0.02] = -np.inf
    whole = plackett_luce_gradient(rows, score, bound(spec, grades, rows), pull)
    for low, high in ((1, 2), (5, 6), (22, 25), (24, 26), (10, 40), (100, len(lengths))):
        part, alone = slice(rows[low], rows[high]), rows[low : high + 1] - rows[low]
        piece = plackett_luce_gradient(alone, score[part], bound(spec, grades[part], alone), pull[part])
        np.testing.assert_array_equal(piece, whole[part])


@pytest.mark.shared_data
def test_published_gradients(shared: Path) -> None:
    values = json.loads((shared / "oracles/algorithms/pl_exposure_gradients.json").read_text())
    for case in values["gradients"]:
        found = pl_exposure_gradient(case["scores"], Positions(tuple(case["rank_weights"])), case["labels"])
        np.testing.assert_allclose(found, case["grad_exact"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found, case["grad_central_diff_1e-6"], rtol=0, atol=1e-7)
    for name, case in values["pitfalls"].items():
        if "scores" in case:
            found = pl_exposure_gradient(case["scores"], DCG(int(name[-1])), case["labels"])
            np.testing.assert_allclose(found, case["exact"], rtol=0, atol=1e-12)
