"""Worlds, what holds for every optimal policy, and other solvers: they write every ranking of a small row down."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from exposure_twins import bound, one_row, plain_exposure
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize, nnls

from rerankers.exposure import DCG, ERR, GERR, RBP, Browsing, Positions, TopKSet
from rerankers.exposure.optimal.frank_wolfe import Optimum
from rerankers.exposure.optimal.oracle import Oracle

SPECS = st.one_of(
    st.builds(RBP, st.sampled_from([0.0, 0.4, 0.9, 1.0]), st.sampled_from([None, 2])),
    st.builds(GERR, st.sampled_from([0.5, 0.9, 1.0]), st.sampled_from([0.5, 1.0]), st.sampled_from([None, 1, 3])),
    st.builds(ERR, st.sampled_from([0.8, 1.0]), st.just(3)),
    st.builds(DCG, st.sampled_from([None, 2])),
    st.builds(TopKSet, st.integers(1, 4)),
    st.just(Positions((1.0, 1.0, 0.2))),
)
GRADES = st.lists(st.integers(0, 3), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32 - 1)


def membership(groups: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[:, groups]


def all_exposures(browsing: Browsing) -> np.ndarray:
    """Return the exposures of all n! rankings."""
    n = len(browsing.continuation)
    return np.array(
        [plain_exposure(list(order), browsing.position, browsing.continuation) for order in permutations(range(n))]
    )


def nearest_point(corners: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the point of the hull nearest to the target (Wolfe 1976, by non-negative least squares)."""
    away = corners - target
    row = np.full(len(corners), 1.0)
    share, _ = nnls(np.vstack([away.T, row]), np.append(np.zeros(len(target)), 1.0))
    return share @ corners / share.sum()


def least_value(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    corners: np.ndarray,
    utility: np.ndarray | None = None,
    floor: float = 0.0,
) -> float:
    """Return the least value over the hull, of those points with enough utility, by sequential quadratic programs.

    They may stop early, so that it is an upper bound.
    """
    corners = np.unique(corners.round(15), axis=0)
    m = len(corners)
    constraints = [LinearConstraint(np.ones((1, m)), 1.0, 1.0)]
    start = np.full(m, 1.0 / m)
    if utility is not None:
        worth = corners @ utility
        constraints.append(LinearConstraint(worth[None], floor, np.inf))
        best = np.zeros(m)
        best[np.argmax(worth)] = 1.0
        short = worth.max() - worth.mean()
        start += min(1.0, max(0.0, floor - worth.mean()) / short if short > 0 else 0.0) * (best - start)

    def weighted(share: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = function(share @ corners)
        return value, corners @ gradient

    found = minimize(
        weighted,
        start,
        jac=True,
        bounds=[(0, 1)] * m,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    share = np.maximum(found.x, 0.0)
    return function(share / share.sum() @ corners)[0]


def check_mixture(found: Optimum, spec: object, grades: np.ndarray | None) -> None:
    """Check that the weights are probabilities of rankings, which have the exposure that is said."""
    rankings, weights, gap = found
    n = rankings.shape[1]
    browsing = bound(spec, grades, one_row(n))
    assert rankings.dtype == np.int64
    assert np.all(np.sort(rankings, axis=1) == np.arange(n))
    assert len(np.unique(rankings, axis=0)) == len(rankings) == len(weights)
    assert np.all(weights > 0)
    assert abs(weights.sum() - 1) < 3e-16
    seen = [plain_exposure(order, browsing.position, browsing.continuation) for order in rankings.tolist()]
    np.testing.assert_allclose(found.exposure, weights @ np.array(seen), rtol=1e-13, atol=1e-300)
    assert gap >= 0


def check_policy(found: Optimum, spec: object, grades: np.ndarray | None, objective: object) -> None:
    """Check the value and the gap too, both worked out anew."""
    check_mixture(found, spec, grades)
    value, gradient = objective(found.exposure)  # type: ignore[operator]
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-15)
    if getattr(objective, "scale", None) is None:
        browsing = bound(spec, grades, one_row(len(found.exposure)))
        gradient = np.asarray(gradient)
        lowest = Oracle(browsing).best(-gradient)
        away = found.exposure - plain_exposure(lowest.tolist(), browsing.position, browsing.continuation)
        assert found.gap == pytest.approx(max(0.0, gradient @ away), abs=1e-12 * (1 + np.abs(gradient).max()))
