"""Exposure and gradients of long rows, against references that are independent and more precise."""

from __future__ import annotations

import numpy as np
import pytest
from exposure_twins import one_row

from rerankers.exposure import DCG, RBP, Cascade, Positions, TopKSet, pl_exposure
from rerankers.exposure.closed_form.plackett_luce import exact_exposure
from rerankers.exposure.gradients import pl_exposure_gradient

RNG = np.random.default_rng(23)


def fine_exposure(score: np.ndarray, continuation: np.ndarray, step: float = 0.125) -> np.ndarray:
    """The integral over log time in extended precision, with a fine step and beyond all arrivals."""
    s, c = score.astype(np.longdouble), continuation.astype(np.longdouble)
    total = np.zeros(len(s), dtype=np.longdouble)
    for x in np.arange(-float(s.max()) - 48 - np.log(len(s)), -float(s.min()) + 4.5, step):
        time = np.exp(np.minimum(s + x, 11))
        with np.errstate(divide="ignore"):
            log_factor = np.where(c == 0, -time, np.log1p((1 - c) * np.expm1(-time)))
        whole = log_factor.sum()
        if whole - log_factor.min() < -60:
            break
        total += np.exp(np.minimum(s + x, 11) - time + whole - log_factor)
    return (total * step).astype(np.float64)


def two_kinds(count: tuple[int, int], gain: complex, weight: np.ndarray, passed: tuple[float, float]) -> np.ndarray:
    """Exposure of a document of either kind, the first with e^gain the weight of the second: the chance of every count.

    With a small imaginary part of ``gain``, the imaginary part of the result is its derivative (Squire & Trapp 1998).
    """
    first, second = count
    reached = np.zeros(first + 1, dtype=complex)  # by the number of the first kind taken
    reached[0], exposure = 1.0, np.zeros(2, dtype=complex)
    taken = np.arange(first + 1)
    for rank in range(first + second):
        left = np.clip(second - (rank - taken), 0, second)
        mass = (first - taken) * np.exp(gain)
        share = mass / np.where(mass + left == 0, 1, mass + left)
        share[(rank - taken < 0) | (rank - taken > second)] = 0
        exposure += weight[rank] * np.array([reached @ share, reached @ (1 - share)])
        moved = reached * share * passed[0]
        reached = reached * (1 - share) * passed[1]
        reached[1:] += moved[:-1]
    return exposure / np.array(count)


@pytest.mark.parametrize(("n", "spread"), [(2000, 0.0), (2000, 5.0), (1500, 60.0), (300, 600.0)])
def test_long_rows_against_extended_precision(n: int, spread: float) -> None:
    score, continuation = RNG.uniform(-spread, 0, n), RNG.choice([1.0, 0.999, 0.99, 0.0], n, p=[0.5, 0.3, 0.199, 0.001])
    expected = fine_exposure(score, continuation)
    np.testing.assert_allclose(exact_exposure(one_row(n), score, continuation), expected, rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 5.0, 60.0, 600.0])
@pytest.mark.parametrize("kind", ["close to one", "any"])
def test_ten_thousand_documents_against_extended_precision(spread: float, kind: str) -> None:
    n = 10_000
    score = RNG.uniform(-spread, 0, n)
    continuation = RNG.uniform(0.999, 1, n) if kind == "close to one" else RNG.choice([0.0, 0.5, 0.9, 1.0], n)
    expected = fine_exposure(score, continuation)
    np.testing.assert_allclose(exact_exposure(one_row(n), score, continuation), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gain", [0.3, 5.0])
@pytest.mark.parametrize(
    ("spec", "passed"),
    [
        (DCG(), (1.0, 1.0)),
        (DCG(10), (1.0, 1.0)),
        (DCG(80), (1.0, 1.0)),
        (TopKSet(400), (1.0, 1.0)),
        (Positions((1.0,) * 250 + (0.5,) * 300 + (0.4,) * 350), (1.0, 1.0)),
        (RBP(0.99, cutoff=150), (0.99, 0.99)),
        (None, (0.999, 0.99)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_two_kinds_of_documents_by_counting(gain: float, spec: object, passed: tuple[float, float]) -> None:
    count = (300, 600)
    n = sum(count)
    first = RNG.permutation(np.arange(n) < count[0])
    continuation = np.where(first, *passed)
    spec = Cascade(continuation, np.linspace(1, 0.2, n)) if spec is None else spec
    position = spec.bind(None, one_row(n)).position  # type: ignore[attr-defined]
    value = two_kinds(count, gain + 1e-30j, position, passed)
    score = np.where(first, gain, 0.0)
    found = pl_exposure(score, spec)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, np.where(first, *value.real), rtol=0, atol=1e-13)
    gradient = pl_exposure_gradient(score, spec, np.where(first, 1.0, -0.7))  # type: ignore[arg-type]
    slope = (count[0] * value[0] - 0.7 * count[1] * value[1]).imag / 1e-30
    np.testing.assert_allclose(gradient[first], np.full(count[0], slope / count[0]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(gradient[~first], np.full(count[1], -slope / count[1]), rtol=0, atol=1e-13)
