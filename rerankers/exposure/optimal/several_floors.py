"""The least loss among policies that keep several linear floors: of utility, of the exposure of groups, of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.optimal.floors_region import Floors
from rerankers.exposure.optimal.frank_wolfe import Optimum, bound, check_objective, check_settings, empty_row
from rerankers.exposure.optimal.groups import group_matrix
from rerankers.exposure.optimal.objective import matrix_of, scale_of
from rerankers.exposure.optimal.oracle import Oracle
from rerankers.exposure.optimal.permutahedron import document_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.exposure.optimal.objective import Objective

__all__ = ["FloorsOptimum", "least_loss_with_floors"]


class FloorsOptimum(Optimum):
    """The policy of the least loss above floors: the tuple (rankings, weights, gap), with more attributes.

    Attributes
    ----------
    amounts
        float64 (r,), what the policy has of each: at least the floors up to rounding.
    multipliers
        float64 (r,), what a little more of each would cost in loss: the dual variables, at least 0.
    bound
        value - gap: no policy above the floors has a smaller loss, up to rounding.
    """

    amounts: NDArray[np.float64]
    multipliers: NDArray[np.float64]

    @property
    def bound(self) -> float:
        """The certified lower bound on the loss."""
        return self.value - self.gap


def least_loss_with_floors(
    objective: Objective,
    worth: ArrayLike,
    floors: ArrayLike,
    browsing: BrowsingModel,
    n: int | None = None,
    grades: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> FloorsOptimum:
    """Return the policy that minimises a convex function of exposure subject to worth @ exposure >= floors.

    A ceiling is a floor with both signs changed, an equation one of each. With one floor `least_loss_with_utility`
    does the same faster.

    Parameters
    ----------
    objective
        as for `frank_wolfe`.
    worth
        (r, n), finite; row i says what a unit of exposure of a document adds to amount i.
    floors
        (r,), finite.
    browsing, n, grades, tolerance, max_iterations
        as for `frank_wolfe`. An iteration solves a few linear programs (scipy, HiGHS).

    Returns
    -------
    `FloorsOptimum`, which unpacks into rankings (m, n), weights (m,) and gap. Objectives with a ``matrix`` of G rows
    need at most G + r + 1 rankings.

    Raises
    ------
    InfeasibleError
        where no policy keeps all floors.
    ValueError
        as for `frank_wolfe`, and for an objective of shares of exposure, among which floors are not linear.
    """
    from rerankers.exposure.optimal.minimise import minimise

    check_settings(tolerance, max_iterations)
    if scale_of(objective) is not None:
        mend = "Give the divergence of shares a total."
        raise InputError.one("objective", "a function of shares of exposure", "one of exposure", mend=mend)
    oracle = Oracle(bound(browsing, n, grades))
    rows = group_matrix(worth, "worth")
    if rows is None or rows.shape[1] != oracle.size:
        found = "None" if rows is None else f"an array of shape {rows.shape}"
        raise InputError.one("worth", found, f"(r, {oracle.size}), one number a document and floor")
    region = Floors(oracle, rows, document_array("floors", floors, len(rows)))
    if oracle.size == 0:
        nothing = np.zeros(len(rows))
        return FloorsOptimum.of(empty_row(objective), amounts=nothing, multipliers=nothing)
    check_objective(objective, oracle)
    matrix = matrix_of(objective)
    kept = None if matrix is None else np.vstack([matrix, rows])
    found_policy = minimise(objective, region, tolerance, max_iterations, kept)
    return FloorsOptimum.of(found_policy, amounts=rows @ found_policy.exposure, multipliers=region.multipliers)
