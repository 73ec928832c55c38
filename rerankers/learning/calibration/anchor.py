"""Probabilities of a list that sum to a given number: one constant a list, found by a safeguarded Newton method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDEST: Final = 1e4  # nats: a document so far below the best one of its list is not told from one further below
_NEAR: Final = 1e-14  # of the constant, or nats: a step of Newton's method of that size has arrived
_STEPS: Final = 100  # at most; a bisection of the widest bracket needs 60


def anchored(
    scores: NDArray[np.float64], indptr: NDArray[np.int64], share: NDArray[np.float64], slope: float = 1.0
) -> NDArray[np.float64]:
    """Return p = 1 / (1 + exp(-(slope s + t))), float64 (nnz,), with t such that the mean of each row is its share.

    The bits of a row depend on that row alone.

    Parameters
    ----------
    scores
        float64 (nnz,), finite.
    indptr
        int64 (B + 1,), the rows.
    share
        float64 (B,), strictly between 0 and 1.
    slope
        at least 0.
    """
    from scipy.special import expit

    size = np.diff(indptr)
    row = np.repeat(np.arange(len(size)), size)
    with np.errstate(over="ignore"):
        gap = np.maximum(scores - row_maxima(scores, indptr)[row], -np.finfo(np.float64).max)
        below = np.maximum(slope * gap, -_WIDEST)  # at most 0, and 0 for the best document of a row
    wanted = share * size
    # At log-odds(share) the best document has the share and no other more; the bracket ends where the worst has it.
    base = np.log(share) - np.log1p(-share)
    low, high = base, base - _row_minima(below, indptr)
    at, open_rows = low, size > 1
    chance: NDArray[np.float64] = expit(below + at[row])
    for _ in range(_STEPS):
        if not np.any(open_rows):
            break
        missing = wanted - row_sums(chance, indptr)
        low, high = np.where(missing >= 0, at, low), np.where(missing <= 0, at, high)
        curve = row_sums(chance * (1.0 - chance), indptr)
        step = np.divide(missing, curve, out=np.full(len(size), np.inf), where=curve > 0)
        newton = at + step
        inside = (newton > low) & (newton < high)
        following = np.where(inside, newton, low / 2 + high / 2)
        # A row is done when its step no longer changes its constant; each row's steps are its own.
        done = (np.abs(following - at) <= _NEAR * np.maximum(np.abs(at), 1.0)) | (missing == 0)
        at = np.where(open_rows & ~done, following, at)
        open_rows = open_rows & ~done
        chance = expit(below + at[row])
    return chance


def _row_minima(values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    return -row_maxima(-values, indptr)
