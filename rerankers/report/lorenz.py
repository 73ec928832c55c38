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
_CELLS = 1 << 20  # entries looked at at once
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
    which = np.asarray(rows, dtype=np.int64)
    longest = int(np.diff(indptr)[which].max(initial=0))
    step = max(1, _CELLS // max(longest, POINTS))
    for start in range(0, len(which), step):
        x, w = _padded(value, weight, indptr, which[start : start + step])
        some = x.sum(axis=1) > 0
        if not some.any():
            continue
        curves = _curves(x[some], w[some])
        total += np.rint(_UNIT * curves).astype(np.int64).sum(axis=0)
        counted += len(curves)
    return ShareSums(total, counted)


def _padded(
    value: Floats, weight: Floats | None, indptr: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return values and weights of rows, float64 (rows, longest) each; what does not count has weight and value 0."""
    lengths = indptr[rows + 1] - indptr[rows]
    there = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    place = (indptr[rows][:, None] + np.arange(there.shape[1]))[there]
    x, w = np.zeros(there.shape), np.zeros(there.shape)
    w[there] = 1.0 if weight is None else weight[place]
    x[there] = np.where(w[there] > 0, value[place], 0.0)
    return x, w


def _curves(x: Floats, w: Floats) -> Floats:
    """Return curve and coefficient of each row, float64 (rows, POINTS + 1); see `lorenz`."""
    ratio = np.divide(x, w, out=np.full(x.shape, np.inf), where=w > 0)  # what does not count goes last
    order = np.argsort(ratio, axis=1, kind="stable")
    x, w = (np.take_along_axis(one, order, axis=1) for one in (x, w))
    none = np.zeros((len(x), 1))
    # sums along a row are added one after the other, so that longer neighbours change no bit
    across, up = (np.hstack([none, np.cumsum(one, axis=1)]) for one in (w, x))
    across, up = across / across[:, -1:], up / up[:, -1:]
    gini = 1.0 - 2.0 * np.cumsum(np.diff(across) * (up[:, 1:] + up[:, :-1]) / 2.0, axis=1)[:, -1]
    return np.column_stack([_interpolated(across, up), gini])


def _interpolated(across: Floats, up: Floats) -> Floats:
    """Return the height of each row's line at `POINTS` shares, float64 (rows, POINTS)."""
    out = np.empty((len(across), POINTS))
    last = across.shape[1] - 2
    for place, share in enumerate(np.linspace(0.0, 1.0, POINTS)):
        left = np.clip(np.count_nonzero(across <= share, axis=1) - 1, 0, last)[:, None]
        x0, y0 = np.take_along_axis(across, left, axis=1), np.take_along_axis(up, left, axis=1)
        dx = np.take_along_axis(across, left + 1, axis=1) - x0
        dy = np.take_along_axis(up, left + 1, axis=1) - y0
        slope = np.divide(dy, dx, out=np.zeros_like(dx), where=dx > 0)
        out[:, place] = np.minimum(y0 + slope * (share - x0), 1.0)[:, 0]
    return out
