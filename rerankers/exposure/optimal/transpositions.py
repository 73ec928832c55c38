"""Random transpositions that realise given exposures: a policy without a decomposition into rankings.

Every point of the permutahedron comes from the position weights by at most n - 1 transfers between two places (Hardy,
Littlewood & Pólya 1929; Muirhead 1903). In expectation, such a transfer is what swapping the documents at the two
places with some probability does, independently of all other swaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.optimal.permutahedron import document_array, excess, padded_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEASIBLE = 1e-9  # of the sum of the weights: by how much exposures may leave the permutahedron
_TINY = float(np.finfo(np.float64).tiny)  # below it nothing is exact
_ROUNDING = 2.0 * float(np.finfo(np.float64).eps)  # of the largest weight: a difference that is none


class Swaps(NamedTuple):
    """A random ranking as a start and independent random transpositions.

    Place i starts with document ``order[i]`` at rank i. Then, one swap after the other, the documents of two places
    exchange their ranks with some probability. Each swap is the last one of at least one of its places.

    Attributes
    ----------
    order
        int32 (n,), the document of each place.
    swaps
        int32 (m, 2), two places each; m is at most n - 1.
    chance
        float64 (m,), probabilities.
    """

    order: NDArray[np.int32]
    swaps: NDArray[np.int32]
    chance: NDArray[np.float64]


def transpositions(exposure: ArrayLike, position_weights: ArrayLike) -> Swaps:
    """Return random transpositions whose expected exposures are the given ones: O(n log n).

    Parameters
    ----------
    exposure
        (n,), in the permutahedron of the weights up to 1e-9 of their sum.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    Swaps
        The expected exposures differ from the given ones by some 1e-14 of the largest weight at n = 1000, and by
        what the given ones miss the permutahedron.

    Raises
    ------
    ValueError
        for exposures outside the permutahedron, numbers that are not finite, weights that increase, or another shape.
    """
    point = document_array("exposure", exposure)
    weight = padded_weights(position_weights, len(point))
    order = np.argsort(-point, kind="stable").astype(np.int32)
    check_reachable(point[order], weight)
    return Swaps(order, *find_swaps(level_with(point[order], weight), weight))


def find_swaps(goal: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return swaps (m, 2) and their probabilities (m,) for exposures that descend; both arguments float64 (n,)."""
    from rerankers.exposure.optimal import transposition_loops as loops

    swaps, chance = np.empty((len(goal), 2), np.int32), np.empty(len(goal))
    rounding = _ROUNDING * float(weight.max(initial=0.0))
    count = loops.find_swaps(goal, weight, rounding, swaps, chance)
    return swaps[:count].copy(), chance[:count].copy()


def check_reachable(descending: NDArray[np.float64], weight: NDArray[np.float64], row: int | None = None) -> None:
    """Raise `InputError` unless exposures that descend, float64 (n,), lie in the permutahedron of the weights."""
    beyond = excess(descending, weight)
    if beyond > max(FEASIBLE * float(weight.sum()), _TINY):
        where = "" if row is None else f" in row {row}"
        raise InputError.one(
            "exposure",
            f"exposures{where} that exceed what rankings can give by {beyond:.6g}",
            "for every k, the k largest of at most the k first weights in sum, and all of the same sum",
            mend="Project them onto the permutahedron first.",
        )


def level_with(goal: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exposures (n,) moved to the total of the weights, which rounding misses, by one amount for all."""
    return goal + np.sum(weight - goal) / max(len(goal), 1)


def settled(swaps: NDArray[np.int32], size: int) -> NDArray[np.bool_]:
    """Return which of the two places of each swap has its last one there: bool (m, 2)."""
    number = np.arange(len(swaps))
    last = np.full(size, -1)
    np.maximum.at(last, swaps, number[:, None])
    lasting: NDArray[np.bool_] = last[swaps] == number[:, None]
    return lasting
