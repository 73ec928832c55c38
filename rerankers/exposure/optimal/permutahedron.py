r"""The exposures that position-based browsing allows: the permutahedron of the position weights.

A ranking gives document d the weight of its rank, so the expected exposures of all policies are the convex hull of
the permutations of the weights, Perm(v). A point e lies in it when v majorises it: for every k the k largest of e
sum to at most the k largest of v, and all of them to the same (Rado 1952). A linear function is largest at the
permutation that gives the largest weight to the largest coefficient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import check_bounded, float_array, position_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MOST = 1e301  # differences of two numbers below it in size are finite, and sums of very many of them


def project_permutahedron(z: ArrayLike, position_weights: ArrayLike) -> NDArray[np.float64]:
    """Return the point of the permutahedron nearest to ``z``.

    With z and the weights descending, z minus the projection is the nonincreasing isotonic regression of z minus the
    weights (Negrinho & Martins 2014; Lim & Wright 2016), found by pooling adjacent violators: O(n log n).

    Parameters
    ----------
    z
        (n,), finite; need not be nearly feasible.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    float64 (n,), by document.

    Raises
    ------
    ValueError
        for numbers that are not finite, weights that increase, or another shape.
    """
    point = document_array("z", z)
    weight = padded_weights(position_weights, len(point))
    projection: NDArray[np.float64] = pooled(point, np.zeros(len(point)), np.zeros(1), weight)[0][0]
    return projection


def pareto_front(
    relevance: ArrayLike, target: ArrayLike, position_weights: ArrayLike, lambdas: ArrayLike
) -> NDArray[np.float64]:
    """Return the best compromises between closeness to a target and utility under position-based browsing.

    Row i minimises |e - target|^2 - 2 lambda_i relevance . e over the permutahedron: it is the projection of
    target + lambda_i relevance. The path is piecewise linear in lambda and ends, at a finite lambda, at the point
    nearest to the target among those of greatest utility.

    Parameters
    ----------
    relevance
        (n,), what exposure of a document is worth, below 1e301 in size.
    target
        (n,), below 1e301 in size; need not be feasible.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.
    lambdas
        (L,), at least 0, in any order; infinity asks for the end of greatest utility.

    Returns
    -------
    float64 (L, n), exact up to some 1e-15 of the largest weight, whatever the size of lambda.

    Raises
    ------
    ValueError
        for numbers that are not finite or too large, negative lambdas, weights that increase, or shapes that differ.
    """
    worth = document_array("relevance", relevance)
    goal = document_array("target", target, len(worth))
    check_bounded("relevance", worth, _MOST)
    check_bounded("target", goal, _MOST)
    weight = padded_weights(position_weights, len(worth))
    factor = float_array("lambdas", lambdas)
    if factor.ndim != 1 or not np.all(factor >= 0):
        found = f"an array of shape {factor.shape}" if factor.ndim != 1 else f"{factor[~(factor >= 0)][0]}"
        raise InputError.one("lambdas", found, "one number a point, each at least 0")
    end, last = utility_end(worth, goal, weight)
    front = np.empty((len(factor), len(worth)))
    beyond = factor >= last
    front[beyond] = end
    front[~beyond] = pooled(goal, worth, factor[~beyond], weight)[0]
    return front


def duality_gap(exposure: ArrayLike, gradient: ArrayLike, position_weights: ArrayLike) -> float:
    """Return by how much a linear function could still fall from a point of the permutahedron.

    For a convex function with this gradient at ``exposure`` it bounds how far its value lies above the minimum
    (Frank & Wolfe 1956; Jaggi 2013): 0 certifies optimality.

    Parameters
    ----------
    exposure, gradient
        (n,), finite.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    The largest of gradient . (exposure - w) over the vertices w; at least 0, up to rounding, for a feasible exposure.

    Raises
    ------
    ValueError
        for numbers that are not finite, weights that increase, or shapes that differ.
    """
    point = document_array("exposure", exposure)
    slope = document_array("gradient", gradient, len(point))
    weight = padded_weights(position_weights, len(point))
    return linear_gap(point, slope, weight)


def majorisation_excess(exposure: ArrayLike, position_weights: ArrayLike) -> float:
    """Return by how much exposures miss the permutahedron; 0, up to rounding, inside.

    Parameters
    ----------
    exposure
        (n,), finite.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    The largest amount by which the k largest exposures exceed the k first weights in sum, over all k, or by which the
    two totals differ.

    Raises
    ------
    ValueError
        for numbers that are not finite, weights that increase, or another shape.
    """
    point = document_array("exposure", exposure)
    return excess(np.sort(point)[::-1], padded_weights(position_weights, len(point)))


def excess(descending: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return `majorisation_excess` of exposures that are sorted already; both float64 (n,)."""
    surplus = np.cumsum(descending - weight)
    return max(0.0, float(surplus.max()), -float(surplus[-1])) if len(surplus) else 0.0


def linear_gap(point: NDArray[np.float64], slope: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return `duality_gap` of checked arrays, all float64 (n,)."""
    order = np.argsort(slope, kind="stable")
    return float(slope[order] @ (point[order] - weight))


def document_array(name: str, values: ArrayLike, size: int | None = None) -> NDArray[np.float64]:
    """Return finite values of documents as float64 (n,); `InputError` for anything else, or n other than ``size``."""
    array = np.array(float_array(name, values))
    if array.ndim != 1 or (size is not None and len(array) != size):
        expected = "one value a document" if size is None else f"({size},), one value a document"
        raise InputError.one(name, f"an array of shape {array.shape}", expected)
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise InputError.one(name, f"{array[wrong[0]]} at {wrong[0]}", "finite numbers")
    return array


def padded_weights(position_weights: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return checked weights of ranks 0 … size - 1, float64 (size,): 0 beyond the end."""
    given = position_array("position_weights", position_weights)[:size]
    weight = np.zeros(size)
    weight[: len(given)] = given
    return weight


def pooled(
    target: NDArray[np.float64],
    relevance: NDArray[np.float64],
    factor: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the projections of target + factor * relevance and the growth of their utility with the factor.

    Parameters
    ----------
    target, relevance, weight
        float64 (n,).
    factor
        float64 (L,), finite, or a single infinity.

    Returns
    -------
    float64 (L, n), and float64 (L,): the derivative of relevance . projection to the right of each factor or, at
    the breakpoints of the path, to one side of it.
    """
    from rerankers.exposure.optimal.pooling_loops import pool_rows

    if len(factor) and factor[0] == np.inf:
        order = np.lexsort((-target, -relevance))[None]
    else:
        with np.errstate(over="ignore"):  # the loop puts right what rounding leaves equal
            order = np.argsort(-(target + np.multiply.outer(factor, relevance)), axis=1)
    value, rate = np.empty(order.shape), np.empty(len(order))
    pool_rows(order.astype(np.int64, copy=False), target, relevance, factor, weight, value, rate)
    return value, rate


def utility_end(
    relevance: NDArray[np.float64], target: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the point of greatest utility nearest to the target, and the factor from which on it is the projection.

    The point is optimal for a factor when factor * relevance + target - point does not increase along the order by
    relevance; within equal relevance that holds for all factors.
    """
    end = pooled(target, relevance, np.array([np.inf]), weight)[0][0]
    order = np.lexsort((-target, -relevance))
    rest = (target - end)[order]
    drop = relevance[order[:-1]] - relevance[order[1:]]
    with np.errstate(over="ignore"):
        needed = np.diff(rest)[drop > 0] / drop[drop > 0]
    return end, float(needed.max(initial=0.0))
