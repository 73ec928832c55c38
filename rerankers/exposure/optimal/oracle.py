r"""The ranking of the largest weighted exposure: the linear oracle of everything that optimises policies.

For gains l and continuations c let a and b be neighbours in a ranking. What comes before and after them does not
depend on their order, and a first is at least as good as b first exactly when l_a + c_a l_b >= l_b + c_b l_a, that is
l_a / (1 - c_a) >= l_b / (1 - c_b): sorting by that key is optimal, also for negative gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.arrays import read_only
from rerankers._base.errors import InputError
from rerankers.exposure.browsing import Browsing
from rerankers.exposure.optimal.permutahedron import document_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Oracle:
    """Best rankings of one row under one browsing model; what does not depend on the gains is worked out once.

    Three kinds of browsing have an exact oracle: equal continuations with any weights of ranks (gains are sorted);
    any continuations without weights of ranks (the key above is sorted); and any continuations with equal weights
    on the first k ranks and none beyond (a set of k is chosen by dynamic programming, O(n k), and ranked by the key).

    Parameters
    ----------
    browsing
        bound to the row, or to a block whose row this is; see `part`.
    part
        the range of the row in the arrays of ``browsing``; all of them by default.

    Raises
    ------
    ValueError
        for unequal continuations with weights of ranks that are no plain cutoff, where no sort is optimal.
    """

    def __init__(self, browsing: Browsing, part: slice = slice(None)) -> None:
        continuation = np.ascontiguousarray(browsing.continuation[part])
        self.size = len(continuation)
        position = None if browsing.position is None else browsing.position[: self.size]
        self.browsing = Browsing(position, continuation, browsing.satisfaction[part])
        self._equal = self.size == 0 or bool(np.all(continuation == continuation[0]))
        self._cutoff = self.size if position is None else int(np.count_nonzero(position))
        if not self._equal and position is not None and self._cutoff and position[self._cutoff - 1] != position[0]:
            raise InputError.one(
                "browsing",
                "unequal continuations with weights of ranks that are no plain cutoff",
                "equal continuations, or equal weights on the first ranks and none beyond",
                mend="For these the best ranking is not known exactly, so that no gap could be certified.",
            )
        # 1 / (1 - c) is infinite at c = 1: a gain there comes first, a loss last, and 0 has the key 0.
        with np.errstate(divide="ignore"):
            self._scale = 1.0 / (1.0 - continuation)
        self._walk = (
            read_only(np.array([0, self.size]), np.int64),
            read_only(continuation, np.float64),
            read_only(np.ones(self.size) if position is None else position, np.float64),
        )
        self._certain = bool(np.any(continuation == 1.0))

    @property
    def rank_weights(self) -> NDArray[np.float64] | None:
        """float64 (n,), the exposure that each rank gives, where all continuations are equal; None otherwise."""
        if not self._equal:
            return None
        weight = self.browsing.continuation ** np.arange(self.size)
        return weight if self.browsing.position is None else weight * self.browsing.position

    def best(self, gain: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the ranking int64 (n,) that maximises the sum of gain times exposure; ties keep the row's order.

        Parameters
        ----------
        gain
            float64 (n,), finite, of any sign.
        """
        if self._equal:
            return np.argsort(-gain, kind="stable").astype(np.int64, copy=False)
        if self._certain:
            key = np.zeros(self.size)
            np.multiply(-gain, self._scale, out=key, where=gain != 0)
        else:
            key = -gain * self._scale
        order = np.argsort(key, kind="stable").astype(np.int64, copy=False)
        if 0 < self._cutoff < self.size:
            from rerankers.exposure.optimal.oracle_loops import best_head

            head = best_head(gain[order], self.browsing.continuation[order], self._cutoff)
            order = np.concatenate([order[head], order[~head]])
        return order

    def exposure(self, rankings: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exposure of documents, float64 (R, n), in complete rankings int64 (R, n)."""
        from rerankers.exposure._ranking_loops import item_walk

        count = len(rankings)
        starts = np.arange(count + 1, dtype=np.int64) * self.size
        ends = np.array([0, count], dtype=np.int64)
        by_rank, out = np.empty(count * self.size), np.empty(rankings.shape)
        walk = (read_only(ends, np.int64), read_only(starts, np.int64), read_only(rankings.ravel(), np.int32))
        item_walk(0, 1, *walk, *self._walk, by_rank)
        np.put_along_axis(out, rankings, by_rank.reshape(rankings.shape), axis=1)
        return out


def best_ranking(gain: ArrayLike, browsing: Browsing) -> NDArray[np.int64]:
    """Return the complete ranking that maximises the sum of gain times exposure.

    Parameters
    ----------
    gain
        (n,), finite, of any sign.
    browsing
        bound to one row of n documents.

    Returns
    -------
    int64 (n,), the documents, best first. Every document is ranked, those of negative gain too.

    Raises
    ------
    ValueError
        for gains that are not n finite numbers, and where `Oracle` has no exact answer.
    """
    return Oracle(browsing).best(document_array("gain", gain, len(browsing.continuation)))
