"""Given exposures as a mixture of few rankings.

A point of the permutahedron in n dimensions is a mixture of at most n of its vertices (Carathéodory 1911). Walking
from face to face to find one (Grötschel, Lovász & Schrijver 1981; for exposure Kletti, Renders & Loiseau 2022)
divides by what is left and has to decide which faces a rounded point lies on. Here the mixture comes from the
transfers of `transpositions` instead: a transfer swaps two places in some of the rankings found so far, and splits
one of them. Nothing is divided by a small remainder, and no face is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.exposure.optimal.permutahedron import document_array, padded_weights
from rerankers.exposure.optimal.transpositions import check_reachable, find_swaps, level_with, settled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class FiniteMixture(NamedTuple):
    """A mixture of rankings.

    Attributes
    ----------
    rankings
        int64 (m, n), m at most n: 0-based documents, best first.
    weights
        float64 (m,), their probabilities: their sum is 1 up to rounding.
    residual
        the largest difference between the exposure of the mixture and what was asked for.
    """

    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]
    residual: float


def decompose(exposure: ArrayLike, position_weights: ArrayLike, row: int | None = None) -> FiniteMixture:
    """Return a mixture of at most n rankings with the given exposures: O(n^2).

    The exposures agree under these position weights only; `transpositions` describes a smoother policy with the same.

    Parameters
    ----------
    exposure
        (n,), in the permutahedron of the weights up to 1e-9 of their sum.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.
    row
        number to call the exposures by in errors.

    Returns
    -------
    FiniteMixture
        The residual is some 1e-15 of the largest weight at n = 100 and 1e-14 at n = 1000, whatever the weights, and
        what the given exposures miss the permutahedron by.

    Raises
    ------
    ValueError
        for exposures outside the permutahedron, numbers that are not finite, weights that increase, or another shape.
    """
    point = document_array("exposure", exposure)
    weight = padded_weights(position_weights, len(point))
    order = np.argsort(-point, kind="stable")
    check_reachable(point[order], weight, row)
    rank, share = split(level_with(point[order], weight), weight)
    missed = np.abs(share @ weight[rank] - point[order]).max(initial=0.0)
    rankings = np.empty(rank.shape, dtype=np.int64)
    np.put_along_axis(rankings, rank.astype(np.int64), np.broadcast_to(order, rank.shape), axis=1)
    return FiniteMixture(rankings, share, float(missed))


def split(goal: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the rank of each place in each ranking, int32 (m, n), and the probabilities (m,); the goal descends."""
    from rerankers.exposure.optimal.transposition_loops import split_swaps

    swaps, _ = find_swaps(goal, weight)
    rank = np.empty((len(swaps) + 1, len(goal)), dtype=np.int32)
    rank[0] = np.arange(len(goal))
    share = np.zeros(len(swaps) + 1)
    share[0] = 1.0
    count = split_swaps(goal, weight, swaps, settled(swaps, len(goal))[:, 0].copy(), rank, share)
    return rank[:count], share[:count]
