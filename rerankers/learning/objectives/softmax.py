"""The softmax of ragged rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray


def log_softmax(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of the softmax of values (nnz,), finite, within each row: float64 (nnz,)."""
    lengths = np.diff(indptr)
    shifted: NDArray[np.float64] = values - np.repeat(row_maxima(values, indptr), lengths)
    total = row_sums(np.exp(shifted), indptr)
    shifted -= np.repeat(np.log(np.where(lengths > 0, total, 1.0)), lengths)
    return shifted
