r"""The policy of given exposures whose rankings vary least, in the exposure of the documents that count.

Under position-based browsing the variance of a document depends on the probabilities P of its ranks alone, and every
doubly stochastic matrix of them is a policy (Birkhoff 1946): the least of \sum_d w_d Var(X_d) = \sum_{d, r} w_d P_{dr}
v_r^2 - \sum_d w_d e_d^2 with \sum_r P_{dr} v_r = e_d is a linear program. With equal worths w every policy of complete
rankings has the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.exposure.optimal.permutahedron import document_array, padded_weights
from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.values import Ragged

_FEASIBLE = 1e-10  # of the linear program
_LEFT = 1e-9  # probability that is left undecomposed at most


def least_variance(exposure: ArrayLike, position: ArrayLike, worth: ArrayLike) -> float:
    """Return the least variance of exposure, added up over documents by their worth, among policies of one exposure.

    Parameters
    ----------
    exposure
        (n,), in the permutahedron of the weights; n^2 numbers are looked for, so a few hundred documents at most.
    position
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.
    worth
        (n,), at least 0.

    Returns
    -------
    float, to about 1e-9.

    Raises
    ------
    InfeasibleError
        for exposures that no policy has.
    ValueError
        for arrays of another form, and negative worths.
    """
    return _solved(exposure, position, worth)[0]


def least_variance_policy(
    over: Ragged, exposure: ArrayLike, position: ArrayLike, stream: NDArray[np.uint64], worth: ArrayLike
) -> tuple[Mixture, float]:
    """Return the policy that has it, a mixture of at most some 3 n rankings, and by how much its exposures miss.

    Parameters
    ----------
    over
        one row of n documents.
    exposure, position, worth
        as for `least_variance`.
    stream
        uint64 (1, 2), the digest of the query.

    Raises
    ------
    InfeasibleError, ValueError
        as for `least_variance`, and for more or less than one row, or another number of documents.
    """
    if len(over) != 1:
        raise InputError.one("over", f"{len(over)} rows", "one row")
    goal = document_array("exposure", exposure, over.nnz)
    weights = padded_weights(position, over.nnz)
    orders, share = _rankings(_solved(goal, position, worth)[1])
    base = Rankings.of_matrix(over, [orders])
    rankings = Rankings(over, base.query_ptr, base.item_ptr, base.item, share, base.label)
    found = np.zeros(over.nnz)
    np.add.at(found, orders.ravel(), np.multiply.outer(share, weights).ravel())
    return Mixture(rankings, stream), float(np.abs(found - goal).max(initial=0.0))


def _solved(exposure: ArrayLike, position: ArrayLike, worth: ArrayLike) -> tuple[float, NDArray[np.float64]]:
    """Return the least variance, and the probabilities of ranks of a policy that has it: float64 (n, n)."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    goal = document_array("exposure", exposure)
    size = len(goal)
    weights, counted = padded_weights(position, size), document_array("worth", worth, size)
    if np.any(counted < 0):
        raise InputError.one("worth", f"{counted.min()}", "numbers of at least 0")
    if not size:
        return 0.0, np.empty((0, 0))
    ones, each = np.ones((1, size)), eye_array(size)
    rows = vstack([kron(each, ones), kron(ones, each), kron(each, weights[None])])
    found = linprog(
        np.outer(counted, np.square(weights)).ravel(),
        A_eq=rows,
        b_eq=np.concatenate([np.ones(2 * size), goal]),
        bounds=(0, 1),
        method="highs-ds",
        options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
    )
    if not found.success:
        raise InfeasibleError(f"exposure: found none that a policy has ({found.message}); expected an attainable one")
    least = float(found.fun) - float(np.dot(counted, np.square(goal)))
    return max(least, 0.0), np.asarray(found.x, dtype=np.float64).reshape(size, size)


def _rankings(chance: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Write a doubly stochastic matrix as rankings int64 (m, n) with probabilities float64 (m,).

    One ranking after the other is taken off, of documents and ranks that are still possible, with the largest
    probability that leaves nothing negative: each takes at least one number to 0.
    """
    from scipy.optimize import linear_sum_assignment

    rest, size = np.maximum(chance, 0.0), len(chance)
    orders: list[NDArray[np.int64]] = []
    share: list[float] = []
    while size and rest.sum() > _LEFT * size:
        docs, ranks = linear_sum_assignment(rest > _LEFT / size, maximize=True)
        amount = float(rest[docs, ranks].min())
        if amount <= 0.0:  # what is left is no more than rounding
            break
        rest[docs, ranks] -= amount
        orders.append(docs[np.argsort(ranks)].astype(np.int64))
        share.append(amount)
    if not orders:
        return np.zeros((1, size), dtype=np.int64), np.ones(1)
    weight = np.array(share)
    return np.stack(orders), weight / weight.sum()
