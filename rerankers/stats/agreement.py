"""How far several ways of measuring agree on the order of systems, and how many differences each of them finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def kendall_matrix(scores: ArrayLike, tolerance: float = 1e-12) -> Floats:
    """Return Kendall's tau-b (1945) between every two ways of scoring the same systems.

    Parameters
    ----------
    scores
        (W, S), the score of each system in each way; higher is better in all of them or in none.
    tolerance
        differences up to this, relative to the largest score of the way, are ties.

    Returns
    -------
    float64 (W, W), 1 on the diagonal; NaN where a way ties all systems, or there is only one.

    Raises
    ------
    InputError
        for another shape or scores that are not finite.
    """
    sign = pair_signs(scores, tolerance)
    number = np.abs(sign).sum(axis=1)
    scale = np.sqrt(np.outer(number, number))
    tau: Floats = np.where(scale > 0, (sign @ sign.T) / np.where(scale > 0, scale, 1.0), np.nan)
    return np.clip(tau, -1.0, 1.0)


def pair_signs(scores: ArrayLike, tolerance: float = 1e-12) -> Floats:
    """Return which system of each pair has more: float64 (W, pairs) of -1, 0 (a tie) and 1, pairs i < j in order."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not np.all(np.isfinite(table)):
        raise InputError.one("scores", f"shape {table.shape}", "a finite score for every way and system")
    first, second = np.triu_indices(table.shape[1], 1)
    apart = table[:, first] - table[:, second]
    scale = np.abs(table).max(axis=1, initial=0.0)[:, np.newaxis]
    signs: Floats = np.where(np.abs(apart) > tolerance * scale, np.sign(apart), 0.0)
    return signs


def discriminative_power(values: ArrayLike, level: float = 0.05) -> tuple[float, int]:
    """Return the share of pairs of systems whose mean difference is significant (Sakai 2006), and how many pairs tie.

    Parameters
    ----------
    values
        (S, Q), S at least 2 systems on the same Q queries, finite.
    level
        of the two-sided paired t test of each pair by itself; there is no correction for the number of pairs.

    Returns
    -------
    share, ties
        ties: pairs that are equal on every query. With fewer than 2 queries nothing is significant.

    Raises
    ------
    InputError
        for another shape or values that are not finite.
    """
    from scipy.stats import t as student

    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.all(np.isfinite(table)):
        raise InputError.one("values", f"shape {table.shape}", "finite values of two systems or more, by query")
    first, second = np.triu_indices(len(table), 1)
    apart = table[first] - table[second]
    same = np.abs(apart).max(axis=1, initial=0.0) <= 1e-12 * np.abs(table).max(initial=0.0)
    number = table.shape[1]
    if number < 2:
        return 0.0, int(same.sum())
    error = apart.std(axis=1, ddof=1) / np.sqrt(number)
    mean = np.abs(apart.mean(axis=1))
    bound = float(student.isf(level / 2, number - 1))
    found = ~same & (mean > bound * error)
    return float(found.mean()), int(same.sum())
