r"""The policies that keep several linear floors at once, a region with an oracle by column generation.

Rankings are taken in one by one (Dantzig & Wolfe 1960): a linear program mixes those at hand as cheaply as the floors
allow, its dual variables m price the floors, and the sorting oracle finds the ranking of the least reduced cost
(c - m W) . E. Where none is cheaper than those at hand, the mixture is optimal. For any m >= 0 the sum of the least
reduced cost and m . floors bounds the cost of every policy from below, so that the program's tolerances matter not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError
from rerankers.exposure.optimal.regions import AllPolicies, Vertex, shown_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.oracle import Oracle

_MISS = 1e-12  # of the size of a floor: what rounding may take away
_ROUNDING = 1e-14  # of the size of costs: bounds this close to a cost meet it
_CALLS = 1000  # of the oracle for one corner; some ten are enough
_ZERO = 1e-9  # shares and prices below it are 0: the program's own tolerances


class Floors:
    """The policies with worth @ exposure >= floors.

    Attributes
    ----------
    multipliers
        float64 (r,), the prices of the floors at the last lowest point.

    Raises
    ------
    InfeasibleError
        where there are none.
    """

    def __init__(self, oracle: Oracle, worth: NDArray[np.float64], floors: NDArray[np.float64]) -> None:
        self.oracle = oracle
        self._all = AllPolicies(oracle)
        best = [self._all.lowest(-row)[0] for row in worth]
        # Rows of like size, so that the program's tolerances mean the same in all of them.
        size = np.array([np.dot(np.abs(row), vertex.exposure) for row, vertex in zip(worth, best, strict=True)])
        self._size = np.maximum(np.maximum(size, np.abs(floors)), np.finfo(np.float64).tiny)
        self._worth, self._floors = worth / self._size[:, None], floors / self._size
        self.multipliers = np.zeros(len(floors))
        self._known: set[bytes] = set()
        self._columns: list[Vertex] = []
        for vertex in best or self._all.start(1):
            self._take_in(vertex)
        self._meet(floors)

    def lowest(self, cost: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return the policy of the least cost . exposure, and a lower bound on that cost."""
        bound = -np.inf
        for _ in range(_CALLS):
            share, price = self._program(np.array([np.dot(cost, vertex.exposure) for vertex in self._columns]))
            found, reduced = self._all.lowest(cost - price @ self._worth)
            dual = reduced + float(np.dot(price, self._floors))
            if dual > bound:
                bound, self.multipliers = dual, price / self._size
            mixed = self._mixed(share)
            least = float(np.dot(cost, mixed.exposure))
            if least - dual <= _ROUNDING * float(np.dot(np.abs(cost), mixed.exposure)) or not self._take_in(found):
                break
        return mixed, bound

    def start(self, count: int) -> list[Vertex]:
        """Return policies that show one part of the documents each as much as the floors allow."""
        return shown_parts(self, count)

    def coordinates(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exposure itself."""
        return exposure

    def _meet(self, floors: NDArray[np.float64]) -> None:
        """Take in rankings until some mixture keeps all floors."""
        for _ in range(_CALLS):
            share, price = self._program(None)
            short = self._floors - self._worth @ self._mixed(share).exposure
            if np.all(short <= _MISS):
                return
            found, reduced = self._all.lowest(-(price @ self._worth))
            least = reduced + float(np.dot(price, self._floors))  # of the total of what is missing, over all policies
            if least > _MISS or not self._take_in(found):
                break
        worst = int(np.argmax(short))
        missed = f"floor {worst} is missed by {float(short[worst] * self._size[worst]):.3g}"
        raise InfeasibleError(
            f"floors: found {floors.tolist()}; expected floors that one policy keeps all, but {missed}"
        )

    def _program(self, cost: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the shares (m,) of the cheapest mixture and the prices (r,) of the floors.

        Without costs what is missing to the floors is to be as little as possible in total.
        """
        from scipy.optimize import linprog

        value = self._worth @ np.array([vertex.exposure for vertex in self._columns]).T
        rows, m = value.shape
        missing = np.eye(rows) if cost is None else np.empty((rows, 0))
        price = np.concatenate([np.zeros(m), np.ones(rows)]) if cost is None else cost
        scale = max(float(np.abs(price).max(initial=0.0)), np.finfo(np.float64).tiny)
        sums = np.concatenate([np.ones(m), np.zeros(missing.shape[1])])
        inside = np.hstack([value, missing])
        found = linprog(price / scale, A_ub=-inside, b_ub=-self._floors, A_eq=sums[None], b_eq=[1.0], method="highs-ds")
        if found.x is None:
            raise FloatingPointError(f"the linear program of {m} rankings and {rows} floors failed: {found.message}")
        basis, binding = found.x > _ZERO, found.slack <= _ZERO
        priced = -found.ineqlin.marginals > _ZERO
        # The program ends at a corner, whose numbers are exact but for its tolerances: they are solved for anew.
        share, dual = np.zeros(len(found.x)), np.zeros(rows)
        ones = sums[None, basis]
        corner = np.vstack([ones, inside[np.ix_(binding, basis)]])
        share[basis] = np.linalg.lstsq(corner, np.append(1.0, self._floors[binding]), rcond=None)[0]
        prices = np.vstack([ones, inside[np.ix_(priced, basis)]])
        dual[priced] = np.linalg.lstsq(prices.T, price[basis], rcond=None)[0][1:]
        return np.maximum(share[:m], 0.0), np.maximum(dual, 0.0)

    def _take_in(self, vertex: Vertex) -> bool:
        key = vertex.rankings.tobytes()
        fresh = key not in self._known
        if fresh:
            self._known.add(key)
            self._columns.append(vertex)
        return fresh

    def _mixed(self, share: NDArray[np.float64]) -> Vertex:
        place = np.flatnonzero(share > 0)
        rankings = np.concatenate([self._columns[i].rankings for i in place])
        weights = share[place] / share[place].sum()
        return Vertex(weights @ np.array([self._columns[i].exposure for i in place]), rankings, weights)
