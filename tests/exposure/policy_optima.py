"""Other solvers for small instances: every ranking is written down, and the weights are found without our code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
from exposure_twins import plain_exposure
from scipy.optimize import LinearConstraint, minimize, nnls

from rerankers.exposure import Browsing


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
    """Return the least value over the hull, of those points with enough utility, by sequential quadratic programs."""
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
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    share = np.maximum(found.x, 0.0)
    return function(share / share.sum() @ corners)[0]
