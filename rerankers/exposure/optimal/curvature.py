"""The second derivative of an objective along directions, its own or measured by differences of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.optimal.objective import curvature_of, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.objective import Objective, Point

FAR = 0.5  # how far along a direction gradients of a quadratic are compared
_NEAR = 0.01  # of the way on which no exposure more than doubles: likewise of other functions
_LEAST = 1e-6  # but at least this part of the direction
_SMOOTH = 0.1  # where refining a difference changes it by no more than this part


def curved(
    objective: Objective, origin: Point, directions: NDArray[np.float64], last: float | None
) -> NDArray[np.float64]:
    """Return the second derivative at a point times directions.

    Parameters
    ----------
    directions
        float64 (m, n), from the point to others of the polytope.
    last
        how far the last step went, as a part of such directions; None where the function is taken to be quadratic.

    Returns
    -------
    float64 (m, n); 0 where the function is infinite next to the point.
    """
    curvature = curvature_of(objective)
    if curvature is not None:
        return np.asarray(curvature(origin.exposure.copy(), directions.copy()), dtype=np.float64)
    out = np.zeros(directions.shape)
    for place, direction in enumerate(directions):
        out[place] = _whole(objective, origin, direction) if last is None else _near(objective, origin, direction, last)
    return out


def _whole(objective: Objective, origin: Point, direction: NDArray[np.float64]) -> NDArray[np.float64]:
    there = evaluate(objective, origin.exposure + FAR * direction)
    if there.value == np.inf:
        return np.zeros(len(direction))
    return (there.gradient - origin.gradient) / FAR


def _near(objective: Objective, origin: Point, direction: NDArray[np.float64], last: float) -> NDArray[np.float64]:
    """Compare gradients about as far apart as the last step went: functions with kinks bend on that scale only."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.min(origin.exposure / np.abs(direction), where=direction != 0, initial=np.inf)
    h = max(min(last, _NEAR * reach), _LEAST)
    near = evaluate(objective, origin.exposure + h * direction)
    far = evaluate(objective, origin.exposure + 2.0 * h * direction)
    if near.value == np.inf or far.value == np.inf:
        return np.zeros(len(direction))
    plain: NDArray[np.float64] = (near.gradient - origin.gradient) / h
    # Twice the first half less the whole: exact for gradients that are quadratic, useless across a kink.
    fine: NDArray[np.float64] = 2.0 * plain - (far.gradient - origin.gradient) / (2.0 * h)
    smooth = np.abs(fine - plain).max() <= _SMOOTH * np.abs(plain).max()
    return fine if smooth else plain
