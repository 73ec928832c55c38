"""Means that do not depend on the order of their terms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def exact_mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean of the values that are not NaN, None where there is none.

    The sum is rounded once (Shewchuk 1997, through `math.fsum`), so that every order of the queries and every
    cut into blocks gives the same bits.

    Parameters
    ----------
    values
        float64 (n,).
    """
    present = values[~np.isnan(values)]
    return math.fsum(present.tolist()) / len(present) if len(present) else None
