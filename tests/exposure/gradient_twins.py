"""Plain twins of the gradients of exposure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
from exposure_twins import plain_exposure


def enumerated_gradient(
    score: np.ndarray, position: np.ndarray | None, continuation: np.ndarray, pull: np.ndarray
) -> np.ndarray:
    """The sum over all rankings of probability, pulled exposure and derivative of the log of the probability."""
    gradient = np.zeros(len(score))
    for order in permutations(range(len(score))):
        chance, slope = 1.0, np.zeros(len(score))
        for rank, doc in enumerate(order):
            left = list(order[rank:])
            best = score[left].max()
            weight = np.exp(score[left] - best) if np.isfinite(best) else np.ones(len(left))
            share = weight / weight.sum()
            chance *= share[0]
            if np.isfinite(best):
                slope[doc] += 1.0
                slope[left] -= share
        gradient += chance * slope * (pull @ plain_exposure(list(order), position, continuation))
    return np.where(np.isneginf(score), 0.0, gradient)


def differences(function: Callable[[np.ndarray], float], score: np.ndarray, step: float = 1e-5) -> np.ndarray:
    moves = step * np.eye(len(score))
    return np.array([(function(score + move) - function(score - move)) / (2 * step) for move in moves])
