r"""The policies of enough utility, a region with an exact oracle.

The policies with u . E >= f are a polytope again, whose corners are rankings or mixtures of two that have exactly
that utility. A linear cost c is minimised over it by its Lagrangian dual, the maximum over m >= 0 of

    D(m) = min_y (c - m u) . E(y) + m f,

a concave function made of one line for each ranking: every call of the sorting oracle gives the line that is lowest at
m, and where the lines of a ranking above and one below the floor meet is the next m. The search ends, after a few
calls, where no lower line is found, and D(m) bounds the cost of every policy from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError
from rerankers.exposure.checks import shown
from rerankers.exposure.optimal.regions import AllPolicies, Vertex, shown_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.oracle import Oracle

_MISS = 1e-13  # of the size of utilities: what rounding may take away
_CALLS = 200  # of the oracle for one corner; some ten are enough


class EnoughUtility:
    """The policies whose utility is at least a floor.

    Attributes
    ----------
    multiplier
        the m of the last lowest point.

    Raises
    ------
    InfeasibleError
        where there are none.
    """

    def __init__(self, oracle: Oracle, utility: NDArray[np.float64], floor: float) -> None:
        self.oracle = oracle
        self.multiplier = 0.0
        self._all = AllPolicies(oracle)
        self._utility = utility
        self._best, least = self._all.lowest(-utility)
        self._most = -least
        self._miss = _MISS * max(abs(floor), float(np.dot(np.abs(utility), self._best.exposure)))
        if floor > self._most + self._miss:
            most = f"at most {shown(self._most)}, the greatest utility of any ranking"
            raise InfeasibleError(f"floor: found {shown(floor)}; expected {most}")
        self._floor = min(floor, self._most)

    def lowest(self, cost: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return the policy of the least cost . exposure, and a lower bound on that cost."""
        below, least = self._all.lowest(cost)
        self.multiplier = 0.0
        if self._is_enough(below):
            return below, least
        above, multiplier = self._best, 0.0
        for _ in range(_CALLS):
            (low, low_cost), (high, high_cost) = self._line(below, cost), self._line(above, cost)
            multiplier = max(0.0, (high_cost - low_cost) / (high - low))
            found, reduced = self._all.lowest(cost - multiplier * self._utility)
            dual = reduced + multiplier * self._floor
            if dual > least:
                least, self.multiplier = dual, multiplier
            if dual >= low_cost + multiplier * (self._floor - low) - self._rounding(cost, multiplier):
                break
            if self._is_enough(found):
                above = found
            else:
                below = found
        return self._between(below, above, self._floor), least

    def start(self, count: int) -> list[Vertex]:
        """Return rotations of the row's order, mixed with the ranking of the greatest utility where they need it."""
        room = self._most - self._floor
        if not room > 0:
            return shown_parts(self, count)
        out = []
        for vertex in self._all.start(count):
            short = self._most - self._of(vertex)
            # Half way towards the floor at most, so that some utility is left to give away.
            share = 1.0 if 2.0 * short <= room else 0.5 * room / short
            out.append(vertex if share == 1.0 else self._mixed(vertex, self._best, share))
        return out

    def coordinates(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exposure itself."""
        return exposure

    def _of(self, vertex: Vertex) -> float:
        return float(np.dot(self._utility, vertex.exposure))

    def _is_enough(self, vertex: Vertex) -> bool:
        return self._of(vertex) >= self._floor - self._miss

    def _line(self, vertex: Vertex, cost: NDArray[np.float64]) -> tuple[float, float]:
        return self._of(vertex), float(np.dot(cost, vertex.exposure))

    def _rounding(self, cost: NDArray[np.float64], multiplier: float) -> float:
        size = np.abs(cost) + multiplier * np.abs(self._utility)
        return 1e-15 * float(np.dot(size, self._best.exposure))

    def _between(self, below: Vertex, above: Vertex, floor: float) -> Vertex:
        low, high = self._of(below), self._of(above)
        return self._mixed(below, above, min(1.0, max(0.0, (high - floor) / (high - low))))

    def _mixed(self, first: Vertex, second: Vertex, share: float) -> Vertex:
        """Return a mixture with a share of the first."""
        exposure = share * first.exposure + (1.0 - share) * second.exposure
        return Vertex(exposure, np.concatenate([first.rankings, second.rankings]), np.array([share, 1.0 - share]))
