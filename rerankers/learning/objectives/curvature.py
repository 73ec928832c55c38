"""What keeps Newton steps of convex losses finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 20.0  # nats that no Newton step of a convex loss exceeds
FLOOR = 1e-6  # of a curvature: so small a one belongs to a score that moves nothing, and LightGBM needs positive sums


def held(
    curvature: NDArray[np.float64], slope: NDArray[np.float64], step: float = STEP, floor: float = FLOOR
) -> NDArray[np.float64]:
    """Return curvatures (nnz,) raised to the size of the slope over ``step``, and to ``floor``.

    Where a logistic function is certain of the wrong class its second derivative vanishes but its first does not, and
    Newton's step would be e to the size of the score.
    """
    return np.maximum(curvature, np.maximum(np.abs(slope) / step, floor))
