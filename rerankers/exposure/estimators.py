r"""Expected exposure from draws: plug-in and unbiased estimates, their standard errors, and the draws that are needed.

With the exposures X_1, ..., X_S of S independent draws, their mean M and a target T, the plug-in disparity |M|^2 is too
large by tr Cov(X) / S on average (Diaz et al. 2020 use it as it is). Leaving out the products of draws with
themselves gives the U-statistic (S |M|^2 - mean |X_s|^2) / (S - 1), which is right on average (Hoeffding 1948), as
M·T is for the relevance. The standard error of the loss is sd(h) / sqrt(S), h_s = 2 X_s·(M_s - T) its first-order
terms, M_s the mean of the other draws; without T it is that of the disparity, and that of the relevance is
sd(X_s·T) / sqrt(S).

Where the loss is nearly 0 the terms of second order are all that is left, and the standard error is too large, by the
square root of 2 at most. Memory does not grow with the draws, except for three numbers a ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure._draw_sums import Along, along_documents, along_groups
from rerankers.exposure._estimates import Estimates, by_formula, masked
from rerankers.exposure._walk import Walk
from rerankers.exposure.checks import check_bounded, float_array
from rerankers.exposure.objectives import expected_exposure
from rerankers.exposure.rankings import exposure_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.values.groups import GroupAlignment
    from rerankers.values.rankings import Rankings

__all__ = ["Estimates", "draws_needed", "estimate", "estimate_groups", "unbiased_ee"]

_EQUAL = 1e-9  # by how much a weight may miss 1 / S, relatively
_MOST = 2.0**62  # draws


def estimate(rankings: Rankings, browsing: Browsing, target: NDArray[np.float64]) -> Estimates:
    """Return estimates of the expected exposure of documents.

    Parameters
    ----------
    rankings
        independent draws, equally weighted within a row; any number a row.
    browsing
        bound to the rows the rankings are over.
    target
        float64 (nnz,), the target exposure of each document.

    Raises
    ------
    ValueError
        for draws of unequal weight, a target of another shape or not finite, a document that its row does not have,
        and a model bound to other rows.
    """
    mean = _mean(rankings, browsing, target)
    parts = expected_exposure(mean, target, rankings.over.indptr)
    along = along_documents(Walk.of(rankings, browsing), len(rankings), mean, target)
    return masked(rankings.query_ptr, parts, along)


def estimate_groups(
    rankings: Rankings, browsing: Browsing, target: NDArray[np.float64], alignments: Sequence[GroupAlignment]
) -> list[Estimates]:
    """Return estimates of the expected exposure of groups, one for each alignment, the rankings walked once for all.

    The exposure of a group is the sum over documents of exposure times the document's weight in it, its target alike
    (`GroupAlignment.totals`).

    Parameters
    ----------
    rankings, browsing, target
        as in `estimate`; the target is that of documents.
    alignments
        resolved, over at least the document codes of the rankings' rows.

    Raises
    ------
    ValueError
        as `estimate`, and for an alignment that is not resolved or has too few documents.
    """
    mean = _mean(rankings, browsing, target)
    walk = Walk.of(rankings, browsing)
    return [
        masked(rankings.query_ptr, parts, along)
        for parts, along in along_groups(walk, rankings.over, alignments, mean, target)
    ]


def draws_needed(se: ArrayLike, draws: ArrayLike, epsilon: float, confidence: float = 0.95) -> NDArray[np.int64]:
    """Return how many draws bring an estimate within ``epsilon`` of the truth with the given confidence.

    That is (z se sqrt(draws) / epsilon)^2, rounded up and at least 2, z the two-sided normal quantile. It takes the
    error for normal and falling with the square root of the draws: near a loss of 0, where it falls faster, fewer do.

    Parameters
    ----------
    se
        standard errors found, one of ``se_EED``, ``se_EER``, ``se_EEL`` of `Estimates`.
    draws
        the draws they come from, of the same shape.
    epsilon
        above 0, in the units of the estimate.
    confidence
        between 0 and 1.

    Returns
    -------
    int64, of the shape of ``se``.

    Raises
    ------
    ValueError
        for a standard error that is no number (too few draws to have one), and arguments out of range.
    """
    error, count = float_array("se", se), float_array("draws", draws)
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise InputError.one("epsilon", str(epsilon), "a number above 0")
    if not 0 < confidence < 1:
        raise InputError.one("confidence", str(confidence), "a number between 0 and 1")
    if error.shape != count.shape:
        raise InputError.one("draws", f"shape {count.shape}", f"{error.shape}, one for each standard error")
    if not np.all(np.isfinite(error) & (error >= 0) & (count >= 1)):
        mend = "Take at least 3 draws of every row first."
        raise InputError.one("se", "none in some row", "standard errors >= 0 and the draws behind them", mend=mend)
    quantile = NormalDist().inv_cdf(0.5 + confidence / 2)
    with np.errstate(over="ignore"):  # infinitely many are too many as well
        needed = np.ceil(np.square(quantile * error / epsilon) * count)
    if np.any(needed > _MOST):
        raise InputError.one("epsilon", f"{epsilon}, which takes {np.max(needed):.3g} draws", "a larger number")
    return np.maximum(needed, 2).astype(np.int64)


def unbiased_ee(exposures: ArrayLike, target: ArrayLike) -> dict[str, float]:
    """Return unbiased estimates from the exposures of draws of one query.

    Parameters
    ----------
    exposures
        (S, n), the exposure of documents (or groups) in each of S independent draws, S at least 2.
    target
        (n,), the target exposure.

    Returns
    -------
    dict
        ``EEL``, ``EED``, ``EER`` and ``se``, the standard error of EEL. With two draws it holds no more than the
        spread of EER: take three or more to rely on it.

    Raises
    ------
    ValueError
        for fewer than two draws, other shapes, and values that are not finite numbers below 1e150 in size.
    """
    drawn, aim = float_array("exposures", exposures), float_array("target", target)
    if drawn.ndim != 2 or len(drawn) < 2:
        raise InputError.one("exposures", f"an array of shape {drawn.shape}", "(S, n), a row a draw, S at least 2")
    _check_target(aim, drawn.shape[1])
    check_bounded("exposures", drawn)
    mean = drawn.mean(axis=0)
    parts = expected_exposure(mean[None], aim[None])
    along = Along(*(np.einsum("sn,sn->s", drawn, np.broadcast_to(other, drawn.shape)) for other in (mean, aim, drawn)))
    found = by_formula(np.array([0, len(drawn)]), parts, along)
    return {name: float(getattr(found, name)[0]) for name in ("EEL", "EED", "EER")} | {"se": float(found.se_EEL[0])}


def _mean(rankings: Rankings, browsing: Browsing, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean exposure over the draws, (nnz,), once they are known to be draws and to have a target."""
    _check_target(target, rankings.over.nnz)
    draws = rankings.counts
    if not np.all(np.abs(rankings.weight * np.repeat(draws, draws) - 1.0) <= _EQUAL):
        mend = "Such rankings are the policy itself, whose exposure is exact (exposure_of); or draw from it (Mixture)."
        raise InputError.one("rankings", "unequal weights in a row", "draws, each of weight 1 / S", mend=mend)
    return exposure_of(rankings, browsing).value


def _check_target(target: NDArray[np.float64], size: int) -> None:
    if target.shape != (size,):
        raise InputError.one("target", f"shape {target.shape}", f"({size},) finite numbers, one a document")
    check_bounded("target", target)
