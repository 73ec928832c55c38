"""Rows and small twins that the tests of objectives share."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from rerankers.learning.objectives.base import Bound, Objective
from rerankers.learning.rows import LearningRows

Floats = NDArray[np.float64]

LENGTHS = (1, 5, 0, 3, 8, 2, 8, 4)
GRADES = [
    *[1],  # one document
    *[0, 0, 0, 0, 0],  # none relevant
    *[2, 2, 2],  # equal grades
    *[0, 1, 2, 0, 3, 1, 0, 0],
    *[0, 1],
    *[0.5, 1.25, 0, 0, 2.5, 0, 1, 1],  # grades that are not whole
    *[1, 0, 0, 1],
]
GROUPS = [*"a", *"aabba", *"bbb", *"abcabcab", *"ab", "a", None, "b", "b", None, "a", "c", "a", *"abab"]


def ragged(whole: bool = False) -> LearningRows:
    """Return rows of all kinds, with groups; of whole grades only if wanted."""
    indptr = np.concatenate([[0], np.cumsum(LENGTHS)])
    grade = np.ceil(GRADES) if whole else np.array(GRADES, dtype=float)
    return LearningRows.of(indptr, np.zeros((len(grade), 1)), grade, GROUPS)


def spread_scores(size: int, spread: float = 2.0, seed: int = 0) -> Floats:
    """Return scores without ties."""
    return np.random.default_rng(seed).normal(size=size) * spread


def central_differences(bound: Bound, scores: Floats, step: float = 1e-5) -> Floats:
    """Return the slopes of the sum of all losses."""
    out = np.empty(len(scores))
    for place in range(len(scores)):
        moved = np.zeros(len(scores))
        moved[place] = step
        out[place] = (bound(scores + moved).value.sum() - bound(scores - moved).value.sum()) / (2 * step)
    return out


def difference_along(bound: Bound, scores: Floats, slope: Floats, step: float = 1e-5) -> float:
    """Return by how much slopes miss the central differences of every row's loss, along several directions.

    Rows are moved together but have their own losses, so that a direction tests them all.
    """
    rng, worst = np.random.default_rng(1), 0.0
    ends = np.cumsum(LENGTHS)
    for _ in range(4):
        moved = rng.normal(size=len(scores))
        found = (bound(scores + step * moved).value - bound(scores - step * moved).value) / (2 * step)
        parts = [part.sum() for part in np.split(slope * moved, ends)[:-1]]
        worst = max(worst, float(np.max(np.abs(found - parts))))
    return worst


def same_in_any_block(objective: Objective, rows: LearningRows, scores: Floats) -> bool:
    """Say whether every row alone, and the rows backwards, give the same bits as all together."""
    whole = objective.bind(rows, 3)(scores, 5)
    for picked in [*([row] for row in range(len(rows))), list(range(len(rows)))[::-1]]:
        part = objective.bind(rows.take(np.array(picked)), 3)
        pairs = np.concatenate([np.arange(rows.indptr[row], rows.indptr[row + 1]) for row in picked])
        own = part(scores[pairs], 5)
        expected = (whole.value[picked], whole.slope[pairs], whole.curvature[pairs])
        found = (own.value, own.slope, own.curvature)
        if not all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True)):
            return False
    return True


def all_rankings(scores: Floats) -> list[tuple[tuple[int, ...], float]]:
    """Return every ranking of one row with its Plackett-Luce probability."""
    found = []
    for order in permutations(range(len(scores))):
        left, chance = list(range(len(scores))), 1.0
        for document in order:
            weights = np.exp(scores[left] - scores[left].max())
            chance *= weights[left.index(document)] / weights.sum()
            left.remove(document)
        found.append((order, chance))
    return found


def enumerated_exposure(scores: Floats, continuation: Floats, position: Floats) -> Floats:
    """Return expected exposure by the sum over all rankings."""
    exposure = np.zeros(len(scores))
    for order, chance in all_rankings(scores):
        passed = 1.0
        for rank, document in enumerate(order):
            exposure[document] += chance * position[rank] * passed
            passed *= continuation[document]
    return exposure


def generated(queries: int = 30, length: int = 20, features: int = 10) -> LearningRows:
    """Return rows with grades that features explain in part, and two groups."""
    rng = np.random.default_rng(0)
    size = queries * length
    values = rng.normal(size=(size, features))
    latent = values @ rng.normal(size=features) + 2 * rng.normal(size=size)
    groups = [("a", "b")[code] for code in rng.integers(0, 2, size)]
    return LearningRows.of(np.arange(queries + 1) * length, values, np.clip(np.floor(latent / 2), 0, 3), groups)
