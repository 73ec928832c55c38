"""Exposure of documents seen as that of groups, through a matrix of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import float_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def group_matrix(matrix: ArrayLike | None, name: str = "matrix") -> NDArray[np.float64] | None:
    """Return a matrix as float64 (G, n), or None for None; `InputError` unless it is one of finite numbers."""
    if matrix is None:
        return None
    array = float_array(name, matrix)
    if array.ndim != 2 or not np.all(np.isfinite(array)):
        raise InputError.one(name, f"an array of shape {array.shape}, or not finite", "a matrix of finite numbers")
    return array


def parts_matrix(matrix: ArrayLike | None) -> NDArray[np.float64] | None:
    """Return `group_matrix` of parts; `InputError` where one is negative."""
    array = group_matrix(matrix)
    if array is not None and np.any(array < 0):
        raise InputError.one("matrix", f"{array.min()}", "parts of at least 0")
    return array


def check_documents(
    exposure: NDArray[np.float64], matrix: NDArray[np.float64] | None, name: str, values: NDArray[np.float64]
) -> None:
    """Raise `InputError` unless exposure (n,) is of the documents of a matrix or, without one, of the values (n,)."""
    called, size = (name, len(values)) if matrix is None else ("matrix", matrix.shape[1])
    if np.shape(exposure) != (size,):
        raise InputError.one(called, f"numbers of {size} documents", f"those of exposures {np.shape(exposure)}")


def seen_through(matrix: NDArray[np.float64] | None, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exposures (…, n) of documents as those of groups (…, G), where there is a matrix."""
    return exposure if matrix is None else exposure @ matrix.T


def seen_back(matrix: NDArray[np.float64] | None, slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return derivatives (…, G) by groups as those by documents (…, n), where there is a matrix."""
    return slope if matrix is None else slope @ matrix
