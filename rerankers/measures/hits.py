"""Where relevant documents stand in drawn rankings: few numbers, from which every classic measure follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Rankings

_TILE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The positions of documents with a positive grade, by ranking and then by rank.

    Attributes
    ----------
    rankings
        R rankings of B rows.
    ranking, rank
        int64 (hits,), which ranking and which 0-based rank.
    grade
        float64 (hits,), positive.
    """

    rankings: Rankings
    ranking: NDArray[np.int64]
    rank: NDArray[np.int64]
    grade: NDArray[np.float64]

    @classmethod
    def of(cls, rankings: Rankings, grade: NDArray[np.float64]) -> Hits:
        """Find the hits; ``grade`` is float64 (over.nnz,), 0 where a document is not relevant."""
        relevant = grade > 0
        base = rankings.over.indptr[rankings.row_of_ranking]
        lengths = np.diff(rankings.item_ptr)
        items, pairs, places = ([np.empty(0, np.int64)] for _ in range(3))
        for start, stop in _tiles(rankings.item_ptr):
            low = int(rankings.item_ptr[start])
            pair = np.repeat(base[start:stop], lengths[start:stop])
            pair += rankings.item[low : low + len(pair)]
            hit = np.flatnonzero(relevant[pair])
            items.append(hit + low)
            pairs.append(pair[hit])
            places.append(np.repeat(np.arange(start, stop), lengths[start:stop])[hit])
        item, found, ranking = (np.concatenate(parts) for parts in (items, pairs, places))
        return cls(rankings, ranking, item - rankings.item_ptr[ranking], grade[found])

    def from_grade(self, grade: int) -> Hits:
        """Return the hits of at least this grade."""
        keep = self.grade >= grade
        return self if bool(keep.all()) else self._keep(keep)

    def above(self, cutoff: int | None) -> Hits:
        """Return the hits among the first ``cutoff`` ranks, all without a cutoff."""
        return self if cutoff is None else self._keep(self.rank < cutoff)

    @property
    def number(self) -> NDArray[np.int64]:
        """int64 (hits,), how many hits of the same ranking stand before."""
        place = np.arange(len(self.ranking))
        first = np.diff(self.ranking, prepend=-1) > 0  # hits stand by ranking
        return place - np.maximum.accumulate(np.where(first, place, 0))

    def per_row(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of every hit by ranking and take the weighted mean over the rankings: float64 (B,)."""
        totals = np.bincount(self.ranking, weights=value, minlength=len(self.rankings))
        return mean_over_draws(self.rankings, totals.astype(np.float64, copy=False))

    def _keep(self, keep: NDArray[np.bool_]) -> Hits:
        return Hits(self.rankings, self.ranking[keep], self.rank[keep], self.grade[keep])


def _tiles(item_ptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut rankings into ranges of about 64k items, whose arrays stay in the cache; at least one ranking each."""
    start, count = 0, len(item_ptr) - 1
    while start < count:
        stop = int(np.searchsorted(item_ptr, item_ptr[start] + _TILE, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        yield start, stop
        start = stop


def mean_over_draws(rankings: Rankings, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted mean of a value of every ranking, float64 (R,) to (B,); 0 for rows without rankings."""
    row, rows = rankings.row_of_ranking, len(rankings.over)
    weighted = np.bincount(row, weights=value * rankings.weight, minlength=rows)
    # Rounding must not carry a mean beyond the values: the draws of an ideal policy all have nDCG 1.
    low, high = np.full(rows, np.inf), np.full(rows, -np.inf)
    np.minimum.at(low, row, value)
    np.maximum.at(high, row, value)
    return np.where(low <= high, np.clip(weighted, low, high), weighted)


def top_share(rankings: Rankings, flag: NDArray[np.bool_], cutoff: int | None) -> NDArray[np.float64]:
    """Return the share of the documents shown within the cutoff that carry a flag, averaged over rankings.

    Rankings without documents are left out of the average.

    Parameters
    ----------
    rankings
        R rankings of B rows.
    flag
        bool (over.nnz,).
    cutoff
        depth, None for the whole ranking. A shorter ranking is divided by its own length.

    Returns
    -------
    float64 (B,), from 0 to 1; NaN where no ranking of the row has a document.
    """
    lengths = np.diff(rankings.item_ptr)
    shown = lengths if cutoff is None else np.minimum(lengths, cutoff)
    ranking = np.repeat(np.arange(len(rankings)), shown)
    start = np.cumsum(shown) - shown
    item = np.arange(len(ranking)) + (rankings.item_ptr[:-1] - start)[ranking]
    pair = rankings.over.indptr[rankings.row_of_ranking][ranking] + rankings.item[item]
    flagged = np.bincount(ranking, weights=flag[pair], minlength=len(rankings))
    filled = (shown > 0).astype(np.float64)
    total = mean_over_draws(rankings, flagged / np.maximum(shown, 1))
    weight = mean_over_draws(rankings, filled)
    share = np.full(len(weight), np.nan)
    np.divide(total, weight, out=share, where=weight > 0)
    return share
