"""The rank discount of the TREC Fair Ranking tracks of 2021 and 2022, and binary nDCG under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRECISIONS = ("float64", "float32")


def rank_discount(n: int, precision: str = "float64") -> NDArray[np.float64]:
    """Return 1 / log2(max(k, 2)) for the ranks k = 1..n: 1, 1, 0.6309, 0.5, … (Järvelin & Kekäläinen 2002).

    Parameters
    ----------
    n
        number of ranks, at least 0.
    precision
        ``float32`` rounds each discount to single precision; what comes back is float64 all the same, so that sums
        are taken in double precision.

    Returns
    -------
    float64 (n,)

    Raises
    ------
    InputError
        for a negative n.
    ConfigError
        for another precision.
    """
    choose("precision", precision, PRECISIONS)
    if n < 0:
        raise InputError.one("n", str(n), "a number of ranks of at least 0")
    rank = np.maximum(np.arange(1, n + 1, dtype=precision), 2)
    discount: NDArray[np.float64] = np.reciprocal(np.log2(rank)).astype(np.float64)
    return discount


def binary_ndcg(relevant: NDArray[np.bool_], ideal: int, precision: str = "float64") -> float:
    """Return the nDCG of one ranking with gains of 0 and 1 under `rank_discount`.

    Parameters
    ----------
    relevant
        bool (n,), whether the document at each rank is relevant, best rank first.
    ideal
        how many relevant documents stand at the top of the ideal ranking: at least 1.
    precision
        of the discount.

    Returns
    -------
    float
        at least 0; above 1 only where the ranking holds more relevant ranks than ``ideal``, as one that repeats a
        document can.

    Raises
    ------
    InputError
        when ``relevant`` is not a vector or the ideal ranking has no relevant document.
    """
    relevant = np.asarray(relevant)
    if relevant.ndim != 1:
        raise InputError.one("relevant", f"shape {relevant.shape}", "one value a rank, (n,)")
    if ideal < 1:
        raise InputError.one("ideal", str(ideal), "at least one relevant document")
    gain = rank_discount(len(relevant), precision)[relevant.astype(bool)].sum()
    return float(gain / rank_discount(ideal, precision).sum())
