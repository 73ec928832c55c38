"""Logistic regression of two or three parameters with slopes of at least 0, for Platt and beta calibration."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.calibration.base import Pooled

_Loss = tuple[float, "NDArray[np.float64]", "NDArray[np.float64]"]  # value, slope, curvature
_STEPS = 100
_ENOUGH = 1e-4  # share of the promised decrease that a step must bring
_NEAR = 1e-12  # promised decrease (nats) from which on rounding hides the rest from the loss, not from its slope
_POLISH = 2  # steps from there: each doubles the number of right digits


def smoothed_rates(pooled: Pooled) -> NDArray[np.float64]:
    """Return the rate at each distinct score that a curve is fitted to, float64 (m,), strictly between 0 and 1.

    Relevant pairs count as (N₊ + 1)/(N₊ + 2) and others as 1/(N₋ + 2), where N₊ and N₋ are their weights (Platt 1999):
    so the optimum is finite even where scores separate the two, or labels are all equal.
    """
    relevant = pooled.positive.sum()
    other = np.maximum(pooled.total - pooled.positive, 0.0)
    high, low = (relevant + 1.0) / (relevant + 2.0), 1.0 / (other.sum() + 2.0)
    rates: NDArray[np.float64] = (pooled.positive * high + other * low) / pooled.total
    return rates


def rising_logistic(
    columns: NDArray[np.float64], total: NDArray[np.float64], rate: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return (slopes float64 (k,), all at least 0, intercept) of the least log-loss.

    The problem is convex: where the free optimum has a negative slope, the best one has some slope at 0, so that the
    best of the few fits without some columns is the optimum.

    Parameters
    ----------
    columns
        float64 (m, k), k at most 2, of moderate size.
    total, rate
        float64 (m,): weights, and what the logistic function of columns · slopes + intercept is to be.
    """
    mean = np.average(columns, axis=0, weights=total)
    deviation = np.sqrt(np.average((columns - mean) ** 2, axis=0, weights=total))
    varied = [column for column in range(columns.shape[1]) if deviation[column] > 1e-12 * (1 + abs(mean[column]))]
    scaled = (columns - mean) / np.where(deviation > 0, deviation, 1.0)
    best, least = (np.zeros(columns.shape[1]), 0.0), np.inf
    for size in range(len(varied), -1, -1):
        for chosen in combinations(varied, size):
            fit, loss = newton(scaled[:, chosen], total, rate)
            if np.all(fit[:-1] >= 0) and loss < least:
                slopes = np.zeros(columns.shape[1])
                slopes[list(chosen)] = fit[:-1] / deviation[list(chosen)]
                best, least = (slopes, float(fit[-1] - slopes @ mean)), loss
        if size == len(varied) and np.isfinite(least):
            break
    return best


def newton(
    columns: NDArray[np.float64], total: NDArray[np.float64], rate: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return (parameters float64 (k + 1,), the intercept last, loss) of the least weighted log-loss.

    Newton's method with a line search, in the form that does not overflow (Lin, Lin and Weng 2007).
    """
    design = np.column_stack([columns, np.ones(len(total))])
    size = total.sum()
    weight = total / size
    middle = np.sum(weight * rate)
    at = np.append(np.zeros(columns.shape[1]), np.log(middle) - np.log1p(-middle))
    value, slope, curvature = _loss(design, weight, rate, at)
    polished = 0
    for _ in range(_STEPS):
        ridge = 1e-12 * np.trace(curvature) * np.eye(len(at))  # two columns may say the same
        step = -np.linalg.solve(curvature + ridge, slope)
        decrease = float(slope @ step)
        near = -decrease < _NEAR
        if near and polished == _POLISH:
            break
        length, trial = (
            (1.0, _loss(design, weight, rate, at + step))
            if near
            else _search(design, weight, rate, at, step, value, decrease)
        )
        polished += near
        at = at + length * step
        value, slope, curvature = trial
    return at, value * float(size)


def _search(
    design: NDArray[np.float64],
    weight: NDArray[np.float64],
    rate: NDArray[np.float64],
    at: NDArray[np.float64],
    step: NDArray[np.float64],
    value: float,
    decrease: float,
) -> tuple[float, _Loss]:
    """Return the first length of 1, 1/2, 1/4, … that brings enough, and the loss there."""
    length = 1.0
    while True:
        trial = _loss(design, weight, rate, at + length * step)
        # The loss is convex and smooth: a step of promise above `_NEAR` is found long before it vanishes.
        if trial[0] <= value + _ENOUGH * length * decrease or length * -decrease < _NEAR:
            return length, trial
        length /= 2


def _loss(
    design: NDArray[np.float64], weight: NDArray[np.float64], rate: NDArray[np.float64], at: NDArray[np.float64]
) -> _Loss:
    from scipy.special import expit

    # einsum adds in one fixed order whatever the number of threads; BLAS does not promise it.
    z = np.einsum("mk,k->m", design, at)
    share = expit(z)
    each = np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - rate * z
    slope = np.einsum("mk,m->k", design, weight * (share - rate))
    curvature = np.einsum("mj,mk->jk", design * (weight * share * expit(-z))[:, None], design)
    return float(np.sum(weight * each)), slope, curvature
