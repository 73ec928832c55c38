"""No calibration: scores stay what the objective makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class NoCalibration:
    """Leave scores as they are; methods that need probabilities will say so."""

    def fit(
        self,
        scores: NDArray[np.float64],
        relevant: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
        *,
        indptr: NDArray[np.int64] | None = None,
    ) -> None:
        """Return None; see `Calibration.fit`."""
        return
