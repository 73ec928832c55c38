"""A quadratic function of the weights of points that come one by one, and its minimum over the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.optimal.simplex_loops import append, minimise_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROWTH = 4.0  # a diagonal this much above the scale asks for a new one
_STALE = 256  # calls after which the factor is worked out anew


class Quadratic:
    """The second derivative (p, p) over weights, with the factor of the part that was active last.

    Parameters
    ----------
    square
        float64 (p, p), symmetric.
    ridge
        curvature below this part of the mean is noise.
    """

    def __init__(self, square: NDArray[np.float64], ridge: float) -> None:
        self._ridge = ridge
        self.size = len(square)
        self._square = np.zeros((max(8, 2 * self.size),) * 2)
        self._square[: self.size, : self.size] = square
        self._lower = np.zeros(self._square.shape)
        self._active = np.zeros(len(self._square), dtype=np.int64)
        self._count = self._calls = 0
        self._shift = 0.0

    @property
    def square(self) -> NDArray[np.float64]:
        """float64 (p, p)."""
        return self._square[: self.size, : self.size]

    def append(self, row: NDArray[np.float64]) -> None:
        """Add a row (p + 1,) and the same column."""
        p = self.size
        if p == len(self._square):
            self._square, self._lower = _doubled(self._square), _doubled(self._lower)
            self._active = np.append(self._active, np.zeros(p, dtype=np.int64))
        self._square[p, : p + 1] = self._square[: p + 1, p] = row
        self.size = p + 1
        if row[p] > _GROWTH * self._shift:
            self._count = 0

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out weights (p,)."""
        left = self.square[np.ix_(kept, kept)]
        self.size = len(left)
        self._square[: self.size, : self.size] = left
        self._count = 0

    def minimum(self, slope: NDArray[np.float64], weight: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
        """Return the weights (p,) of the least value; the given ones where rounding spoils the factor.

        Parameters
        ----------
        slope
            float64 (p,), the first derivative at ``weight``.
        weight
            float64 (p,), at least 0, sum 1.
        tolerance
            how far slopes of positive weights may be apart, and other slopes below them.
        """
        self._calls += 1
        if self._calls % _STALE == 0 or not self._is_active(weight):
            self._factorise(np.flatnonzero(weight > 0))
        found = weight.copy()
        state = (self._shift, self._ridge, self._lower, self._active, self._count, tolerance, 2 * self.size)
        self._count = minimise_weights(self._square, slope.copy(), found, *state)
        found /= found.sum()
        if np.all(np.isfinite(found)):
            return found
        self._count = 0
        return weight

    def _is_active(self, weight: NDArray[np.float64]) -> bool:
        held = np.zeros(self.size, dtype=bool)
        held[self._active[: self._count]] = True
        return bool(np.array_equal(held, weight > 0))

    def _factorise(self, active: NDArray[np.int64]) -> None:
        scale = float(np.trace(self.square)) / self.size
        self._shift = scale if scale > 0 else 1.0
        for m, place in enumerate(active.tolist()):
            append(self._square, self._shift, self._ridge, self._lower, self._active, m, place)
        self._count = len(active)


def _doubled(array: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(array)
    out = np.zeros((2 * size, 2 * size))
    out[:size, :size] = array
    return out
