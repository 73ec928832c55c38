"""Gradients of expected reward with respect to the scores of a Plackett-Luce policy: exact, or from draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.browsing import Positions
from rerankers.exposure.checks import bounded_array, chosen, logit_array, position_array, whole_number
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.policies._estimators import baselines, pl_rank_3, reinforce
from rerankers.policies.logits import bounded
from rerankers.policies.single import sample_plackett_luce

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Slopes = Callable[[NDArray[np.float64]], ArrayLike]

DRAWS = 1000  # rankings that the estimators draw unless told otherwise
_ESTIMATORS = {"pl_rank_3": (pl_rank_3, 1), "reinforce": (reinforce, 2)}  # with the rankings that each needs


@np.errstate(under="ignore")
def pl_gradient(
    scores: ArrayLike,
    weights: ArrayLike | Slopes,
    position_weights: ArrayLike,
    method: str = "exact",
    draws: int | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    r"""Return the gradient with respect to the scores of J = E \sum_r position_weights[r] weights[y_r].

    y is a Plackett-Luce ranking, and J is \sum_d weights[d] E_d with E_d the expected exposure of document d. For any
    other function F of the exposures let ``weights`` be its gradient: a function that takes E and returns dF/dE.

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity for documents that come after all others.
    weights
        (n,), below 1e150 in size; or a function of the exposures (n,) that returns such an array.
    position_weights
        (K,), at least 0, not increasing; 0 beyond the last.
    method
        ``"exact"``: the analytic gradient, no draws and no error but rounding. ``"pl_rank_3"``: the estimator of
        Oosterhuis (2022). ``"reinforce"``: the score function estimator (Williams 1992), which is noisier. Both look
        at the ranks of positive weight only and take rewards relative to the mean reward of the other draws, which
        keeps them unbiased and makes them far less noisy. If ``weights`` is a function, the first half of the draws
        estimates the exposure and the second half, by itself, the gradient: so the result stays unbiased where F is
        quadratic.
    draws
        how many rankings are drawn, 1,000 if None; None for ``"exact"``.
    seed
        equal seeds give equal estimates; not used by ``"exact"``.

    Returns
    -------
    float64 (n,), 0 for documents at minus infinity.

    Raises
    ------
    ValueError
        for an unknown method, arrays of other shapes or with numbers that are not finite, position weights that are
        negative or increase, too few draws for the method (1; 2 for ``"reinforce"``; one more if ``weights`` is a
        function), and draws for ``"exact"``.
    """
    logit = logit_array(scores)
    n = len(logit)
    position = position_array("position_weights", position_weights)[:n]
    position = position[: np.count_nonzero(position)]
    if not callable(weights):
        weights = bounded_array("weights", weights, n)
    if chosen("method", method, ["exact", *_ESTIMATORS]) == "exact":
        if draws is not None:
            raise InputError.one("draws", str(draws), "None, because nothing is drawn for the exact gradient")
        return _exact(logit, position, weights)
    estimator, least = _ESTIMATORS[method]
    count = _draw_count(draws, least + callable(weights))
    if not len(position):
        return np.zeros(n)
    order = sample_plackett_luce(logit, len(position), count, seed)
    if callable(weights):
        first, order = order[: count // 2], order[count // 2 :]
        seen = np.bincount(first.ravel(), weights=np.tile(position, len(first)), minlength=n) / len(first)
        weights = bounded_array("weights(exposure)", weights(seen), n)
    gradient = estimator(bounded(logit), order, position, weights, baselines(order, position, weights))
    return np.where(np.isneginf(logit), 0.0, gradient)


def _exact(
    logit: NDArray[np.float64], position: NDArray[np.float64], weights: NDArray[np.float64] | Slopes
) -> NDArray[np.float64]:
    if not len(position):
        return np.zeros(len(logit))
    indptr = np.array([0, len(logit)], dtype=np.int64)
    browsing = Positions(tuple(position.tolist())).bind(None, indptr)
    if callable(weights):
        seen = plackett_luce_exposure(indptr, logit, browsing)
        weights = bounded_array("weights(exposure)", weights(seen), len(logit))
    return plackett_luce_gradient(indptr, logit, browsing, weights)


def _draw_count(draws: int | None, least: int) -> int:
    if draws is None:
        return DRAWS
    return whole_number("draws", draws, least)
