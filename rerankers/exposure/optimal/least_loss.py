"""The least loss among policies of enough utility."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.optimal.enough_utility import EnoughUtility
from rerankers.exposure.optimal.frank_wolfe import Optimum, bound, check_objective, check_settings, empty_row
from rerankers.exposure.optimal.objective import matrix_of, scale_of
from rerankers.exposure.optimal.oracle import Oracle
from rerankers.exposure.optimal.permutahedron import document_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.exposure.optimal.objective import Objective

__all__ = ["FloorOptimum", "least_loss_with_utility"]


class FloorOptimum(Optimum):
    """The policy of the least loss above a floor of utility: the tuple (rankings, weights, gap), with more attributes.

    Attributes
    ----------
    utility
        of the policy, at least the floor up to rounding.
    multiplier
        what a little more utility would cost, in loss per unit of utility: the dual variable of the floor, at least
        0, and 0 where the floor does not bind.
    bound
        value - gap: no policy of enough utility has a smaller loss, up to rounding.
    """

    utility: float
    multiplier: float

    @property
    def bound(self) -> float:
        """The certified lower bound on the loss."""
        return self.value - self.gap


def least_loss_with_utility(
    objective: Objective,
    utility: ArrayLike,
    floor: float,
    browsing: BrowsingModel,
    n: int | None = None,
    grades: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> FloorOptimum:
    """Return the policy that minimises a convex function of exposure subject to utility . exposure >= floor.

    Parameters
    ----------
    objective
        as for `frank_wolfe`.
    utility
        (n,), what a unit of exposure of a document is worth, finite.
    floor
        the least utility, in the units of ``utility`` times exposure.
    browsing, n, grades, tolerance, max_iterations
        as for `frank_wolfe`.

    Returns
    -------
    `FloorOptimum`, which unpacks into rankings (m, n), weights (m,) and gap. Objectives with a ``matrix`` of G rows
    need at most G + 2 rankings.

    Raises
    ------
    InfeasibleError
        where no ranking has that much utility; the message names the greatest.
    ValueError
        as for `frank_wolfe`, and for an objective of shares of exposure, among which the floor is not linear.
    """
    from rerankers.exposure.optimal.minimise import minimise

    check_settings(tolerance, max_iterations)
    if scale_of(objective) is not None:
        mend = "Give the divergence of shares a total."
        raise InputError.one("objective", "a function of shares of exposure", "one of exposure", mend=mend)
    oracle = Oracle(bound(browsing, n, grades))
    worth = document_array("utility", utility, oracle.size)
    if not np.isfinite(floor):
        raise InputError.one("floor", f"{floor}", "a finite number")
    region = EnoughUtility(oracle, worth, float(floor))
    if oracle.size == 0:
        return FloorOptimum.of(empty_row(objective), utility=0.0, multiplier=0.0)
    check_objective(objective, oracle)
    matrix = matrix_of(objective)
    kept = None if matrix is None else np.vstack([matrix, worth])
    found = minimise(objective, region, tolerance, max_iterations, kept)
    return FloorOptimum.of(found, utility=float(np.dot(worth, found.exposure)), multiplier=region.multiplier)
