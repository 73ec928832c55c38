"""Exposure of given rankings: one kernel for drawn, published and read ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.values.exposure import Exposure
    from rerankers.values.rankings import Rankings

TILE = 1 << 16  # items worked on together, so that the temporaries fit the cache


def item_exposure(rankings: Rankings, browsing: Browsing) -> NDArray[np.float64]:
    """Return the exposure of each ranked item in its ranking: float64 (items,).

    Parameters
    ----------
    rankings
        of any lengths.
    browsing
        bound to the rows the rankings are over.
    """
    exposure = np.empty(len(rankings.item))
    for _, place, pairs in _tiles(rankings):
        exposure[place] = seen(pairs, browsing)
    return exposure


def exposure_of(rankings: Rankings, browsing: Browsing) -> Exposure:
    """Return the weighted mean over each row's rankings, with what the unbiased estimators need.

    Parameters
    ----------
    rankings
        the weights of a row sum to 1; a row without rankings gets exposure 0 and ``draws`` 0.
    browsing
        bound to the rows the rankings are over.
    """
    from rerankers.values.exposure import Exposure

    over = rankings.over
    weighted = np.empty(len(rankings.item))
    pairs_of_item = np.empty(len(rankings.item), dtype=np.int64)
    square = np.zeros(len(rankings))
    for chosen, place, pairs in _tiles(rankings):
        exposure = seen(pairs, browsing)
        square[chosen] = np.square(exposure).sum(axis=1)
        exposure *= rankings.weight[chosen][:, None]
        weighted[place] = exposure
        pairs_of_item[place] = pairs
    # One sum over all items in their order: the bits of a row do not depend on how the tiles fell.
    value = np.bincount(pairs_of_item, weights=weighted, minlength=over.nnz).astype(np.float64, copy=False)
    squares = np.bincount(rankings.row_of_ranking, weights=rankings.weight * square, minlength=len(over))
    return Exposure(over, value, rankings.counts, squares.astype(np.float64, copy=False))


def seen(pairs: NDArray[np.int64], browsing: Browsing) -> NDArray[np.float64]:
    """Return the exposure of documents by rank.

    Parameters
    ----------
    pairs
        int64 (R, L), rankings of equal length as positions in the arrays of ``browsing``.

    Returns
    -------
    float64 (R, L).
    """
    exposure = np.ones(pairs.shape)
    if pairs.shape[1] > 1:
        np.cumprod(browsing.continuation[pairs[:, :-1]], axis=1, out=exposure[:, 1:])
    if browsing.position is not None:
        exposure *= browsing.position[: pairs.shape[1]]
    return exposure


def _tiles(rankings: Rankings) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield equally long rankings (R,), the places of their items and the pairs these are, both (R, L)."""
    offset = rankings.over.indptr[rankings.row_of_ranking]
    for length, same in buckets(np.diff(rankings.item_ptr)):
        step = max(1, TILE // length)
        for start in range(0, len(same), step):
            chosen = same[start : start + step]
            place = rankings.item_ptr[chosen][:, None] + np.arange(length)
            yield chosen, place, rankings.item[place] + offset[chosen][:, None]
