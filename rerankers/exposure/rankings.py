"""Exposure of given rankings: one kernel for drawn, published and read ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.arrays import read_only
from rerankers.exposure._walk import Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.values.exposure import Exposure
    from rerankers.values.rankings import Rankings


def item_exposure(rankings: Rankings, browsing: Browsing) -> NDArray[np.float64]:
    """Return the exposure of each ranked item in its ranking: float64 (items,).

    Parameters
    ----------
    rankings
        of any lengths.
    browsing
        bound to the rows the rankings are over.

    Raises
    ------
    ValueError
        for a document that its row does not have, and a model bound to other rows.
    """
    return _items(Walk.of(rankings, browsing))


def exposure_of(rankings: Rankings, browsing: Browsing) -> Exposure:
    """Return the weighted mean over each row's rankings, with what the unbiased estimators need.

    Beyond the rankings themselves, memory does not grow with their number. Exposures (and squares) below 2.2e-308,
    the smallest normal number, count as 0.

    Parameters
    ----------
    rankings
        the weights of a row sum to 1; a row without rankings gets exposure 0 and ``draws`` 0.
    browsing
        bound to the rows the rankings are over.

    Raises
    ------
    ValueError
        for a document that its row does not have, and a model bound to other rows.
    """
    from rerankers.exposure._ranking_loops import mean_walk
    from rerankers.values.exposure import Exposure

    over = rankings.over
    value, square = np.zeros(over.nnz), np.zeros(len(over))
    Walk.of(rankings, browsing).run(mean_walk, read_only(rankings.weight, np.float64), value, square)
    return Exposure(over, value, rankings.counts, square)


def seen(pairs: NDArray[np.int64], browsing: Browsing) -> NDArray[np.float64]:
    """Return the exposure of documents by rank.

    Parameters
    ----------
    pairs
        int64 (R, L), rankings of equal length as positions in the arrays of ``browsing``.

    Returns
    -------
    float64 (R, L).

    Raises
    ------
    ValueError
        for a position outside the arrays, and for more ranks than the model is bound to.
    """
    count, length = pairs.shape
    rows = np.array([0, len(browsing.continuation)], dtype=np.int64)
    starts = np.arange(count + 1, dtype=np.int64) * length
    walk = Walk.over(np.array([0, count], dtype=np.int64), starts, pairs.ravel(), rows, length, browsing)
    return _items(walk).reshape(count, length)


def _items(walk: Walk) -> NDArray[np.float64]:
    from rerankers.exposure._ranking_loops import item_walk

    exposure = np.empty(len(walk.item))
    walk.run(item_walk, exposure)
    return exposure
