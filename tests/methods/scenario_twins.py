"""Plain twins for the optimal methods: losses in scenarios, and all rankings of a few documents."""

from __future__ import annotations

import itertools

import numpy as np

from rerankers.exposure import GERR
from rerankers.exposure.browsing import BrowsingModel
from rerankers.exposure.targets import equal_exposure


def ranking_exposure(order: tuple[int, ...], continuation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the exposures (n,) of one ranking in one scenario."""
    out, reach = np.zeros(len(order)), 1.0
    for rank, d in enumerate(order):
        out[d] = position[rank] * reach
        reach *= continuation[d]
    return out


def label_worlds(
    chance: np.ndarray, at_least_one: bool, model: BrowsingModel | None = None
) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return (probability, labels, continuation, target, worth) of every label vector of n documents."""
    model = GERR() if model is None else model
    n = len(chance)
    indptr = np.array([0, n])
    out = []
    for label in itertools.product([0.0, 1.0], repeat=n):
        grade = np.array(label)
        if at_least_one and not grade.any():
            continue
        weight = float(np.prod(np.where(grade > 0, chance, 1 - chance)))
        bound = model.bind(grade, indptr)
        worth = np.where(grade > 0, bound.satisfaction, 0.0)
        out.append((weight, grade, bound.continuation, equal_exposure(indptr, grade, bound), worth))
    total = sum(one[0] for one in out)
    return [(one[0] / total, *one[1:]) for one in out]


def best_gain(gain: np.ndarray, continuation: np.ndarray, position: np.ndarray) -> float:
    """Return the largest sum of gain times exposure over all rankings and scenarios, (n, M) each."""
    n, count = gain.shape
    return max(
        sum(float(gain[:, m] @ ranking_exposure(order, continuation[:, m], position)) for m in range(count))
        for order in itertools.permutations(range(n))
    )
