r"""Group measures corrected for wrong labels by a confusion matrix (the problem of Ghazimatin et al., FAccT 2022).

Let M[g, h] be the probability that a document of group g is labelled h, labels being wrong independently. Observed sums
s' have the expectation M^T s, so M^-T s' is an unbiased estimate of the true sums s. For products of sums the row of
M^-1 that belongs to a label takes the label's place, and the diagonal is put right (`Moments.under`), since the square
of an unbiased estimate is too large by its variance. The mean of the result over all wrong labellings is the truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.moments import Moments

WORST = 1e6
"""Highest condition number that is inverted: beyond it, labels say next to nothing about groups."""
_ROUNDING = 1e-9


def check_confusion(matrix: NDArray[np.float64], groups: int) -> None:
    """Raise `InputError` unless a matrix (true group x label) is (G, G), of probabilities, with rows that sum to 1."""
    expected = f"({groups}, {groups}): probabilities of each label, a row a true group, that sum to 1"
    if np.shape(matrix) != (groups, groups):
        raise InputError.one("matrix", f"shape {np.shape(matrix)}", expected)
    if not np.all((matrix >= 0) & (matrix <= 1)):
        raise InputError.one("matrix", "entries outside of [0, 1]", expected)
    rows = matrix.sum(axis=1)
    if not np.all(np.abs(rows - 1) <= _ROUNDING):
        raise InputError.one("matrix", f"rows that sum to {', '.join(f'{row:.6g}' for row in rows)}", expected)


def inverse_confusion(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a confusion matrix, float64 (G, G).

    Raises
    ------
    InputError
        for a matrix that is none, or that is singular (condition number above `WORST`): some groups are labelled alike,
        so that no labels tell them apart.
    """
    check_confusion(matrix, len(matrix))
    condition = condition_number(matrix)
    if condition > WORST:
        found = f"a matrix of condition number {condition:.3g}"
        mend = "Some groups (or mixtures of them) are labelled alike, and no correction can tell them apart."
        raise InputError.one("matrix", found, f"at most {WORST:.0e}", mend=mend)
    inverse: NDArray[np.float64] = np.linalg.inv(matrix).astype(np.float64)
    return inverse


def condition_number(matrix: NDArray[np.float64]) -> float:
    """Return the condition number (2-norm): how much errors of labels can grow; infinite where it is singular."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def corrected_sums(observed: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unbiased estimates of the true group sums, float64 (..., G).

    Parameters
    ----------
    observed
        float64 (..., G), sums by label.
    matrix
        float64 (G, G), probability of each label (column) for each true group (row).

    Raises
    ------
    InputError
        as `inverse_confusion`.
    """
    sums: NDArray[np.float64] = observed @ inverse_confusion(matrix)
    return sums


def corrected_measure(moments: Moments, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unbiased estimates of the measure under the true labels, float64 (Q,); they may be below 0.

    Documents without a label stay as they are.

    Raises
    ------
    InputError
        as `inverse_confusion`, or for a matrix of other groups.
    """
    return moments.under(inverse_confusion(matrix))
