"""Rankings as padded tables of bounded size, and the groups of their documents: what measures of prefixes run over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.hits import mean_over_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.values import GroupAlignment, Rankings

    Floats = NDArray[np.float64]

_CELLS = 1 << 20  # numbers of a table held at once: 8 MB


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """Some rankings, one after another, as tables of ``depth`` columns. Padding is False in ``valid``, else 0.

    Attributes
    ----------
    ranking
        slice of the rankings.
    row
        int64 (R,), the row (query) of each.
    pair
        int64 (R, depth), where each ranked document lies in arrays over the rows that are ranked.
    doc
        int64 (R, depth), its code.
    valid
        bool (R, depth).
    """

    ranking: slice
    row: NDArray[np.int64]
    pair: NDArray[np.int64]
    doc: NDArray[np.int64]
    valid: NDArray[np.bool_]

    def groups(self, alignment: GroupAlignment) -> Floats:
        """Return the weight of every ranked document in every group, float64 (R, depth, G), 0 where padded."""
        cell = np.flatnonzero(self.valid)
        item, group, weight = alignment.entries(self.doc.ravel()[cell])
        width = len(alignment.groups)
        total = np.bincount(cell[item] * width + group, weights=weight, minlength=self.valid.size * width)
        return total.astype(np.float64, copy=False).reshape(*self.valid.shape, width)


def tiles(rankings: Rankings, cutoff: int | None, width: int) -> Iterator[Tile]:
    """Cut rankings into tiles that fit beside ``width`` numbers for every ranked document."""
    lengths = np.diff(rankings.item_ptr)
    shown = lengths if cutoff is None else np.minimum(lengths, cutoff)
    row = rankings.row_of_ranking
    start = 0
    while start < len(shown):
        stop = _stop(shown, start, width)
        depth = int(shown[start:stop].max(initial=0))
        column = np.arange(depth)
        valid = column < shown[start:stop, np.newaxis]
        item = np.where(valid, rankings.item_ptr[start:stop, np.newaxis] + column, 0)
        pair = np.where(valid, rankings.over.indptr[row[start:stop], np.newaxis] + rankings.item[item], 0)
        yield Tile(slice(start, stop), row[start:stop], pair, rankings.over.doc[pair].astype(np.int64), valid)
        start = stop


def _stop(shown: NDArray[np.int64], start: int, width: int) -> int:
    """Return where a tile that starts here ends: its padded size stays within bounds, unless one ranking is larger."""
    ahead = shown[start : start + _CELLS]
    size = np.maximum.accumulate(np.maximum(ahead, 1)) * np.arange(1, len(ahead) + 1) * max(width, 1)
    return start + max(1, int(np.searchsorted(size, _CELLS, side="right")))


def over_prefixes(
    evaluation: Evaluation, attribute: str, cutoff: int | None, value: Callable[[Tile, Floats], Floats]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the mean over rankings of a number computed from the groups within each prefix.

    Parameters
    ----------
    cutoff
        depth at which rankings end, None for all of them.
    value
        of a tile and float64 (R, depth, G), the summed weights of the groups within each prefix; returns (R,).
        It must add up along the ranks one after another (`last`), so that padding changes no bit.

    Returns
    -------
    mean, filled
        float64 (B,), weighted by the rankings' probabilities, and bool (B,): whether any ranking has a document.
    """
    rankings, alignment = evaluation.rankings, evaluation.groups[attribute]
    single = np.zeros(len(rankings))
    for tile in tiles(rankings, cutoff, len(alignment.groups)):
        single[tile.ranking] = value(tile, np.cumsum(tile.groups(alignment), axis=1))
    filled = np.zeros(len(rankings.over), dtype=np.bool_)
    filled[rankings.row_of_ranking[np.diff(rankings.item_ptr) > 0]] = True
    return mean_over_draws(rankings, single), filled


def distributions(totals: Floats) -> Floats:
    """Return summed weights divided by their sum over the last axis; zeros stay zeros."""
    total = totals.sum(axis=-1, keepdims=True)
    return totals / np.where(total > 0, total, 1.0)


def last(value: Floats, axis: int = -1) -> Floats:
    """Return sums along an axis, one term after another: zeros at the end change no bit."""
    if value.shape[axis] == 0:
        nothing: Floats = value.sum(axis=axis)
        return nothing
    summed: Floats = np.take(np.cumsum(value, axis=axis), -1, axis=axis)
    return summed
