r"""The lowest believed loss where one continuation a document describes browsing: certified, row by row.

The loss is i |E - T|^2 + g |A (E - T)|^2 - u s . E of exposures E under believed browsing, with the target T and what
exposure is worth, s. Without groups it is i |E - (T + u s / 2 i)|^2 and a constant, so that under position-based
browsing a projection on the permutahedron is the solution (`rerankers.exposure.optimal.pareto_front`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.browsing import Browsing, Cascade
from rerankers.exposure.optimal.caratheodory import decompose
from rerankers.exposure.optimal.frank_wolfe import Optimum, minimum
from rerankers.exposure.optimal.least_loss import least_loss_with_utility
from rerankers.exposure.optimal.losses import SquaredLoss
from rerankers.exposure.optimal.oracle import Oracle
from rerankers.exposure.optimal.sums import Linear, Weighted
from rerankers.exposure.optimal.utility_floor import least_unfair_with_utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.objective import Objective


@dataclass(frozen=True, slots=True, eq=False)
class OneVector:
    """The problem of one row of n documents.

    Attributes
    ----------
    browsing
        of the row.
    target, worth
        float64 (n,).
    member
        float64 (G, n), or None where groups do not count.
    individual, group
        the weights of the losses; not both 0.
    """

    browsing: Browsing
    target: NDArray[np.float64]
    worth: NDArray[np.float64]
    member: NDArray[np.float64] | None
    individual: float
    group: float

    def greatest(self) -> float:
        """Return the greatest utility of any ranking: that of the static ranking by worth."""
        if not len(self.target):
            return 0.0
        oracle = Oracle(self.browsing)
        return float(self.worth @ oracle.exposure(oracle.best(self.worth)[None])[0])

    def lowest(self, utility: float, tolerance: float, max_iterations: int) -> Optimum:
        """Return the policy of the lowest loss less ``utility`` times the utility, with its gap.

        Its ``value`` is that of the objective that was minimised, up to a constant of the row.
        """
        if self.member is None or self.group == 0 or not len(self.target):
            pull = utility / (2.0 * self.individual) if len(self.target) else 0.0
            shifted: Objective = SquaredLoss(self.target + pull * self.worth)
            objective = shifted if self.individual == 1.0 else Weighted((shifted, self.individual))
        else:
            objective = Weighted(*self._losses(), (Linear(-self.worth), utility))
        return minimum(objective, Oracle(self.browsing), tolerance, max_iterations)

    def lowest_above(self, floor: float, tolerance: float, max_iterations: int) -> Optimum:
        """Return the policy of the lowest loss among those of at least a utility, with its gap."""
        weight = Oracle(self.browsing).rank_weights
        if weight is not None and len(weight) and (self.member is None or self.group == 0):
            return self._projected(floor, weight)
        model = Cascade(self.browsing.continuation, self.browsing.position)
        return least_loss_with_utility(
            Weighted(*self._losses()),
            self.worth,
            floor,
            model,
            tolerance=tolerance,
            max_iterations=max_iterations,
        )

    def losses(self, exposure: NDArray[np.float64]) -> tuple[float, float, float]:
        """Return the loss of documents, that of groups (0 without), and the utility of exposures (n,)."""
        rest = exposure - self.target
        of_groups = np.zeros(1) if self.member is None else self.member @ rest
        return float(rest @ rest), float(of_groups @ of_groups), float(self.worth @ exposure)

    def _losses(self) -> list[tuple[Objective, float]]:
        parts: list[tuple[Objective, float]] = [(SquaredLoss(self.target), self.individual)]
        if self.member is not None:
            parts.append((SquaredLoss(self.member @ self.target, self.member), self.group))
        return parts

    def _projected(self, floor: float, weight: NDArray[np.float64]) -> Optimum:
        found = least_unfair_with_utility(self.worth, self.target, weight, floor)
        policy = decompose(found.exposure, weight)
        exposure = policy.weights @ Oracle(self.browsing).exposure(policy.rankings)
        return Optimum(
            policy.rankings,
            policy.weights,
            self.individual * max(found.gap, 0.0),
            exposure=exposure,
            value=self.individual * found.loss,
            iterations=1,
            converged=True,
        )


def row_browsing(browsing: Browsing, part: slice) -> Browsing:
    """Return a browsing model bound to one row of the block it is bound to."""
    size = part.stop - part.start
    position = None if browsing.position is None else browsing.position[:size]
    return Browsing(position, np.ascontiguousarray(browsing.continuation[part]), browsing.satisfaction[part])
