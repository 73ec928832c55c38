"""Numbers of which only the ratios count, brought to a size at which sums and products neither overflow nor vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.checks import LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray


def near_one(values: NDArray[np.float64], axis: int | None = None) -> NDArray[np.float64]:
    """Return values over a power of two near the largest, where that is beyond 1e150 or below 1e-150.

    The division is exact, and numbers of ordinary size stay as they are, bit by bit.

    Parameters
    ----------
    values
        float64, finite and at least 0.
    axis
        along which values belong together; None for all of them.

    Returns
    -------
    float64, of the same shape.
    """
    largest = np.max(values, axis=axis, initial=0.0, keepdims=True)
    usual = (largest == 0.0) | ((largest > 1.0 / LARGEST) & (largest < LARGEST))
    if np.all(usual):
        return values
    scaled: NDArray[np.float64] = np.ldexp(values, np.where(usual, 0, -np.frexp(largest)[1]))
    return scaled
