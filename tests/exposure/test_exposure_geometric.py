"""Mixtures of geometric sequences: the weights at every rank, exposure and gradients against other methods."""

from __future__ import annotations

import numpy as np
import pytest
from exposure_twins import subset_exposure
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.exposure.closed_form import mixture as _mixture
from rerankers.exposure.closed_form import sweep as _sweep
from rerankers.exposure.closed_form.geometric import geometric_exposure, geometric_gradient, geometric_mixture
from rerankers.exposure.closed_form.marginals import weighted_race
from rerankers.exposure.closed_form.quadrature import race_exposure

RNG = np.random.default_rng(37)
SCORES = st.lists(st.floats(-3, 3) | st.floats(-40, 40) | st.floats(-900, 900), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)
MONOTONE = {
    "dcg": lambda r: 1 / np.log2(r + 2),
    "inverse": lambda r: 3 / (r + 1),
    "root": lambda r: (r + 1) ** -0.5,
    "square": lambda r: (r + 1.0) ** -2,
    "geometric": lambda r: 0.5 * 0.97**r,
    "underflow": lambda r: 0.3**r,
    "constant": lambda r: np.full(len(r), 0.2),
    "first": lambda r: np.where(r == 0, 1.0, 0.4),
    "only": lambda r: np.where(r == 0, 1.0, 0.0),
}


def exposure(score: np.ndarray, continuation: np.ndarray, share: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    return geometric_exposure(score[None], continuation[None], share[None], ratio)[0]


def gradient(
    score: np.ndarray, continuation: np.ndarray, share: np.ndarray, ratio: np.ndarray, pull: np.ndarray
) -> np.ndarray:
    return geometric_gradient(score[None], continuation[None], share[None], ratio, pull[None])[0]


def weights(share: np.ndarray, ratio: np.ndarray, n: int) -> np.ndarray:
    return np.array([np.sum(share * ratio**rank) for rank in range(n)])


def world(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Continuations and ratios with both ends, shares some of which are 0; ratios in no order."""
    continuation = rng.choice([0.0, 1.0, 0.5, rng.random()], n)
    share, ratio = rng.choice([0.0, rng.random(), rng.random()], 7), rng.permutation([0, 1, 0.5, 1e-3, 0.999, 0.9, 0.9])
    return continuation, share, ratio


@pytest.mark.parametrize("name", MONOTONE)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 77, 1000, 6000])
def test_a_mixture_has_the_weights_at_every_rank(name: str, n: int) -> None:
    position = MONOTONE[name](np.arange(n, dtype=np.float64))
    mixture = geometric_mixture(position)
    assert mixture is not None
    share, ratio = mixture
    assert len(share) <= 48
    assert np.all(share > 0)
    assert np.all(np.diff(ratio) < 0)
    assert ratio.min() >= 0
    assert ratio.max() <= 1
    np.testing.assert_allclose(weights(share, ratio, n), position, rtol=0, atol=5e-14 * position[0])


def test_a_mixture_for_a_hundred_thousand_ranks() -> None:
    position = 1 / np.log2(np.arange(100_000) + 2)
    mixture = geometric_mixture(position)
    assert mixture is not None
    share, ratio = mixture
    assert len(share) <= 60
    some = np.append(np.arange(60_000, 60_500), 99_999)
    np.testing.assert_allclose(ratio ** some[:, None] @ share, position[some], rtol=0, atol=2e-14)


@pytest.mark.parametrize("n", [30, 5000])
def test_other_weights_have_no_mixture(n: int) -> None:
    rank = np.arange(n, dtype=np.float64)
    dcg = 1 / np.log2(rank + 2)
    bump = dcg.copy()
    bump[n // 2] += 1e-9
    cut = np.where(rank < n - 1, dcg, 0.0)
    wrong = [cut, np.where(rank < 2, 1.0, 0.5), bump, n - rank, dcg[::-1].copy(), np.zeros(n), np.append(np.nan, dcg)]
    wrong += [-dcg, 1.01**rank]
    for position in wrong:
        assert geometric_mixture(position) is None


def test_mixtures_are_remembered_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mixture, "KEPT", 2)
    position = 1 / np.log2(np.arange(50) + 2.5)
    first = geometric_mixture(position)
    assert first is not None
    assert geometric_mixture(position.copy()) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0][0] = 1.0
    for _ in range(3):
        geometric_mixture(RNG.random(3))
    again = geometric_mixture(position)
    assert again is not None
    assert again is not first
    for old, new in zip(first, again, strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_fit_that_does_not_end_is_no_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, **__: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", endless)
    assert geometric_mixture(1 / np.log2(np.arange(50) + 2.75)) is None


@settings(max_examples=60)
@given(SCORES, SEEDS)
def test_agrees_with_the_enumeration_of_subsets(scores: list[float], seed: int) -> None:
    score, n = np.array(scores), len(scores)
    continuation, share, ratio = world(np.random.default_rng(seed), n)
    expected = subset_exposure(score, weights(share, ratio, n), continuation)
    found = exposure(score, continuation, share, ratio)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-14)
    large = expected > 1e-15
    np.testing.assert_allclose(found[large], expected[large], rtol=1e-12)


@settings(max_examples=40)
@given(st.lists(st.floats(-3, 3) | st.floats(-40, 40), min_size=1, max_size=5), SEEDS)
def test_gradient_is_that_of_the_enumeration(scores: list[float], seed: int) -> None:
    rng, score, n = np.random.default_rng(seed), np.array(scores), len(scores)
    continuation, share, ratio = world(rng, n)
    pull, position = rng.normal(size=n), weights(share, ratio, n)
    moves = 1e-5 * np.eye(n)
    above, below = (
        [pull @ subset_exposure(score + sign * move, position, continuation) for move in moves] for sign in (1, -1)
    )
    found = gradient(score, continuation, share, ratio, pull)
    np.testing.assert_allclose(found, (np.array(above) - np.array(below)) / 2e-5, rtol=0, atol=5e-9)
    assert found.sum() == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 40, 300])
def test_discounts_against_roots_of_unity(n: int) -> None:
    rank = np.arange(n, dtype=np.float64)
    for name in ("dcg", "inverse", "first"):
        position = MONOTONE[name](rank)
        mixture = geometric_mixture(position)
        assert mixture is not None
        for scale in (0.0, 2.0, 40.0):
            score, pull = RNG.normal(size=n) * scale, RNG.normal(size=n)
            for continuation in (np.ones(n), RNG.choice([0.0, 1.0, 0.9], n)):
                found = exposure(score, continuation, *mixture)
                expected = weighted_race(score[None], continuation[None], position[None])[0]
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
                slope = gradient(score, continuation, *mixture, pull)
                assert slope.sum() == pytest.approx(0, abs=2e-13)
                move = 1e-5 * (np.arange(n) == n // 3)
                twice = [exposure(score + sign * move, continuation, *mixture) @ pull for sign in (1, -1)]
                assert slope[n // 3] == pytest.approx((twice[0] - twice[1]) / 2e-5, abs=1e-8)
            assert exposure(score, np.ones(n), *mixture).sum() == pytest.approx(position.sum(), rel=1e-13)


def test_closed_forms() -> None:
    for n in (1, 3, 60, 900):
        score, continuation = RNG.normal(size=n) * 3, RNG.choice([0.0, 1.0, 0.3, 0.99], n)
        for p in (0.0, 0.6, 1.0):
            found = exposure(score, continuation, np.array([2.0]), np.array([p]))
            expected = 2 * race_exposure(score[None], p * continuation[None])[0]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
        softmax = np.exp(score) / np.exp(score).sum()
        top = exposure(score, np.zeros(n), np.array([0.5, 0.5]), np.array([1.0, 0.3]))
        np.testing.assert_allclose(top, softmax, rtol=1e-12)
    ties = exposure(np.zeros(4000), np.ones(4000), np.array([1.0, 1.0]), np.array([0.99, 1e-6]))
    np.testing.assert_allclose(ties, (100 + 1 / (1 - 1e-6)) / 4000, rtol=1e-12)


@pytest.mark.parametrize("spread", [36.0, 600.0, 2000.0])
def test_any_spread(spread: float) -> None:
    n = 30
    score, mixture = np.linspace(0, -spread, n), geometric_mixture(1 / np.log2(np.arange(n) + 2))
    assert mixture is not None
    found = exposure(score, np.full(n, 0.9), *mixture)
    assert np.all(np.diff(found) < 1e-15)
    if spread > 1500:
        np.testing.assert_allclose(found, 0.9 ** np.arange(n) / np.log2(np.arange(n) + 2), rtol=1e-12)
    slope = gradient(score, np.full(n, 0.9), *mixture, np.arange(float(n)))
    assert slope.sum() == pytest.approx(0, abs=1e-13)


def test_a_level_takes_up_where_the_one_above_ends() -> None:
    n, above = 20, 13
    score, continuation = RNG.normal(size=n), RNG.random(n)
    share, ratio = np.array([0.4, 0.3, 0.3]), np.array([1.0, 0.8, 0.1])
    found = exposure(score, continuation, share * ratio**above, ratio)
    weight = weights(share, ratio, n + above)[above:]
    expected = weighted_race(score[None], continuation[None], weight[None])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_segments_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    n, pull = 101, RNG.normal(size=101)
    score = RNG.normal(size=n) * 3
    arguments = score, *world(RNG, n)
    found, slope = exposure(*arguments), gradient(*arguments, pull)
    monkeypatch.setattr(_sweep, "STORED", 1)
    assert len(_sweep.segments(n, 7)[0]) == 10
    np.testing.assert_array_equal(exposure(*arguments), found)
    np.testing.assert_array_equal(gradient(*arguments, pull), slope)


@pytest.mark.parametrize("n", [3, 40, 500])
def test_a_row_has_the_same_bits_in_every_block(n: int) -> None:
    rows = 20
    score, pull = RNG.normal(size=(rows, n)) * RNG.uniform(0, 9, (rows, 1)), RNG.normal(size=(rows, n))
    continuation, share, ratio = RNG.random((rows, n)), RNG.random((rows, 4)), np.array([0.2, 1.0, 0.9, 0.0])
    share[3] = 0.0
    found = geometric_exposure(score, continuation, share, ratio)
    slope = geometric_gradient(score, continuation, share, ratio, pull)
    for row in (0, 3, 11, 19):
        np.testing.assert_array_equal(exposure(score[row], continuation[row], share[row], ratio), found[row])
        np.testing.assert_array_equal(gradient(score[row], continuation[row], share[row], ratio, pull[row]), slope[row])
    assert not found[3].any()
    assert not slope[3].any()


def test_empty_blocks() -> None:
    nothing, share, ratio = np.empty((0, 4)), np.empty((0, 2)), np.array([0.5, 0.1])
    assert geometric_exposure(nothing, nothing, share, ratio).shape == (0, 4)
    assert geometric_gradient(nothing, nothing, share, ratio, nothing).shape == (0, 4)
    one = np.ones((1, 1))
    np.testing.assert_array_equal(geometric_exposure(one, one, np.array([[0.25, 0.5]]), ratio), [[0.75]])
    np.testing.assert_array_equal(geometric_gradient(one, one, np.array([[0.25, 0.5]]), ratio, one), [[0.0]])
