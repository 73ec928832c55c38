r"""Exact Plackett-Luce exposure where the weight of a document depends on its rank, its gradient, and rank marginals.

Given the arrival time of document d (see `nodes`), the documents before it are counted by the polynomial
\prod_{j \ne d} h_j, h_j = q_j + c_j p_j z, q_j = e^{-w_j t}, p_j = 1 - q_j: the coefficient of z^r is the probability
of rank r times the continuation up to there. Its values at the N-th roots of unity give every sum of coefficients (a
discrete Fourier transform), and the value without d is the whole product H over d's own factor. N is odd, so that no
factor vanishes. It need not reach n: the number of arrivals is concentrated around its mean, and its probability
outside the window of Bennett's inequality is below rounding. Nor are all N roots needed: every |h_j| falls from z = 1
to z = -1, and H, which is nearly Gaussian along the circle, is below rounding after some thirty roots. Where all
ranks of the window have the same weight, z = 1 alone gives the sum.

Let L be the weighted sum of coefficients, a = w t, phi = a q, and A = \sum_d g_d phi_d / h_d for numbers g. Since h_m
changes by phi_m (c_m z - 1) with the logit of m, the derivative of \sum_d g_d E_d is the integral of

    g_m phi_m (1 - a_m) L(H / h_m) + phi_m L((c_m z - 1) (H / h_m) (A - g_m phi_m / h_m)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.closed_form.nodes import COARSE, NEGLIGIBLE, RIGHT, refined, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

EARLY = 64  # ranks up to which any weights are smooth enough for the first step
STEEP = 4.0  # times as much as a weight falls on average over the ranks that are reached at one time


def weighted_race(
    logit: NDArray[np.float64], continuation: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Integrate rows of equal length where ranks have weights.

    Parameters
    ----------
    logit, continuation
        float64 (R, n), as in `quadrature.race_exposure`.
    weight
        float64 (R, n), the weight of ranks 0 … n - 1 of each row, at least 0.

    Returns
    -------
    float64 (R, n), the expectation of weight[rank] times the continuations before a document; the error is about
    n times 1e-16 of the largest weight.
    """
    return weight.copy() if logit.shape[1] == 1 else _unsigned(_integrals(logit, continuation, weight, None))


def weighted_gradient(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    pull: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Differentiate the sum over documents of pull times exposure by the logits.

    Parameters
    ----------
    logit, continuation, weight
        float64 (R, n), as in `weighted_race`.
    pull
        float64 (R, n), finite.

    Returns
    -------
    float64 (R, n), adding up to 0 in each row; the error is about n times 1e-16 of the largest weight times the
    largest pull.
    """
    return np.zeros(logit.shape) if logit.shape[1] == 1 else _integrals(logit, continuation, weight, pull)


def rank_marginals(logit: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the probabilities of ranks 0 … k - 1 of each document: float64 (n, k); logits (n,) are finite."""
    from rerankers.exposure.closed_form.ranks_loops import rank_sweep

    if len(logit) == 1:
        return np.eye(1, k)
    score = shifted(logit[None])[0]
    right, n = RIGHT - float(score.min()), len(score)

    def add(first: float, apart: float, total: NDArray[np.float64]) -> None:
        rank_sweep(first, apart, right, score, total)

    return _unsigned(refined(add, np.zeros((k, n)), _tolerance(n))).T


def _integrals(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    pull: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    score, passed = shifted(logit), np.ascontiguousarray(continuation)
    share, scale = _unit(weight)
    pulls = np.empty((len(logit), 0))
    if pull is not None:
        pulls, largest = _unit(pull)
        scale = scale * largest
    until, furthest = _until(share), _furthest(passed)
    result = np.zeros(logit.shape)
    for i in range(len(logit)):
        _row(score[i], passed[i], share[i], until[i], pulls[i], float(furthest[i]), result[i])
    result *= scale
    return result


def _unit(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scale rows (R, n) to a largest modulus of 1, and return what to multiply by (R, 1): 0 for rows of zeros."""
    scale = np.abs(values).max(axis=1, keepdims=True)
    return np.ascontiguousarray(values / np.where(scale > 0.0, scale, 1.0)), scale


def _row(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    until: NDArray[np.int64],
    pull: NDArray[np.float64],
    furthest: float,
    result: NDArray[np.float64],
) -> None:
    """Write the integral of one row to ``result``."""
    from rerankers.exposure.closed_form.arrival_loops import cutoff_time
    from rerankers.exposure.closed_form.roots_loops import sweep

    right = RIGHT - float(logit.min())
    cut = len(weight) if weight[-1] else int(until.searchsorted(len(weight) - 1))
    places = (right, *(cutoff_time(logit, cut, right) if cut < len(weight) else (0.0, 1.0)))

    def add(first: float, apart: float, total: NDArray[np.float64]) -> None:
        sweep(first, apart, places, logit, continuation, weight, until, pull, furthest, total)

    # The gradient sees a sharp fall as a narrow peak, which a step that is too long could miss altogether.
    step = min(COARSE, 2.0 / math.sqrt(len(logit))) if _falls_sharply(weight[:cut]) else COARSE
    refined(add, result, _tolerance(len(logit)), step)


def _until(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each rank the last one up to which the weight of the row stays the same: int64 (R, n)."""
    n = weight.shape[1]
    last = np.full(weight.shape, n - 1)
    last[:, :-1] = np.where(weight[:, 1:] != weight[:, :-1], np.arange(n - 1), n - 1)
    return np.ascontiguousarray(np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1])


def _falls_sharply(weight: NDArray[np.float64]) -> bool:
    """Say whether a weight falls at some rank by much more than at those that are reached at the same time."""
    fall = np.abs(np.diff(weight))
    rank = np.arange(EARLY, len(fall))
    reach = np.sqrt(rank).astype(np.int64)
    summed = np.concatenate([[0.0], np.cumsum(fall)])
    near = summed[np.minimum(rank + reach + 1, len(fall))] - summed[rank - reach]
    return bool(np.any(fall[EARLY:] > STEEP * near / (2 * reach + 1) + 1e-13))


def _furthest(continuation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank beyond which nobody goes, up to a chance of e^-40: float64 (R,), at most n."""
    largest = np.maximum(continuation.max(axis=1), 1e-300)
    ranks = np.full(len(largest), float(continuation.shape[1]))
    np.divide(NEGLIGIBLE, np.log(largest), where=largest < 1.0, out=ranks)
    return np.minimum(ranks + 1.0, float(continuation.shape[1]))


def _unsigned(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums over roots of unity, in place, without the negative numbers that rounding makes of tiny ones."""
    return np.maximum(chances, 0.0, out=chances)


def _tolerance(n: int) -> float:
    """Return what halving the step may change: it squares the error or better, and rounding is 1e-15 a document."""
    return 4e-12 + 1e-15 * n
