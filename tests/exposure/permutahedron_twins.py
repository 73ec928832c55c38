"""Plain twins of what concerns the permutahedron: all vertices, all subsets, other solvers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, nnls

WEIGHTS = st.lists(st.floats(0, 2) | st.integers(0, 2), min_size=1, max_size=6).map(
    lambda weights: sorted(map(float, weights), reverse=True)
)


@lru_cache
def orders(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))), dtype=int)


def vertices(weights: list[float], n: int) -> np.ndarray:
    """Return the exposures of all rankings (n!, n), the first with the weights in their order."""
    padded = np.zeros(n)
    padded[: len(weights)] = weights[:n]
    return padded[orders(n)]


def hull_point(weights: list[float], n: int, random: object) -> np.ndarray:
    """Return a random mixture of a few rankings."""
    corners = vertices(weights, n)
    share = np.array([random.random() for _ in range(3)]) + 1e-3  # type: ignore[attr-defined]
    return share / share.sum() @ corners[[random.randrange(len(corners)) for _ in share]]  # type: ignore[attr-defined]


def plain_projection(z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    order = np.argsort(-z, kind="stable")
    found = np.empty(len(z))
    if len(z):
        found[order] = z[order] - isotonic_regression(z[order] - weights, increasing=False).x
    return found


def rational_projection(target: np.ndarray, relevance: np.ndarray, factor: float, weights: np.ndarray) -> list[float]:
    """Project target + factor * relevance without rounding."""
    n = len(target)
    z = [Fraction(t) + Fraction(factor) * Fraction(r) for t, r in zip(target.tolist(), relevance.tolist(), strict=True)]
    order, blocks = sorted(range(n), key=lambda doc: -z[doc]), []
    for rank, doc in enumerate(order):
        blocks.append([z[doc] - Fraction(float(weights[rank]))])
        while len(blocks) > 1 and sum(blocks[-2]) * len(blocks[-1]) <= sum(blocks[-1]) * len(blocks[-2]):
            last = blocks.pop()
            blocks[-1] += last
    level = [sum(block) / len(block) for block in blocks for _ in block]
    found = dict(zip(order, level, strict=True))
    return [float(z[doc] - found[doc]) for doc in range(n)]


def plain_excess(point: np.ndarray, weights: np.ndarray) -> float:
    """By how much any subset has more than the largest weights, or all documents another total."""
    subsets = [s for k in range(1, len(point) + 1) for s in combinations(range(len(point)), k)]
    above = max((point[list(s)].sum() - weights[: len(s)].sum() for s in subsets), default=0.0)
    return max(0.0, above, weights.sum() - point.sum())


def nearest_in_hull(corners: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Non-negative least squares with a heavy row for the sum of the shares."""
    heavy = 1e4
    share, _ = nnls(np.vstack([corners.T, heavy * np.ones(len(corners))]), np.append(z, heavy))
    return share @ corners / share.sum()
