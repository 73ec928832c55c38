"""Contests between relevant pairs and others: what areas under the ROC curve are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Contests:
    """P relevant pairs and N others, each by ascending score. A contest is one of either; ties are won by half.

    Attributes
    ----------
    clusters
        C, the number of clusters.
    winner, other
        int64 (P,) and (N,), the cluster of each relevant pair and of each other one.
    below, to
        int64 (P,): relevant pair i beats the others before ``below[i]`` and ties with those from there to ``to[i]``.
    lost
        float64 (N,), contests that each other pair loses.
    cluster, relevant, last
        int64, float64 and bool (P + N,), all pairs by ascending score; ``last`` of each score.
    """

    clusters: int
    winner: NDArray[np.int64]
    other: NDArray[np.int64]
    below: NDArray[np.int64]
    to: NDArray[np.int64]
    lost: NDArray[np.float64]
    cluster: NDArray[np.int64]
    relevant: NDArray[np.float64]
    last: NDArray[np.bool_]

    @classmethod
    def of(
        cls, rank: NDArray[np.int64], relevant: NDArray[np.bool_], cluster: NDArray[np.int64], clusters: int
    ) -> Contests:
        """Sort pairs (n,) by the rank of their score, int64; ``relevant`` bool, ``cluster`` int64 from 0 to C - 1."""
        order = np.argsort(rank, kind="stable")
        rank, relevant, cluster = rank[order], relevant[order], cluster[order]
        good, rest = rank[relevant], rank[~relevant]
        lost = len(good) - (np.searchsorted(good, rest, "left") + np.searchsorted(good, rest, "right")) / 2
        below, to = np.searchsorted(rest, good, "left"), np.searchsorted(rest, good, "right")
        last = np.append(rank[1:] > rank[:-1], [True] * bool(len(rank)))
        flag = relevant.astype(np.float64)
        return cls(clusters, cluster[relevant], cluster[~relevant], below, to, lost, cluster, flag, last)

    @property
    def defined(self) -> bool:
        """Whether there is any contest."""
        return len(self.winner) > 0 and len(self.other) > 0

    @property
    def area(self) -> float:
        """The area under the curve: the share of contests won; NaN without any."""
        if not self.defined:
            return float("nan")
        return float(np.sum(self.below + self.to) / 2 / (len(self.winner) * len(self.other)))

    def areas(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the area with each cluster taken as often as said, float64 (R,) of (R, C), NaN where undefined.

        Counts are whole numbers and their sums exact: no order of pairs changes a bit.
        """
        from rerankers.stats.contests_loops import weighted_areas

        out = np.empty(len(times))
        weighted_areas(np.ascontiguousarray(times), self.cluster, self.relevant, self.last, out)
        return out

    def left_out(self) -> NDArray[np.float64]:
        """Return the area of all clusters but one each, float64 (C,), NaN where undefined."""
        if not self.defined:
            return np.full(self.clusters, np.nan)
        won, lost, good, rest = self._by_cluster()
        contests = (good.sum() - good) * (rest.sum() - rest)
        remaining = won.sum() - won - lost + self._inside()
        area: NDArray[np.float64] = np.full(self.clusters, np.nan)
        np.divide(remaining, contests, out=area, where=contests > 0)
        return area

    def _by_cluster(self) -> tuple[NDArray[np.float64], ...]:
        """Return what its relevant pairs win, what its others lose, and the numbers of both, float64 (C,) each."""
        won = _sums(self.winner, (self.below + self.to) / 2, self.clusters)
        lost = _sums(self.other, self.lost, self.clusters)
        good = _sums(self.winner, np.ones(len(self.winner)), self.clusters)
        rest = _sums(self.other, np.ones(len(self.other)), self.clusters)
        return won, lost, good, rest

    def _inside(self) -> NDArray[np.float64]:
        """Return what relevant pairs win against others of their own cluster, float64 (C,)."""
        size = len(self.other) + 1
        place = np.sort(self.other * size + np.arange(len(self.other)))  # others by cluster, then by score
        start = np.searchsorted(place, self.winner * size)
        beaten = np.searchsorted(place, self.winner * size + self.below) - start
        reached = np.searchsorted(place, self.winner * size + self.to) - start
        return _sums(self.winner, (beaten + reached) / 2, self.clusters)

    def standard_error(self) -> float | None:
        """Return Obuchowski's; None with fewer than two clusters of either kind of pair."""
        if not self.defined:
            return None
        won, lost, good, rest = self._by_cluster()
        several = (int(np.sum(good > 0)), int(np.sum(rest > 0)), int(np.sum(good + rest > 0)))
        if min(several) < 2:
            return None
        of_good = won / rest.sum() - good * self.area
        of_rest = lost / good.sum() - rest * self.area
        shrink = [count / (count - 1) for count in several]
        variance = (
            shrink[0] * np.sum(of_good**2) / good.sum() ** 2
            + shrink[1] * np.sum(of_rest**2) / rest.sum() ** 2
            + shrink[2] * 2 * np.sum(of_good * of_rest) / (good.sum() * rest.sum())
        )
        return float(np.sqrt(max(variance, 0.0)))


def _sums(index: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)
