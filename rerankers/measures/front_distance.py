"""Distance to the Pareto front of utility and unfairness (DPFR; Rampisela, Ruotsalo, Maistro & Lioma 2025).

The front is the polyline through the points that no other beats in both, from the fairest to the most useful. DPFR is
the Euclidean distance of a system to the point of the front that lies at a share alpha of its length from the fairest
end: alpha says how much utility weighs against fairness, ½ both alike. Without alpha it is the distance to the nearest
point of the front, which is 0 for every system on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure.checks import LARGEST, check_bounded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def pareto_distance(
    utility: ArrayLike,
    loss: ArrayLike,
    front_utility: ArrayLike,
    front_loss: ArrayLike,
    *,
    alpha: float | None = 0.5,
    scaled: bool = True,
) -> Floats:
    """Return how far systems are from the front, float64 (S,), 0 at best.

    Parameters
    ----------
    utility, loss
        (S,) or numbers: of systems; higher utility and lower loss are better.
    front_utility, front_loss
        (M,), M at least 1: points of the front; those that another one beats are left out.
    alpha
        0 (the fairest end) to 1 (the most useful end); None for the nearest point.
    scaled
        whether both axes are divided by the front's extent in them (1 where that is 0, or below 1e-150), so that the
        distance does not depend on units.

    Raises
    ------
    InputError
        for shapes that do not fit and values that are not finite numbers below 1e150 in size.
    ConfigError
        for an alpha outside 0 to 1.
    """
    if alpha is not None and not 0.0 <= alpha <= 1.0:
        raise ConfigError(f"alpha: found {alpha}; expected a number from 0 to 1, or None for the nearest point")
    points = _points("utility", utility, loss)
    front = front_points(front_utility, front_loss)
    if scaled:
        extent = np.ptp(front, axis=0)
        unit = np.where(extent > 1.0 / LARGEST, extent, 1.0)
        points, front = points / unit, front / unit
    if alpha is None:
        return _nearest(points, front)
    return _length(points - _at(front, alpha))


def front_points(utility: ArrayLike, loss: ArrayLike) -> Floats:
    """Return the points that no other beats, (M, 2), ascending in utility and in loss."""
    points = _points("front", utility, loss)
    order = np.lexsort((points[:, 1], -points[:, 0]))
    points = points[order]
    # From the most useful one on, a point stays when its loss is below all before it.
    before = np.minimum.accumulate(np.concatenate([[np.inf], points[:-1, 1]]))
    kept: Floats = points[points[:, 1] < before][::-1]
    return kept


def _at(front: Floats, alpha: float) -> Floats:
    if len(front) == 1:
        only: Floats = front[0]
        return only
    length = np.concatenate([[0.0], np.cumsum(_length(np.diff(front, axis=0)))])
    return np.array([np.interp(alpha * length[-1], length, front[:, axis]) for axis in (0, 1)])


def _nearest(points: Floats, front: Floats) -> Floats:
    if len(front) == 1:
        return _length(points - front[0])
    start, step = front[:-1], np.diff(front, axis=0)
    long = _length(step)
    toward = step / long[:, np.newaxis]  # of length 1, since the square of a length may be too small for a number
    along = ((points[:, np.newaxis] - start) * toward).sum(axis=2)
    foot = start + np.clip(along, 0.0, long)[:, :, np.newaxis] * toward
    nearest: Floats = _length(points[:, np.newaxis] - foot).min(axis=1)
    return nearest


def _length(steps: Floats) -> Floats:
    """Return the lengths of vectors (…, 2), which neither overflow nor vanish where their squares do."""
    long: Floats = np.hypot(steps[..., 0], steps[..., 1])
    return long


def _points(name: str, utility: ArrayLike, loss: ArrayLike) -> Floats:
    x, y = np.atleast_1d(np.asarray(utility, np.float64)), np.atleast_1d(np.asarray(loss, np.float64))
    if x.ndim != 1 or x.shape != y.shape or not len(x) or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise InputError.one(name, f"shapes {x.shape} and {y.shape}", "a finite utility and loss of every point")
    points = np.stack([x, y], axis=1)
    check_bounded(name, points)
    return points
