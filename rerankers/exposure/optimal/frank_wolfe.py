r"""Policies that minimise a convex function of exposure, under every browsing model with an exact linear oracle.

Under position-based browsing the exposures of all policies are the permutahedron; under cascades they are a polytope
without a simple description, but a linear function is still minimised over it by a sort (`oracle`). The algorithm of
Frank and Wolfe (1956) needs nothing else, and its gap says how far at most the value lies above the minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure._binding import bound_to_row, check_model
from rerankers.exposure.browsing import Browsing, BrowsingModel, Cascade
from rerankers.exposure.checks import float_array, row_grades, shown, whole_number
from rerankers.exposure.optimal.objective import Objective, evaluate, scale_of
from rerankers.exposure.optimal.oracle import Oracle
from rerankers.exposure.optimal.permutahedron import document_array
from rerankers.exposure.optimal.projected import projected_start
from rerankers.exposure.optimal.regions import AllPolicies, SharePolicies

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.optimal.minimise import Minimum

__all__ = ["Objective", "Optimum", "frank_wolfe", "frank_wolfe_rows"]


class _Policy(NamedTuple):
    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]
    gap: float


class Optimum(_Policy):
    """A policy of one row and how good it is: the tuple (rankings, weights, gap), with more attributes.

    Attributes
    ----------
    rankings
        int64 (m, n), complete rankings, each once.
    weights
        float64 (m,), their probabilities: positive, sum 1.
    gap
        the certificate, at least 0: the value lies at most this much above the minimum over all policies, up to
        rounding.
    exposure
        float64 (n,), of the policy.
    value
        of the objective there.
    iterations
        of the search: calls of the linear oracle, apart from those of the start and the end. Above floors, and for
        shares of exposure, an iteration makes some ten calls.
    converged
        whether the gap came down to the tolerance.
    """

    exposure: NDArray[np.float64]
    value: float
    iterations: int
    converged: bool

    def __new__(cls, rankings: NDArray[np.int64], weights: NDArray[np.float64], gap: float, **attributes: Any) -> Self:
        """Return the tuple with its attributes."""
        self = super().__new__(cls, rankings, weights, gap)
        self.__dict__.update(attributes)
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what rebuilds the value in another process."""
        return tuple(self), dict(self.__dict__)

    @classmethod
    def of(cls, found: Minimum, **more: Any) -> Self:
        """Return the policy of a minimum, with more attributes where the class has them."""
        attributes: dict[str, Any] = found._asdict() | more
        policy = [attributes.pop(name) for name in _Policy._fields]
        return cls(*policy, **attributes)


@np.errstate(under="ignore")
def frank_wolfe(
    objective: Objective,
    browsing: BrowsingModel,
    n: int | None = None,
    grades: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> Optimum:
    """Return the policy that minimises a convex function of the exposures of n documents.

    Parameters
    ----------
    objective
        exposure float64 (n,) -> (value, gradient (n,)), convex and differentiable where finite; it may be infinite
        where documents are not seen. See `Objective` for what else it may offer, and `losses` and `welfare`.
    browsing
        a model with an exact linear oracle; see `Oracle`.
    n
        documents; needed where neither ``grades`` nor a `Cascade` says it.
    grades
        (n,), negative ones count as 0.
    tolerance
        the gap that is enough, in the units of the objective; at least 0.
    max_iterations
        calls of the oracle after which the best mixture so far is returned, with its gap; at least 1.

    Returns
    -------
    `Optimum`, which unpacks into rankings (m, n), weights (m,) and gap. For objectives with a ``matrix`` of G rows
    m is at most G + 1; for others that are strictly convex about n + 1.

    Raises
    ------
    ValueError
        for an unknown or contradictory n, objectives that return something else or are nowhere finite, browsing
        without an exact oracle, and settings out of range.
    """
    return minimum(objective, Oracle(bound(browsing, n, grades)), tolerance, max_iterations)


def frank_wolfe_rows(
    objectives: Sequence[Objective],
    indptr: NDArray[np.int64],
    browsing: Browsing,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> list[Optimum]:
    """Return `frank_wolfe` of each row of a block.

    Parameters
    ----------
    objectives
        one a row, each of the exposures of that row's documents.
    indptr
        int64 (B + 1,), the rows.
    browsing
        bound to them.

    Returns
    -------
    One policy a row; an empty row has a single, empty ranking.

    Raises
    ------
    ValueError
        as `frank_wolfe`, and when there is not one objective a row.
    """
    if len(objectives) != len(indptr) - 1:
        raise InputError.one("objectives", f"{len(objectives)}", f"{len(indptr) - 1}, one a row")
    oracles = [Oracle(browsing, slice(int(low), int(high))) for low, high in pairwise(indptr)]
    return [
        minimum(objective, oracle, tolerance, max_iterations)
        for objective, oracle in zip(objectives, oracles, strict=True)
    ]


def minimum(objective: Objective, oracle: Oracle, tolerance: float, max_iterations: int) -> Optimum:
    """Return `frank_wolfe` under a bound browsing model."""
    from rerankers.exposure.optimal.minimise import minimise

    check_settings(tolerance, max_iterations)
    if oracle.size == 0:
        return Optimum.of(empty_row(objective))
    check_objective(objective, oracle)
    scale = scale_of(objective)
    if scale is not None:
        shares = SharePolicies(oracle, document_array("scale", scale, oracle.size))
        return Optimum.of(minimise(objective, shares, tolerance, max_iterations))
    region = AllPolicies(oracle)
    return Optimum.of(minimise(objective, region, tolerance, max_iterations, start=projected_start(objective, region)))


def bound(browsing: BrowsingModel, n: int | None, grades: ArrayLike | None) -> Browsing:
    """Return a browsing model bound to one row, whose length is the one that is known."""
    check_model(browsing)
    known = {} if grades is None else {"grades": len(row_grades(grades))}
    if isinstance(browsing, Cascade):
        known["continuation"] = len(browsing.continuation)
    if n is not None:
        known["n"] = whole_number("n", n, 0)
    if not known:
        raise InputError.one("n", "None and no grades", "the number of documents")
    if len(set(known.values())) > 1:
        found = ", ".join(f"{size} by {name}" for name, size in known.items())
        raise InputError.one("n", found, "one number of documents")
    return bound_to_row(browsing, next(iter(known.values())), grades)


def check_settings(tolerance: float, max_iterations: int) -> None:
    """Raise `InputError` unless the tolerance is at least 0 and there may be at least one iteration."""
    enough = float_array("tolerance", tolerance)
    if enough.ndim or not enough >= 0:
        raise InputError.one("tolerance", shown(tolerance), "a number, at least 0")
    whole_number("max_iterations", max_iterations, 1)


def check_objective(objective: Objective, oracle: Oracle) -> None:
    """Raise `InputError` where an objective does not suit the documents or returns something else than it should."""
    evaluate(objective, oracle.exposure(np.arange(oracle.size)[None])[0])


def empty_row(objective: Objective) -> Minimum:
    """Return the only policy of a row without documents: a single, empty ranking."""
    from rerankers.exposure.optimal.minimise import Minimum

    nothing = np.empty(0)
    value = evaluate(objective, nothing).value
    return Minimum(np.empty((1, 0), dtype=np.int64), np.ones(1), 0.0, nothing, value, 0, True)
