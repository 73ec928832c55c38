"""The exposure pages deserve when those that need most work come first (TREC Fair Ranking track 2021, task 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.rank_discount import rank_discount

if TYPE_CHECKING:
    from numpy.typing import NDArray


def work_needed_exposure(level: NDArray[np.integer], precision: str = "float64") -> NDArray[np.float64]:
    """Return the exposure of each relevant page under the ideal policy of task 2 (Ekstrand et al. 2021).

    The ideal policy ranks pages by level, lowest (most work needed) first, in random order within a level. So a page of
    a level that fills the ranks s+1..e receives the mean of their discounts (`rank_discount`).

    Parameters
    ----------
    level
        int (n,), the level of each relevant page.
    precision
        of the discount, ``float64`` or ``float32``.

    Returns
    -------
    float64 (n,), equal within a level; the sum is that of the first n discounts.

    Raises
    ------
    InputError
        when ``level`` is not a vector of whole numbers.
    """
    level = np.asarray(level)
    if level.ndim != 1 or not (np.issubdtype(level.dtype, np.integer) or level.size == 0):
        raise InputError.one("level", f"{level.dtype} of shape {level.shape}", "a vector of whole numbers")
    if not len(level):
        return np.zeros(0)
    _, own, count = np.unique(level, return_inverse=True, return_counts=True)
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    mean: NDArray[np.float64] = np.add.reduceat(rank_discount(len(level), precision), start) / count
    return mean[own]
