r"""Lorenz curves and Gini coefficients of exposure: how few documents have how much of it.

The curve of values x with weights w (Lorenz 1905) sorts the n documents by x_i / w_i and draws, against the share p of
all weight that the first of them have, their share of all x: L(p). Weights are 1 for the curve over documents; for the
curve relative to merit they are the exposure that each document is due, so that the diagonal says that everybody has
what relevance earns (the ratio of attention to relevance of Biega, Gummadi & Weikum 2018). The Gini coefficient
(Gini 1912) is 1 - 2 \int L(p) dp, from 0 (on the diagonal) to nearly 1 (one document has everything); it is exact here
for the piecewise linear curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

POINTS = 41
_UNIT = float(1 << 40)  # sums of shares are whole numbers of 2^-40, so that no order of adding changes a bit


def lorenz(value: ArrayLike, weight: ArrayLike | None = None, points: int = POINTS) -> tuple[Floats, float]:
    """Return the Lorenz curve of values at equidistant shares of all weight, and the Gini coefficient.

    Parameters
    ----------
    value
        float64 (n,), at least 0, with a positive sum.
    weight
        float64 (n,), positive; None for weights of 1.
    points
        how many shares, from 0 to 1.

    Returns
    -------
    float64 (points,), from 0 to 1 and convex, and the coefficient in [0, 1).

    Raises
    ------
    ValueError
        for values below 0 or without a positive sum, and weights that are not positive.
    """
    x = np.asarray(value, dtype=np.float64)
    w = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=np.float64)
    if x.shape != w.shape or not np.all(x >= 0) or not np.all(w > 0) or not 0 < x.sum() < np.inf:
        raise ValueError("lorenz: found values below 0, no positive sum, or weights not above 0")
    order = np.argsort(x / w, kind="stable")
    across = np.concatenate([[0.0], np.cumsum(w[order])]) / w.sum()
    up = np.concatenate([[0.0], np.cumsum(x[order])]) / x.sum()
    across[-1] = up[-1] = 1.0
    return np.interp(np.linspace(0.0, 1.0, points), across, up), float(1.0 - 2.0 * np.trapezoid(up, across))


@dataclass(frozen=True, slots=True, eq=False)
class ShareSums:
    """Curves and coefficients added up over queries; those of blocks add up to the same bits in any order.

    Attributes
    ----------
    curve
        int64 (POINTS + 1,), sums of the curves' points and, last, of the coefficients, in units of 2^-40.
    queries
        how many.
    """

    curve: NDArray[np.int64]
    queries: int

    def __add__(self, other: ShareSums) -> ShareSums:
        return ShareSums(self.curve + other.curve, self.queries + other.queries)

    def mean(self) -> tuple[list[float], float] | None:
        """Return the mean curve and coefficient; None without a query."""
        if not self.queries:
            return None
        found = self.curve / (_UNIT * self.queries)
        return found[:-1].tolist(), float(found[-1])


def share_sums(value: Floats, weight: Floats | None, indptr: NDArray[np.int64], rows: Sequence[int]) -> ShareSums:
    """Add up the curves of some rows; those whose values are all 0, or that have no positive weight, are left out.

    Parameters
    ----------
    value, weight
        float64 (nnz,), at least 0; of ``weight`` only positive ones count, None takes 1 for all.
    indptr
        int64 (B + 1,), row i has the entries indptr[i]:indptr[i + 1].
    rows
        which.
    """
    total, counted = np.zeros(POINTS + 1, dtype=np.int64), 0
    for row in rows:
        part = slice(int(indptr[row]), int(indptr[row + 1]))
        mine, w = value[part], None if weight is None else weight[part]
        if w is not None:
            mine, w = mine[w > 0], w[w > 0]
        if mine.sum() > 0:
            curve, gini = lorenz(mine, w)
            total += np.rint(_UNIT * np.append(curve, gini)).astype(np.int64)
            counted += 1
    return ShareSums(total, counted)
