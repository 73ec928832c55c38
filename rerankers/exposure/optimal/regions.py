"""The exposures that policies may have, as convex sets with an oracle for their lowest point."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.oracle import Oracle


class Vertex(NamedTuple):
    """A point of a region and the rankings that make it.

    ``exposure`` float64 (n,); ``rankings`` int64 (j, n) and ``weights`` float64 (j,), whose sum need not be 1: the
    policy of a mixture of vertices weights rankings by the products, divided by their sum.
    """

    exposure: NDArray[np.float64]
    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]


class Region(Protocol):
    """A convex set of exposures of n documents."""

    oracle: Oracle

    def lowest(self, cost: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return a point of the least cost . exposure, and a number that no point of the region falls below."""
        ...

    def start(self, count: int) -> list[Vertex]:
        """Return points from which to start, about ``count``: the more, the more documents are seen well."""
        ...

    def coordinates(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the point of the region, (n,), that an exposure (n,) stands for."""
        ...


class AllPolicies:
    """Every policy: the convex hull of the exposures of all rankings."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def lowest(self, cost: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return the ranking of the least cost . exposure, and that cost."""
        vertex = self.vertices(self.oracle.best(-cost)[None])[0]
        return vertex, float(np.dot(cost, vertex.exposure))

    def start(self, count: int) -> list[Vertex]:
        """Return rotations of the row's order; as many as there are documents let each be first once."""
        size = self.oracle.size
        first = np.arange(count) * size // count
        return self.vertices((first[:, None] + np.arange(size)) % max(size, 1))

    def vertices(self, rankings: NDArray[np.int64]) -> list[Vertex]:
        """Return a vertex for each of complete rankings int64 (R, n)."""
        exposure = self.oracle.exposure(rankings)
        return [Vertex(exposure[i], rankings[i : i + 1], np.ones(1)) for i in range(len(rankings))]

    def coordinates(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exposure itself."""
        return exposure


class SharePolicies:
    r"""Every policy, seen by its exposure over its total, q = E / (s . E) with weights s of documents.

    Mixing keeps this convex: q of a mixture is the mixture of the q of its rankings with weights w_y (s . E(y)).
    The lowest point minimises (c . E(y)) / (s . E(y)); Dinkelbach (1967) finds it by minimising c - r s for the
    ratio r so far until no ranking has a lower one, each time by the same oracle.
    """

    def __init__(self, oracle: Oracle, scale: NDArray[np.float64]) -> None:
        self.oracle = oracle
        self._all = AllPolicies(oracle)
        self._scale = scale
        self._most, least = self._all.lowest(-scale)
        if np.any(scale < 0) or not least < 0:
            raise InputError.one("objective", "a total of exposure that is 0 or less", "documents that are counted")

    def lowest(self, cost: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return the ranking of the least cost . q, and that cost."""
        best = self.start(1)[0]
        ratio = float(np.dot(cost, best.exposure))
        while True:
            found, _ = self._all.lowest(cost - ratio * self._scale)
            if not np.dot(self._scale, found.exposure) > 0:
                return best, ratio  # nothing that counts is seen, so that no ranking lies below the ratio
            found = self._shared(found)
            lower = float(np.dot(cost, found.exposure))
            if not lower < ratio:
                return best, ratio
            best, ratio = found, lower

    def start(self, count: int) -> list[Vertex]:
        """Return rotations of the row's order that have a total, or the ranking of the greatest."""
        seen = [vertex for vertex in self._all.start(count) if np.dot(self._scale, vertex.exposure) > 0]
        return [self._shared(vertex) for vertex in seen or [self._most]]

    def coordinates(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exposure over its total."""
        share: NDArray[np.float64] = exposure / np.dot(self._scale, exposure)
        return share

    def _shared(self, vertex: Vertex) -> Vertex:
        total = float(np.dot(self._scale, vertex.exposure))
        return Vertex(vertex.exposure / total, vertex.rankings, np.array([1.0 / total]))


def shown_parts(region: Region, count: int) -> list[Vertex]:
    """Return points of a region that show one of ``count`` parts of the documents each as much as possible."""
    part = np.arange(region.oracle.size) % count
    return [region.lowest(-(part == place).astype(np.float64))[0] for place in range(count)]
