"""Exposure of logits and weights of any size, against exact arithmetic; what is no number is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import fsum

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import (
    DCG,
    ERR,
    GERR,
    RBP,
    Cascade,
    Positions,
    TopKSet,
    equal_exposure_target,
    foeir,
    frank_wolfe,
    pareto_front,
    pl_exposure,
    pl_exposure_gradient,
    pl_rank_marginals,
    project_permutahedron,
    ranking_exposure,
    unbiased_ee,
)
from rerankers.exposure.account import plackett_luce_above
from rerankers.exposure.optimal import GroupKL, SquaredLoss
from rerankers.exposure.targets import shuffle_exposure

mpmath = pytest.importorskip("mpmath")

TINY = 5e-324
MODELS = [
    RBP(0.7),
    RBP(1.0),
    RBP(0.0),
    RBP(TINY),
    RBP(1 - 2.0**-53),
    DCG(),
    DCG(2),
    GERR(0.9, 0.5),
    TopKSet(2),
    ERR(1.0),
]
LOGITS = [
    [0.0, -2000.0, -1999.0, -1000.0],
    [0.0, -1e6, -1e6 + 1e-9, -1e6],
    [1e6, 1e6 + 0.5, 1e6 - 0.25, 1e6 - 2000],
    [1e300, 1e300, -1e300, -1e300],
    [1.7e308, -1.7e308, 0.0, 1.0],
    [TINY, 1e-310, 0.0, -0.0],
    [2.0, 2.0, 2.0, 2.0],
    [1e6 - 1, 1e6, -np.inf, -np.inf],
]
GRADES = [1.0, 0.0, 2.0, 1.0]


def chances(scores: list[float]) -> dict[tuple[int, ...], object]:
    """The probability of every ranking, with enough digits for differences of any floats."""
    with mpmath.workprec(2200):
        found = {}
        for order in permutations(range(len(scores))):
            chance, left = mpmath.mpf(1), list(range(len(scores)))
            for doc in order:
                best = max(scores[other] for other in left)
                if best == -np.inf:
                    chance /= len(left)
                else:
                    share = {o: _power(scores[o], best) for o in left}
                    chance *= share[doc] / mpmath.fsum(share.values())
                left.remove(doc)
            found[order] = chance
    return found


def _power(score: float, best: float) -> object:
    gap = mpmath.mpf(score) - mpmath.mpf(best)
    return mpmath.mpf(0) if gap < -5000 else mpmath.exp(gap)


def exact_exposure(scores: list[float], model: object) -> list[float]:
    bound = model.completed(GRADES).bind(np.array(GRADES), np.array([0, len(scores)]))
    total = [mpmath.mpf(0)] * len(scores)
    with mpmath.workprec(2200):
        for order, chance in chances(scores).items():
            for rank, doc in enumerate(order):
                weight = 1.0 if bound.position is None else float(bound.position[rank])
                total[doc] += chance * weight
                chance *= mpmath.mpf(float(bound.continuation[doc]))
    return [float(value) for value in total]


@pytest.mark.parametrize("scores", LOGITS, ids=str)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_exposure_of_any_logits(scores: list[float], model: object) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = pl_exposure(scores, model, GRADES)
    np.testing.assert_allclose(found, exact_exposure(scores, model), rtol=0, atol=2e-15)


@pytest.mark.parametrize("scores", LOGITS, ids=str)
def test_ranks_and_pairs_of_any_logits(scores: list[float]) -> None:
    exact = np.zeros((4, 4))
    above = np.zeros(4)
    for order, chance in chances(scores).items():
        for rank, doc in enumerate(order):
            exact[doc, rank] += float(chance)
        for doc in order[: order.index(0)]:
            above[doc] += float(chance)
    np.testing.assert_allclose(pl_rank_marginals(scores, 4), exact, rtol=0, atol=2e-15)
    np.testing.assert_allclose(plackett_luce_above(scores, 0), above, rtol=0, atol=2e-15)


@pytest.mark.parametrize("scores", [one for one in LOGITS if np.isfinite(one).all()], ids=str)
@pytest.mark.parametrize("model", [RBP(0.7), DCG(), GERR(0.9, 0.5)], ids=str)
def test_gradients_of_any_logits(scores: list[float], model: object) -> None:
    """d P(y) / d s_i = P(y) (1 - the sum of the chances of i while it is left); each ranking counts its exposure."""
    pull, bound = [3.0, -1.0, 0.5, 2.0], model.completed(GRADES).bind(np.array(GRADES), np.array([0, 4]))
    total = [mpmath.mpf(0)] * 4
    with mpmath.workprec(2200):
        for order, chance in chances(scores).items():
            go_on, value, left, taken = mpmath.mpf(1), mpmath.mpf(0), list(range(4)), [mpmath.mpf(0)] * 4
            for rank, doc in enumerate(order):
                weight = 1.0 if bound.position is None else float(bound.position[rank])
                value += go_on * weight * pull[doc]
                go_on *= mpmath.mpf(float(bound.continuation[doc]))
                best = max(scores[o] for o in left)
                share = {o: _power(scores[o], best) for o in left}
                for o in left:
                    taken[o] += share[o] / mpmath.fsum(share.values())
                left.remove(doc)
            for doc in range(4):
                total[doc] += chance * value * (1 - taken[doc])
    found = pl_exposure_gradient(scores, model, pull, GRADES)
    np.testing.assert_allclose(found, [float(value) for value in total], rtol=0, atol=2e-14)


@pytest.mark.slow
def test_a_common_offset_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    scores = np.round(rng.uniform(-1000, 1000, 300) * 1024) / 1024  # offsets of 1e6 and 2^40 cost no digits
    for model in (RBP(0.9), DCG(), DCG(20), GERR()):
        expected = pl_exposure(scores, model, np.ones(300))
        for offset in (1e6, -1e6, 2.0**40):
            found = pl_exposure(scores + offset, model, np.ones(300))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_single_precision_and_whole_numbers() -> None:
    """What is given in single precision is worked on in double precision: the only error is that of the input."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=50).astype(np.float32)
    for model in (RBP(0.9), DCG(), GERR()):
        one, two = (pl_exposure(scores.astype(kind), model, np.ones(50, kind)) for kind in (np.float32, np.float64))
        assert one.dtype == np.float64
        np.testing.assert_array_equal(one, two)
        exact = rng.normal(size=50)
        # exposures move by at most one time the change of a logit
        rounded = pl_exposure(exact.astype(np.float32), model, np.ones(50))
        np.testing.assert_allclose(rounded, pl_exposure(exact, model, np.ones(50)), atol=1e-6, rtol=0)
    whole = np.array([3, 1, 2], np.int8)
    np.testing.assert_array_equal(pl_exposure(whole, RBP()), pl_exposure([3.0, 1.0, 2.0], RBP()))
    flags = equal_exposure_target(np.array([True, False, True]), RBP())
    np.testing.assert_array_equal(flags, equal_exposure_target([1.0, -0.0, 1.0], RBP()))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("grades", [[0] * 5, [1] * 5, [-0.0, 0, -3, 0, -1e300], [1e-300, 0, TINY, 0, 1]], ids=str)
def test_targets_share_out_what_an_ideal_ranking_gives(model: object, grades: list[float]) -> None:
    model = ERR(1.0, 1) if isinstance(model, ERR) else model
    gain = np.maximum(grades, 0.0)
    with np.errstate(all="raise"):
        target = equal_exposure_target(grades, model)
        best = ranking_exposure(np.argsort(-gain, kind="stable"), model, grades)
    assert fsum(target) == pytest.approx(fsum(best), rel=1e-14)
    for level in np.unique(gain):
        assert np.ptp(target[gain == level]) <= 1e-15


def test_patience_next_to_one() -> None:
    for gap in (0.0, 2.0**-53, 1e-12, 1e-6):
        with mpmath.workprec(400):
            patience = mpmath.mpf(1 - gap)
            exact = (1 - patience**1000) / (1000 * (1 - patience)) if gap else 1
        found = equal_exposure_target(np.zeros(1000), RBP(1 - gap))
        np.testing.assert_allclose(found, float(exact), rtol=3e-15)


def test_nothing_and_one_document() -> None:
    for model in (RBP(), DCG(), GERR(), TopKSet(3)):
        assert pl_exposure([], model, []).shape == equal_exposure_target([], model).shape == (0,)
        assert ranking_exposure([], model, []).shape == pl_exposure_gradient([], model, [], []).shape == (0,)
        for score in (-np.inf, TINY, 1.7e308):
            assert pl_exposure([score], model, [1]).tolist() == [1.0]
            assert pl_exposure_gradient([score], model, [1e149], [1]).tolist() == [0.0]
    assert pl_rank_marginals([], 3).shape == (0, 3)
    assert pl_rank_marginals([-np.inf], 2).tolist() == [[1.0, 0.0]]


def test_cutoffs_of_any_size() -> None:
    scores = [1.0, 0.0, -1.0]
    for cut, whole in ((RBP(0.5, 10**30), RBP(0.5)), (DCG(2**63), DCG()), (TopKSet(10**400), RBP(1.0))):
        np.testing.assert_allclose(pl_exposure(scores, cut), pl_exposure(scores, whole), rtol=1e-15)


TAKERS: list[tuple[str, Callable[[float], object]]] = [
    ("scores", lambda x: pl_exposure([0.0, x], RBP())),
    ("scores", lambda x: pl_rank_marginals([0.0, x], 1)),
    ("grades", lambda x: equal_exposure_target([0.0, x], RBP())),
    ("weights", lambda x: pl_exposure_gradient([0.0, 1.0], RBP(), [0.0, x])),
    ("weights", lambda x: Positions((x, 0.0))),
    ("position", lambda x: Cascade([0.5], [x])),
    ("z", lambda x: project_permutahedron([0.0, x], [1.0])),
    ("relevance", lambda x: pareto_front([0.0, x], [0.0, 0.0], [1.0], [1.0])),
    ("target", lambda x: pareto_front([0.0, 1.0], [0.0, x], [1.0], [1.0])),
    ("target", lambda x: frank_wolfe(SquaredLoss([0.0, x]), RBP(), n=2)),
    ("exposures", lambda x: unbiased_ee([[0.0, x], [0.0, 0.0]], [0.0, 0.0])),
    ("total", lambda x: GroupKL([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], x)),
    ("relevance", lambda x: foeir([1.0, x], [0, 1], [1.0], "treatment")),
]


@pytest.mark.parametrize(("name", "take"), TAKERS)
def test_what_is_not_finite_is_refused(name: str, take: Callable[[float], object]) -> None:
    for wrong in (np.nan, np.inf):
        with pytest.raises((InputError, ConfigError), match=f"^{name}: found .*({wrong}|nan|not finite)"):
            take(wrong)


def test_what_would_overflow_is_refused() -> None:
    for wrong in (1e150, 1.7e308):
        for take in (
            lambda x: Positions((x, x)),
            lambda x: Cascade([0.5, 0.5], [x, x]),
            lambda x: project_permutahedron([0.0, 1.0], [x]),
        ):
            with pytest.raises(ConfigError, match=r"expected finite weights >= 0, below 1e\+150"):
                take(wrong)
        with pytest.raises(InputError, match=r"target: found .*; expected finite numbers below 1e\+150"):
            SquaredLoss([0.0, wrong])
    for total in (TINY, 1e300):
        with pytest.raises(InputError, match=r"total: found .*; expected a positive number up to 1e\+150"):
            GroupKL([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], total)
    for worth, goal in (([1e308, 0.0], [0.0, 0.0]), ([1.0, 0.0], [-1e308, 1e308])):
        with pytest.raises(InputError, match=r"expected finite numbers below 1e\+301 in size"):
            pareto_front(worth, goal, [1.0], [1.0])
    with pytest.raises(ConfigError, match="max_grade: found a number beyond"):
        ERR(max_grade=10**400)
    large = Positions((9e149, 9e149, 0.0))
    assert np.all(np.isfinite(pl_exposure_gradient([1.0, 0.0, 1.0], large, [9e149, 1.0, 1.0])))
    assert np.all(np.isfinite(pareto_front([1e300, -1e300, 0.0], [1e300, 0.0, -1e300], [1.0], [0.0, 1e300, np.inf])))


def test_levels_of_whole_numbers_beyond_2_to_53() -> None:
    indptr, browsing = np.array([0, 3]), RBP(0.5).bind(None, np.array([0, 3]))
    for level in (np.array([2**53, 2**53 + 1, 2**53]), np.array([0, 2**64 - 1, 0], np.uint64), np.array([1, 2, 1])):
        np.testing.assert_allclose(shuffle_exposure(indptr, level, browsing), [0.375, 1.0, 0.375], rtol=1e-15)


def exact_estimates(drawn: np.ndarray, target: np.ndarray) -> tuple[Fraction, Fraction, Fraction]:
    """The U-statistics as they are defined: mean products of two different draws."""
    x, t = [[Fraction(v) for v in row] for row in drawn.tolist()], [Fraction(v) for v in target.tolist()]
    pairs = [(a, b) for a in range(len(x)) for b in range(len(x)) if a != b]
    eed = sum(sum(p * q for p, q in zip(x[a], x[b], strict=True)) for a, b in pairs) / len(pairs)
    eer = sum(sum(p * q for p, q in zip(row, t, strict=True)) for row in x) / len(x)
    return eed - 2 * eer + sum(v * v for v in t), eed, eer


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e140])
def test_unbiased_estimates_are_their_definition(size: float) -> None:
    rng = np.random.default_rng(8)
    drawn, target = rng.random((5, 7)) * size, rng.random(7) * size
    found = unbiased_ee(drawn, target)
    loss, disparity, relevance = exact_estimates(drawn, target)
    scale = float(sum(Fraction(v) ** 2 for v in target.tolist()))
    for name, value in (("EEL", loss), ("EED", disparity), ("EER", relevance)):
        assert found[name] == pytest.approx(float(value), rel=0, abs=4e-15 * scale)
    small = unbiased_ee(drawn / size, target / size)
    if size > 1:
        assert found["se"] / size / size == pytest.approx(small["se"], rel=1e-13)


def test_equal_draws_leave_no_loss() -> None:
    one = np.random.default_rng(9).random(50)
    found = unbiased_ee(np.tile(one, (4, 1)), one)
    assert abs(found["EEL"]) < 1e-14
    assert abs(found["se"]) < 1e-13
