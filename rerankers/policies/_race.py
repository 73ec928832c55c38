"""Draws of Plackett-Luce rankings of one row: the first ranks by search, the others by a race of clocks.

Both are exact. A race gives every document an exponential clock (Yellott 1977), which costs as much for one rank as
for all; a search costs the ranks that are wanted. Which of them draws a rank depends on the row and the rank alone,
so that a ranking does not depend on how much of it is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import stream_key, uniforms
from rerankers.policies._points import quasi_uniforms
from rerankers.policies.base import smallest, tiles
from rerankers.policies.logits import bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL = 128  # rows up to this length are raced from the first rank on
SHARE = 8  # of longer rows, one rank in eight is searched for, from the first,
MOST = 256  # but no more: a race for the others costs about as much whatever their number


class Race:
    """The sampler of one row, for `base.draw`.

    Parameters
    ----------
    logit
        float64 (n,), finite or minus infinity.
    seed, stream
        the source of randomness; see `rerankers._base.streams`.
    """

    def __init__(self, logit: NDArray[np.float64], seed: int, stream: NDArray[np.uint64]) -> None:
        score = bounded(logit)
        self.searched = 0 if len(score) <= SMALL else min(len(score) // SHARE, MOST)
        self._clocks = stream_key(seed, stream, "plackett_luce")
        self._order = np.argsort(-score, kind="stable").astype(np.int32) if self.searched else None
        self._score = score if self._order is None else score[self._order]
        if self.searched:
            from rerankers.policies._search_loops import scaled

            self._states = stream_key(seed, stream, "plackett_luce_search")
            self._scaled = scaled(self._score)

    def __call__(self, first: int, draws: int, k: int) -> NDArray[np.integer]:
        """Return the first k documents of draws first, first + 1, …: int (draws, k)."""
        place = np.empty((draws, k), dtype=np.int32)
        head = min(k, self.searched)
        if head:
            self._search(first, place[:, :head])
        if k > head:
            for tile in tiles(draws, len(self._score)):
                times = self._times(first + tile.start, tile.stop - tile.start)
                if head:
                    np.put_along_axis(times, place[tile, :head].astype(np.int64), np.inf, axis=1)
                place[tile, head:] = smallest(times, k - head)
        return place if self._order is None else self._order[place]

    def _times(self, first: int, draws: int) -> NDArray[np.float64]:
        return log_times(uniforms(self._clocks, first, draws, len(self._score)), self._score)

    def _search(self, first: int, place: NDArray[np.int32]) -> None:
        from rerankers.policies._search_loops import search_ranks

        counter = np.random.Philox(key=self._states)
        counter.advance(first)  # one counter a draw: its four words are the state of the draw's own numbers
        state = counter.random_raw(4 * len(place)).reshape(-1, 4)
        search_ranks(*self._scaled, state, place)


class Stratified:
    """The sampler of one row for schedules: a race whose clocks are spread evenly over the draws."""

    def __init__(self, logit: NDArray[np.float64], seed: int, stream: NDArray[np.uint64]) -> None:
        self._score = bounded(logit)
        self._key = stream_key(seed, stream, "plackett_luce_schedule")

    def __call__(self, first: int, draws: int, k: int) -> NDArray[np.integer]:
        """Return the first k documents of each of the scheduled rankings: int (draws, k)."""
        return smallest(log_times(quasi_uniforms(self._key, draws, len(self._score)), self._score), k)


def log_times(noise: NDArray[np.float64], score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of exponential arrival times of rates exp(score), in place of uniform noise (draws, n)."""
    np.log(noise, out=noise)
    np.negative(noise, out=noise)
    np.log(noise, out=noise)
    noise -= score
    return noise
