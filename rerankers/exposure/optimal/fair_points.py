"""The fair end of the trade-off: a target that no policy reaches, made reachable in either of two ways.

Both keep a target that is reachable. Otherwise they differ, and so do the compromises with utility that start there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.optimal.permutahedron import document_array, padded_weights, project_permutahedron

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def nearest_fair_point(target: ArrayLike, position_weights: ArrayLike) -> NDArray[np.float64]:
    """Return the reachable exposures nearest to the target, the least unfair ones by squared distance.

    Parameters
    ----------
    target
        (n,), finite.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    float64 (n,).

    Raises
    ------
    ValueError
        for numbers that are not finite, weights that increase, or another shape.
    """
    return project_permutahedron(document_array("target", target), position_weights)


def fair_point_on_ray(target: ArrayLike, position_weights: ArrayLike) -> NDArray[np.float64]:
    """Return the last reachable point on the way from equal exposure of all documents to the target.

    This keeps the proportions of the differences between documents and gives up their size (Kletti, Renders &
    Loiseau 2022). The order of documents is the same all along the way, so the point is where the first of the n - 1
    sums of the largest exposures meets the sum of the largest weights.

    Parameters
    ----------
    target
        (n,), finite. Of another total than the weights, it is first moved to theirs by one amount for all documents.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.

    Returns
    -------
    float64 (n,); the moved target itself where it is reachable.

    Raises
    ------
    ValueError
        for numbers that are not finite, weights that increase, or another shape.
    """
    goal = document_array("target", target)
    weight = padded_weights(position_weights, len(goal))
    if len(goal) < 2:
        return weight
    equal = weight.mean()
    away = goal - goal.mean()
    asked = np.cumsum(np.sort(away)[::-1])[:-1]
    room = np.maximum(np.cumsum(weight - equal)[:-1], 0.0)
    some = asked > 0
    with np.errstate(over="ignore"):  # differences too small to matter leave any amount of room
        share = np.min(room[some] / asked[some], initial=1.0)
    point: NDArray[np.float64] = equal + share * away
    return point
