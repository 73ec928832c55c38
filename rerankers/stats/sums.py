"""Sums in twice the precision, so that adding in parts gives what adding at once gives.

Each sum is kept as an unevaluated pair high + low (Dekker 1971; the error of one addition is that of Knuth's TwoSum).
Its relative error is about n 2^-104, so that cutting n numbers into blocks, of whatever size, changes the rounded sum
only where it lies within that of the middle between two floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of columns.

    Attributes
    ----------
    high, low
        float64 (M,), the sums rounded, and what that leaves.
    """

    high: Floats
    low: Floats

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Return the sums of the columns of float64 (n, M), finite."""
        high, low = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        for row in rows:
            high, error = _two_sum(high, row)
            low = low + error
        return cls(*_two_sum(high, low))

    def __add__(self, other: Sums) -> Sums:
        high, error = _two_sum(self.high, other.high)
        low, rest = _two_sum(self.low, other.low)
        high, error = _two_sum(high, error + low)
        return Sums(*_two_sum(high, error + rest))


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its error; together they are the sum."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)
