"""Plain few-line twins of the formulas, and small random worlds."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import fsum

import numpy as np
from hypothesis import strategies as st

from rerankers.exposure import DCG, ERR, GERR, RBP, Browsing, Positions, TopKSet


def one_row(n: int) -> np.ndarray:
    return np.array([0, n])


def pointers(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def plain_exposure(order: list[int], position: np.ndarray | None, continuation: np.ndarray) -> np.ndarray:
    exposure, chance = np.zeros(len(continuation)), 1.0
    for rank, doc in enumerate(order):
        weight = 1.0 if position is None else position[rank] if rank < len(position) else 0.0
        exposure[doc] = weight * chance
        chance *= continuation[doc]
    return exposure


def subset_exposure(score: np.ndarray, position: np.ndarray | None, continuation: np.ndarray) -> np.ndarray:
    """Exact Plackett-Luce exposure by the chance of every set of documents to come first, O(2^n n)."""
    n = len(score)
    reached, exposure = np.zeros(1 << n), np.zeros(n)  # reached: the chance times the continuations of the set
    reached[0] = 1.0
    for taken in range(1 << n):
        left = [doc for doc in range(n) if not taken >> doc & 1]
        if not left:
            break
        best, rank = score[left].max(), n - len(left)
        weight = np.exp(score[left] - best) if np.isfinite(best) else np.ones(len(left))
        for doc, share in zip(left, weight / weight.sum(), strict=True):
            chance = reached[taken] * share
            exposure[doc] += chance * (1.0 if position is None else position[rank])
            reached[taken | 1 << doc] += chance * continuation[doc]
    return exposure


def averaged_target(grades: np.ndarray, position: np.ndarray | None, continuation: np.ndarray) -> np.ndarray:
    """The mean over all rankings in which no document precedes one of a higher grade."""
    ideal = [
        plain_exposure(list(order), position, continuation)
        for order in permutations(range(len(grades)))
        if all(grades[a] >= grades[b] for a, b in pairwise(order))
    ]
    return np.array([fsum(values) / len(ideal) for values in zip(*ideal, strict=True)])


SPECS = st.one_of(
    st.builds(RBP, st.sampled_from([0.0, 0.3, 0.9, 1.0]), st.sampled_from([None, 1, 3])),
    st.builds(GERR, st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([None, 2])),
    st.builds(ERR, st.sampled_from([0.7, 1.0]), st.just(4), st.sampled_from([None, 2])),
    st.builds(DCG, st.sampled_from([None, 1, 3])),
    st.just(Positions((1.0, 0.9, 0.2, 0.2))),
    st.builds(TopKSet, st.integers(1, 5)),
)


def bound(spec: object, grades: np.ndarray, indptr: np.ndarray) -> Browsing:
    return spec.bind(grades, indptr)  # type: ignore[attr-defined]
