r"""The Plackett-Luce policy of the lowest expected loss: exact exposures in all scenarios at once, and their slopes.

Only the continuation of a document differs between scenarios, and it takes two values, so that with the arrival times
x = log t of `rerankers.exposure.closed_form.quadrature`, f_j = c_j + (1 - c_j) e^{-w_j t}, the product over documents
of scenario m is exp(\sum_j log f_j^0 + \sum_j r_{mj} log(f_j^1 / f_j^0)): a product of the labels r (M, n) and a
matrix (n, Q) for Q nodes. Exposures and slopes are such products too, so that the exponentials of the weights are
shared by all scenarios.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.exposure.browsing import Browsing
from rerankers.exposure.closed_form.nodes import CLAMP, COARSE, FIRST, RIGHT, node_values, shifted
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.scenarios.loss import ScenarioLoss
    from rerankers.methods.scenarios.rows import Scenarios

    Back = Callable[[NDArray[np.float64]], NDArray[np.float64]]

REACH = 12.0  # log-weights lie at most this far from the middle ones


class Weights(NamedTuple):
    """Log-weights (n,), the value of the loss, and the exposures (n, M)."""

    logit: NDArray[np.float64]
    value: float
    exposure: NDArray[np.float64]


def exposures(logit: NDArray[np.float64], scenarios: Scenarios) -> tuple[NDArray[np.float64], Back]:
    """Return the exact exposures (n, M) under Plackett-Luce rankings, and what turns pulls on them into slopes.

    Parameters
    ----------
    logit
        float64 (n,), finite.
    scenarios
        of the row; without weights of ranks all of them share one integral, with an error of about 1e-12.

    Returns
    -------
    The exposures, and a function from pulls (n, M) to the gradient (n,) of their product with the exposures.
    """
    return _shared(logit, scenarios) if scenarios.plain else _row_by_row(logit, scenarios)


def _row_by_row(logit: NDArray[np.float64], scenarios: Scenarios) -> tuple[NDArray[np.float64], Back]:
    count, n = scenarios.relevant.shape
    indptr, logits = np.arange(count + 1, dtype=np.int64) * n, np.tile(logit, count)
    browsing = Browsing(scenarios.position, scenarios.continuation.T.ravel(), scenarios.satisfaction.T.ravel())
    exposure = plackett_luce_exposure(indptr, logits, browsing).reshape(count, n).T

    def back(pull: NDArray[np.float64]) -> NDArray[np.float64]:
        slope = plackett_luce_gradient(indptr, logits, browsing, pull.T.ravel())
        total: NDArray[np.float64] = slope.reshape(count, n).sum(axis=0)
        return total

    return exposure, back


def _shared(logit: NDArray[np.float64], scenarios: Scenarios) -> tuple[NDArray[np.float64], Back]:
    label = scenarios.relevant.astype(np.float64)
    other = 1.0 - label
    score = shifted(logit[None])[0][:, None]
    y = np.arange(FIRST, RIGHT - float(score.min()) + COARSE, COARSE)
    x, weight = node_values(y, COARSE)
    arrived = np.exp(np.minimum(score + x, CLAMP))  # a = w t, (n, Q)
    stop0, stop1 = _stops(scenarios)
    (log0, density0), (log1, density1) = _factors(arrived, stop0), _factors(arrived, stop1)
    left = np.exp(log0.sum(axis=0) + np.log(weight) + label @ (log1 - log0))  # (M, Q)
    exposure = np.where(label > 0, left @ density1.T, left @ density0.T).T

    def back(pull: NDArray[np.float64]) -> NDArray[np.float64]:
        pull1, pull0 = pull.T * label, pull.T * other
        pulled = left * (pull0 @ density0 + pull1 @ density1)
        behind1, behind0 = label.T @ pulled, other.T @ pulled
        slope = (pull0.T @ left) * density0 * (1.0 - arrived + stop0 * density0) - stop0 * density0 * behind0
        slope += (pull1.T @ left) * density1 * (1.0 - arrived + stop1 * density1) - stop1 * density1 * behind1
        total: NDArray[np.float64] = slope.sum(axis=1)
        return total

    return exposure, back


def _stops(scenarios: Scenarios) -> tuple[float, float]:
    """Return 1 - c of documents that are not relevant and of those that are; 0 where there are none."""
    across = scenarios.relevant.T
    stop = 1.0 - scenarios.continuation
    return tuple(float(stop[kind].max(initial=0.0)) for kind in (~across, across))  # type: ignore[return-value]


def _factors(arrived: NDArray[np.float64], stop: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log f and a e^-a / f of documents with one continuation, both (n, Q)."""
    rest = -arrived
    with np.errstate(divide="ignore"):
        log = np.maximum(np.log1p(stop * np.expm1(rest)), rest)  # log f >= -a always; equal where c = 0
    return log, arrived * np.exp(rest - log)


def lowest_weights(loss: ScenarioLoss, start: NDArray[np.float64], max_iterations: int) -> Weights:
    """Return log-weights of a low loss, near ``start`` and never above its loss.

    The loss is not convex in the weights: L-BFGS (Liu & Nocedal 1989) ends in a local minimum. Weights stay within
    `REACH` of the middle of those at the start.

    Parameters
    ----------
    loss
        of the row.
    start
        float64 (n,), finite.
    max_iterations
        of L-BFGS.
    """
    from scipy.optimize import minimize

    def at(logit: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        exposure, back = exposures(logit, loss.scenarios)
        return loss.value(exposure), back(loss.gradient(exposure))

    begun, _ = exposures(start, loss.scenarios)
    first = Weights(start, loss.value(begun), begun)
    if len(start) == 1:
        return first
    origin = np.clip(start - np.median(start), -REACH, REACH)
    bounds = [(-REACH, REACH)] * len(start)
    result = minimize(at, origin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iterations})
    logit = np.asarray(result.x, dtype=np.float64)
    reached, _ = exposures(logit, loss.scenarios)
    value = loss.value(reached)
    return Weights(logit, value, reached) if value < first.value else first
