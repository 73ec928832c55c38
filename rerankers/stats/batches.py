"""Very many queries in batches: what a bootstrap over millions of them would take days for.

A batch of queries is a query of its own to the bootstrap: sums over batches of equally many independent queries are
independent and alike, and resampling them is resampling queries (Davison and Hinkley 1997, §3.8, with clusters of one
size). What is lost is precision of the standard error: about 1 / sqrt(2 `BATCHES`), 0.8 %, which is less than what
2,000 resamples leave to chance (1.6 %).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_UNITS = 20_000
"""More units than this are resampled in batches."""
BATCHES = 8_192
"""Into which they are dealt in turn, in the order of their rows."""


def batch_of(units: int) -> NDArray[np.int64] | None:
    """Return the batch of each of many units, int64 (units,) from 0; None where each is resampled by itself."""
    return None if units <= MOST_UNITS else np.arange(units, dtype=np.int64) % BATCHES


def in_batches(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of batches, float64 (`BATCHES`, M), of many rows; fewer rows as they are.

    Parameters
    ----------
    cells
        float64 (C, M), sums of each unit.
    """
    if len(cells) <= MOST_UNITS:
        return cells
    out: NDArray[np.float64] = np.zeros((BATCHES, cells.shape[1]))
    for start in range(0, len(cells), BATCHES):
        piece = cells[start : start + BATCHES]
        out[: len(piece)] += piece
    return out
