"""Squared distance between exposure and target, and its parts: the one home of the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.rows import row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ExpectedExposure(NamedTuple):
    """The parts of the expected exposure loss of each row (Diaz et al. 2020), float64 (B,).

    EEL = EED - 2 EER + EET. EED says how unequal exposure is, EER how much of it follows the target; EER is not
    the utility of users.
    """

    EED: NDArray[np.float64]
    EER: NDArray[np.float64]
    EET: NDArray[np.float64]
    EEL: NDArray[np.float64]


def expected_exposure(
    value: NDArray[np.float64], target: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
) -> ExpectedExposure:
    """Return the squared norms of exposure and target, their product and their squared distance, row by row.

    Parameters
    ----------
    value, target
        exposure and target: of documents, float64 (nnz,) with ``indptr``; or of groups, float64 (B, G) without.
    indptr
        int64 (B + 1,), the rows of documents.

    Returns
    -------
    The loss is the sum of squared differences, never the difference of the other parts, which would cancel.

    Raises
    ------
    ValueError
        for shapes that differ or do not fit ``indptr``.
    """
    rows = (int(indptr[-1]),) if indptr is not None else value.shape
    if value.shape != target.shape or value.shape != rows or (indptr is None and value.ndim != 2):
        expected = f"both of shape {rows}" if indptr is not None else "both (rows, groups)"
        raise InputError.one("exposure", f"shapes {value.shape} and {target.shape}", expected)
    difference = value - target
    parts = (value * value, value * target, target * target, difference * difference)
    if indptr is None:
        return ExpectedExposure(*(part.sum(axis=1) for part in parts))
    return ExpectedExposure(*(row_sums(part, indptr) for part in parts))
