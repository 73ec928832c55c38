"""Objectives that do not suit the documents, return something else, or write where they should read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.exposure import DCG, GERR, RBP, Cascade, Positions, TopKSet, frank_wolfe
from rerankers.exposure.optimal import (
    GeneralisedGini,
    GroupKL,
    Linear,
    NashWelfare,
    SquaredLoss,
    Weighted,
    least_loss_with_floors,
    least_loss_with_utility,
    project_permutahedron,
)

TWO = np.eye(2)


@pytest.mark.parametrize(
    ("name", "objective"),
    [
        ("target", SquaredLoss([0.5])),
        ("target", SquaredLoss([1, 2])),
        ("matrix", SquaredLoss([1, 2], TWO)),
        ("matrix", GroupKL(TWO, [0.5, 0.5])),
        ("matrix", GroupKL(TWO, [0.5, 0.5], 1.0)),
        ("weights", NashWelfare([1, 1])),
        ("matrix", NashWelfare([1, 1], TWO)),
        ("weights", GeneralisedGini([1, 0.5])),
        ("matrix", GeneralisedGini([1, 0.5], TWO)),
        ("coefficients", Linear([1, 2])),
        ("target", Weighted((SquaredLoss([1, 2]), 1.0), (Linear([1, 2, 3]), 1.0))),
    ],
)
def test_objectives_of_another_number_of_documents(name: str, objective: object) -> None:
    found = rf"^{name}: found numbers of \d documents; expected those of exposures \(3,\)"
    with pytest.raises(InputError, match=found):
        frank_wolfe(objective, RBP(), n=3)
    if getattr(objective, "scale", None) is None:
        with pytest.raises(InputError, match=found):
            least_loss_with_utility(objective, np.ones(3), 0.1, RBP(), n=3)
        with pytest.raises(InputError, match=found):
            least_loss_with_floors(objective, np.ones((1, 3)), [0.1], RBP(), n=3)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (lambda x: 3.0, "a float; expected the pair of a value and a gradient"),
        (lambda x: None, "a NoneType; expected the pair"),
        (lambda x: (x, x), r"a value of shape \(3,\); expected one number"),
        (lambda x: (None, x), "None; expected numbers"),
        (lambda x: (1.0, 1.0), r"a gradient of shape \(\)"),
        (lambda x: (1.0, [0.0, np.nan, 0.0]), "not-a-number in the gradient at 1"),
        (lambda x: (1.0, ["a"] * 3), "'a' at 0; expected numbers"),
        (lambda x: (np.nan, x), "the value nan"),
    ],
)
def test_objectives_that_return_something_else(answer: Callable[..., object], found: str) -> None:
    with pytest.raises(InputError, match=f"^objective: found {found}"):
        frank_wolfe(answer, RBP(), n=3)


def test_settings_that_are_no_numbers() -> None:
    for wrong in (None, "a", -1.0, np.nan, [1.0]):
        with pytest.raises(InputError, match="tolerance: found"):
            frank_wolfe(SquaredLoss(np.zeros(3)), RBP(), n=3, tolerance=wrong)
    with pytest.raises(InputError, match=r"max_iterations: found 2\.0; expected a whole number"):
        frank_wolfe(SquaredLoss(np.zeros(3)), RBP(), n=3, max_iterations=np.float64(2))


class Careless:
    """A squared loss with a weight for each document, which works in the arrays that it is handed."""

    def __init__(self, target: np.ndarray, factor: np.ndarray) -> None:
        self.target, self.factor = target, factor

    def __call__(self, exposure: np.ndarray) -> tuple[float, np.ndarray]:
        exposure -= self.target
        value = float(self.factor @ exposure**2)
        exposure *= 2.0 * self.factor
        return value, exposure

    def curvature(self, exposure: np.ndarray, directions: np.ndarray) -> np.ndarray:
        exposure[:] = np.nan
        directions *= 2.0 * self.factor
        return directions


def test_what_objectives_write_changes_nothing() -> None:
    target, factor = np.array([0.9, 0.1, 0.6, 0.3]), np.array([1.0, 3.0, 2.0, 0.5])
    found = frank_wolfe(Careless(target, factor), RBP(0.7), n=4)
    clean = frank_wolfe(Weighted((SquaredLoss(np.sqrt(factor) * target, np.diag(np.sqrt(factor))), 1.0)), RBP(0.7), n=4)
    assert found.converged
    np.testing.assert_allclose(found.exposure, clean.exposure, atol=1e-9)
    np.testing.assert_allclose(found.value, factor @ (found.exposure - target) ** 2, rtol=1e-14)


@pytest.mark.parametrize(
    "browsing", [RBP(0.5), RBP(0.99), DCG(), TopKSet(3), RBP(0.8, cutoff=2), Positions((1.0,)), RBP(0.0), RBP(1.0)]
)
@pytest.mark.parametrize("n", [1, 2, 6, 60])
def test_squared_losses_of_documents_are_projections(browsing: object, n: int) -> None:
    rng, indptr = np.random.default_rng(n), np.array([0, n])
    bound = browsing.bind(None, indptr)
    weight = bound.continuation ** np.arange(n) * (1.0 if bound.position is None else bound.position)
    for scale in (1e-3, 0.5, 1e3):
        target = rng.normal(size=n) * scale
        found = frank_wolfe(SquaredLoss(target), browsing, n=n)
        np.testing.assert_allclose(found.exposure, project_permutahedron(target, weight), atol=1e-12)
        assert found.converged
        assert (found.iterations, len(found.weights) <= n) == (1, True)
        assert abs(found.weights.sum() - 1.0) < 1e-15
        assert np.all(found.weights > 0)


def test_many_documents_are_quick_and_certified() -> None:
    target = np.random.default_rng(0).random(1000) * 0.4
    found = frank_wolfe(SquaredLoss(target), DCG(), n=1000)
    assert (found.iterations, found.converged) == (1, True)
    assert found.gap < 1e-12


def test_other_losses_start_elsewhere() -> None:
    grades = np.array([1, 0, 1, 0])
    for browsing in (GERR(), Cascade([0.1, 0.5, 0.2, 0.9])):
        found = frank_wolfe(SquaredLoss([0.5, 0.4, 0.3, 0.3]), browsing, grades=grades)
        assert found.converged
        assert found.iterations > 1
