"""The one currency that links policies, targets, rankings and measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.values.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """Expected exposure of documents.

    Attributes
    ----------
    over
        the rows.
    value
        float64 (nnz,), expected exposure, at least 0.
    draws
        int64 (B,), rankings behind each row, or None where the value is exact.
    square
        float64 (B,), the mean over draws of the squared norm of one ranking's exposure (for the unbiased
        disparity), or None where the value is exact.
    """

    over: Ragged
    value: NDArray[np.float64]
    draws: NDArray[np.int64] | None = None
    square: NDArray[np.float64] | None = None

    @property
    def exact(self) -> bool:
        """Whether the value comes from a closed form."""
        return self.draws is None
