"""Equal expected exposure: documents of one grade share what an ideal ranking gives to their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure._binding import check_bound
from rerankers.exposure.checks import gain_array
from rerankers.exposure.closed_form.levels import Levels, by_level
from rerankers.exposure.closed_form.plackett_luce import within
from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import Browsing


def equal_exposure(indptr: NDArray[np.int64], grades: ArrayLike, browsing: Browsing) -> NDArray[np.float64]:
    """Return the tie-averaged target: exposure under all rankings by grade, equally likely (Diaz et al. 2020).

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    grades
        (nnz,), negative ones count as 0.
    browsing
        the model, bound to the same rows.

    Returns
    -------
    float64 (nnz,).

    Raises
    ------
    ValueError
        for grades that are not numbers or of another length, and where `shuffle_exposure` has no closed form.
    """
    return shuffle_exposure(indptr, gain_array(grades, int(indptr[-1])), browsing)


def shuffle_exposure(indptr: NDArray[np.int64], level: NDArray[np.number], browsing: Browsing) -> NDArray[np.float64]:
    r"""Return the exposure when the higher level comes first and each level is shuffled uniformly.

    With b documents in better levels, m in the level and C the product of the better documents' continuations,
    a level of equal continuation c gives each document C / m \sum_{r=b}^{b+m-1} position[r] c^{r-b}; without
    position weights that is C (1 - c^m) / (m (1 - c)), and C at c = 1. Levels of unequal continuation are
    Plackett-Luce rankings of equal logits.
    """
    check_bound(browsing, int(indptr[-1]))
    levels = by_level(indptr, level)
    ordered = browsing.continuation[levels.order]
    first = ordered[levels.indptr[:-1]]
    if browsing.position is None:
        mean = levels.spread(_geometric_mean(first, levels.size))
    else:
        mean = levels.spread(_weighted_mean(levels, first, browsing.position))
    unequal = row_maxima(np.abs(ordered - levels.spread(first)), levels.indptr) > 0
    if np.any(unequal):
        alone = within(levels, np.zeros(len(ordered)), ordered, browsing.position, unequal)
        mean = np.where(levels.spread(unequal), alone, mean)
    exposure = np.empty(len(ordered))
    exposure[levels.order] = levels.spread(levels.before(ordered)) * mean
    return exposure


def _geometric_mean(ratio: NDArray[np.float64], size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of 1, c, ..., c^(m - 1) for c = ``ratio``, m = ``size``: exact to rounding up to c = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):  # c = 0 and c = 1
        mean = np.expm1(size * np.log(ratio)) / ((ratio - 1.0) * size)
    return np.where(ratio == 1.0, 1.0, mean)


def _weighted_mean(levels: Levels, ratio: NDArray[np.float64], position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of position[r] c^(r - b) over the ranks of each level: float64 (S,)."""
    within_level = np.arange(len(levels.order)) - levels.spread(levels.indptr[:-1])
    rank = levels.spread(levels.rank) + within_level
    terms = position[rank] * levels.spread(ratio) ** within_level
    return row_sums(terms, levels.indptr) / levels.size
