"""Exact Plackett-Luce exposure: subset enumeration, identities, published values, extreme scores, determinism."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, plain_exposure, pointers, subset_exposure
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerankers.exposure import DCG, GERR, RBP, Cascade, Positions, TopKSet, pl_exposure, pl_rank_marginals
from rerankers.exposure.closed_form.plackett_luce import exact_exposure, plackett_luce_exposure

RNG = np.random.default_rng(5)
SCORES = st.integers(0, 9).flatmap(
    lambda n: arrays(np.float64, n, elements=st.floats(-30, 30) | st.just(-np.inf) | st.floats(-900, 900))
)


@settings(max_examples=60, deadline=None)
@given(SCORES, SPECS, st.randoms(use_true_random=False))
def test_agrees_with_the_enumeration_of_subsets(score: np.ndarray, spec: object, random: object) -> None:
    grades = np.array([random.randint(-1, 4) for _ in score], dtype=np.int64)  # type: ignore[attr-defined]
    browsing = bound(spec, grades, one_row(len(score)))
    expected = subset_exposure(score, browsing.position, browsing.continuation)
    found = plackett_luce_exposure(one_row(len(score)), score, browsing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize("scale", [0.0, 1.0, 8.0, 200.0])
def test_twelve_documents_with_any_continuation(scale: float) -> None:
    score = RNG.normal(size=12) * scale
    continuation = np.array([0, 1, 0.5, 0.5, 1e-12, 0.9, 1, 0, 0.25, 0.3, 1 - 1e-12, 0.7])
    expected = subset_exposure(score, None, continuation)
    np.testing.assert_allclose(exact_exposure(one_row(12), score, continuation), expected, rtol=0, atol=4e-15)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 120), st.floats(0, 300), st.integers(0, 2**32 - 1))
def test_identities(n: int, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, continuation = rng.normal(size=n) * scale, rng.choice([0, 1, 0.3, rng.random()], size=n)
    exposure = pl_exposure(score, Cascade(continuation))
    assert np.sum((1 - continuation) * exposure) == pytest.approx(1 - np.prod(continuation), abs=1e-13)
    np.testing.assert_allclose(pl_exposure(score + 1234.5, Cascade(continuation)), exposure, atol=1e-11)
    order = rng.permutation(n)
    np.testing.assert_allclose(pl_exposure(score[order], Cascade(continuation[order])), exposure[order], atol=1e-13)
    np.testing.assert_allclose(pl_exposure(score, Cascade(np.ones(n))), np.ones(n), atol=1e-13)
    softmax = np.exp(score - score.max()) / np.exp(score - score.max()).sum()
    np.testing.assert_allclose(pl_exposure(score, Cascade(np.zeros(n))), softmax, atol=1e-14)
    assert pl_exposure(score, RBP(0.9)).sum() == pytest.approx((1 - 0.9**n) / (1 - 0.9), rel=1e-13)
    assert pl_exposure(score, DCG()).sum() == pytest.approx(np.sum(1 / np.log2(np.arange(n) + 2)), rel=1e-13)
    assert pl_exposure(score, TopKSet(3)).sum() == pytest.approx(min(n, 3), rel=1e-12)


def test_weights_of_ranks_against_other_closed_forms() -> None:
    for n in (40, 60, 400):
        score = RNG.normal(size=n) * 2
        for p in (0.5, 0.98):
            geometric = Positions(tuple(p ** np.arange(n)))
            np.testing.assert_allclose(pl_exposure(score, geometric), pl_exposure(score, RBP(p)), atol=1e-13)
        grades = RNG.integers(0, 2, n)
        late = pl_exposure(score, GERR(0.9, 0.5, cutoff=n - 1), grades)
        np.testing.assert_allclose(late, pl_exposure(score, GERR(0.9, 0.5), grades), atol=1e-3 if n < 100 else 1e-12)
        marginals = pl_rank_marginals(score, n)
        np.testing.assert_allclose(marginals.sum(axis=0), np.ones(n), atol=1e-12)
        np.testing.assert_allclose(marginals.sum(axis=1), np.ones(n), atol=1e-12)
        for spec in (DCG(), DCG(7), TopKSet(n // 2), Positions((1.0, 1.0, 0.2))):
            weight = spec.bind(None, one_row(n)).position
            np.testing.assert_allclose(pl_exposure(score, spec), marginals @ weight, atol=1e-11)


def test_cutoff_of_a_cascade_against_draws() -> None:
    n, draws, k = 80, 20_000, 12
    score, continuation = RNG.normal(size=n) * 1.5, RNG.uniform(0.7, 1, n)
    order = np.argsort(RNG.exponential(size=(draws, n)) / np.exp(score), axis=1)
    position = np.array([1.0, 0.9, 0.9] + [0.4] * (k - 3))
    total, square = np.zeros(n), np.zeros(n)
    for ranking in order[:, :k]:
        seen = plain_exposure(ranking.tolist(), position, continuation)
        total, square = total + seen, square + seen**2
    mean = total / draws
    error = np.sqrt((square / draws - mean**2) / draws)
    z = (mean - pl_exposure(score, Cascade(continuation, position))) / np.maximum(error, 1e-12)
    assert np.abs(z).max() < 5


def test_minus_infinity_comes_last_and_is_shuffled() -> None:
    score = np.array([-np.inf, 2.0, -np.inf, 1.0, -np.inf])
    for spec in (RBP(0.5), RBP(0.5, cutoff=4), DCG(), DCG(3)):
        exposure = pl_exposure(score, spec)
        position, continuation = spec.bind(None, one_row(5)).position, spec.bind(None, one_row(5)).continuation
        weights = np.cumprod([1, *continuation[:4]]) * (np.ones(5) if position is None else position)
        np.testing.assert_allclose(exposure[[0, 2, 4]], weights[2:].mean(), rtol=1e-13)
        assert exposure[1] > exposure[3] > exposure[0]
    np.testing.assert_allclose(pl_exposure(np.full(4, -np.inf), RBP(0.5)), np.full(4, 1.875 / 4), rtol=1e-14)
    np.testing.assert_allclose(pl_rank_marginals(score, 5)[[0, 2, 4]], np.tile([0, 0, 1 / 3, 1 / 3, 1 / 3], (3, 1)))


@pytest.mark.parametrize("spread", [36.0, 240.0, 600.0, 1e4, 1e300])
def test_spreads_of_any_size(spread: float) -> None:
    score = np.linspace(0, -spread, 30)
    for spec in (RBP(0.9), DCG()):
        exposure = pl_exposure(score, spec)
        assert np.all(np.isfinite(exposure))
        assert np.all(np.diff(exposure) < 1e-15)
    if spread > 2000:
        np.testing.assert_allclose(pl_exposure(score, RBP(0.9)), 0.9 ** np.arange(30), rtol=1e-14)


@pytest.mark.parametrize("n", [70, 2000])
def test_equal_scores_in_long_rows(n: int) -> None:
    for p in (0.5, 0.9, 0.999):
        expected = -np.expm1(n * np.log(p)) / ((1 - p) * n)
        found = exact_exposure(one_row(n), np.full(n, 3.0), np.full(n, p))
        np.testing.assert_allclose(found, expected, rtol=2e-14)
        cut = pl_exposure(np.zeros(n), RBP(p, cutoff=60))
        np.testing.assert_allclose(cut, -np.expm1(60 * np.log(p)) / ((1 - p) * n), rtol=n * 1e-15)


def test_large_rows_keep_their_accuracy() -> None:
    n = 100_000
    uniform = exact_exposure(one_row(n), np.zeros(n), np.full(n, 0.999))
    np.testing.assert_allclose(uniform, -np.expm1(n * np.log(0.999)) / (0.001 * n), rtol=1e-12)


def test_empty_and_single() -> None:
    for spec in (RBP(), DCG(), TopKSet(1)):
        assert pl_exposure([], spec).shape == (0,)
        np.testing.assert_array_equal(pl_exposure([3.0], spec), [1.0])
    assert exact_exposure(np.array([0]), [], []).shape == (0,)
    np.testing.assert_array_equal(exact_exposure(np.array([0, 0, 1, 1]), [-np.inf], [0.5]), [1.0])
    assert pl_rank_marginals([], 2).shape == (0, 2)
    np.testing.assert_array_equal(pl_rank_marginals([1.0], 3), [[1, 0, 0]])


def test_wrong_scores() -> None:
    for wrong in ([0, np.nan], [np.inf, 0], [[0, 1]]):
        with pytest.raises(ValueError, match="scores: found"):
            pl_exposure(wrong, RBP())
    with pytest.raises(ValueError, match="logits: found"):
        exact_exposure(one_row(2), [0, np.nan], [0.5, 0.5])
    with pytest.raises(ValueError, match="one a document"):
        exact_exposure(one_row(3), [0, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="grades"):
        pl_exposure([0, 1], GERR())
    with pytest.raises(ValueError, match="k: found 0"):
        pl_rank_marginals([0, 1], 0)


@pytest.mark.parametrize("spec", [GERR(0.9, 0.5), DCG(), DCG(5), RBP(0.8, cutoff=4), GERR(0.5, 0.5, cutoff=100)])
def test_a_row_has_the_same_bits_in_every_block(spec: object) -> None:
    lengths = [0, 1, *RNG.integers(1, 12, 40).tolist(), 70, 70, 63, 64, 65, 70, *[5] * 300, 200, 2]
    rows = pointers(lengths)
    score, grades = RNG.normal(size=rows[-1]) * 3, RNG.integers(0, 3, rows[-1])
    score[RNG.random(len(score)) < 0.02] = -np.inf
    whole = plackett_luce_exposure(rows, score, bound(spec, grades, rows))
    for low, high in ((1, 2), (5, 6), (42, 45), (44, 46), (20, 60), (300, len(lengths))):
        part, alone = slice(rows[low], rows[high]), rows[low : high + 1] - rows[low]
        piece = plackett_luce_exposure(alone, score[part], bound(spec, grades[part], alone))
        np.testing.assert_array_equal(piece, whole[part])


@pytest.mark.shared_data
def test_published_exposures_with_continuation(shared: Path) -> None:
    values = json.loads((shared / "oracles/algorithms/exact_pl_permutahedron_kl.json").read_text())
    for case in values["geom"]:
        found = exact_exposure(one_row(case["n"]), case["scores"], case["continuation"])
        np.testing.assert_allclose(found, case["expected_exposure"], rtol=0, atol=1e-12)
    for case in values["marginals"]:
        found = pl_rank_marginals(case["scores"], case["k"])
        np.testing.assert_allclose(found, case["P_doc_rank"], rtol=0, atol=1e-12)


@pytest.mark.shared_data
def test_enumerated_exposures_of_all_models(shared: Path) -> None:
    values = json.loads((shared / "oracles/algorithms/pl_exposure_gradients.json").read_text())
    for case in values["exposure"]:
        n = case["n"]
        for model in case["models"].values():  # their continuation leaves patience to the weights of ranks
            continuation = np.ones(n) if model["continuation"] is None else np.array(model["continuation"])
            found = pl_exposure(case["scores"], Cascade(continuation, position=model["posw"]))
            np.testing.assert_allclose(found, model["expected_exposure"], rtol=0, atol=1e-12)
            if case["k"] == n > 1 and "rbp" in str(model):
                patience = model["posw"][1] / model["posw"][0]
                uncut = pl_exposure(case["scores"], Cascade(patience * continuation))
                np.testing.assert_allclose(uncut, model["expected_exposure"], rtol=0, atol=1e-12)
        marginals = np.array(case["rank_marginals_doc_by_rank"])
        found = pl_rank_marginals(case["scores"], marginals.shape[1])
        np.testing.assert_allclose(found, marginals, rtol=0, atol=1e-12)
