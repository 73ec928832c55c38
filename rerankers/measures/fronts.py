"""Curves of loss against utility, from points: the loss at a utility, the area above a front, losses row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.exposure.checks import float_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def loss_at_utility(utility: ArrayLike, loss: ArrayLike, wanted: ArrayLike) -> Floats:
    """Return the least loss of at least a utility on a curve through points, mixing neighbours.

    Parameters
    ----------
    utility, loss
        (W,), the points in any order.
    wanted
        the utilities asked for.

    Returns
    -------
    float64, one a utility: the loss falls nowhere, since a point of more utility has enough.

    Raises
    ------
    InfeasibleError
        for a utility above that of every point.
    InputError
        for points that are not finite or not as many of both.
    """
    knots, least = _knots(utility, loss)
    asked = np.atleast_1d(np.asarray(wanted, dtype=np.float64))
    if np.any(asked > knots[-1]):
        raise InfeasibleError(f"utility: found {asked.max():.6g}; the greatest of the curve is {knots[-1]:.6g}")
    between = np.interp(asked, knots, least)
    after = np.minimum.accumulate(least[::-1])[::-1]  # the least loss from a point on
    place = np.searchsorted(knots, asked, side="left")
    found: Floats = np.minimum(between, after[place])
    return found


def area_between(
    utility: ArrayLike, loss: ArrayLike, front_utility: ArrayLike, front_loss: ArrayLike, low: float, high: float
) -> float:
    """Return the mean amount by which a curve lies above a front, over utilities from ``low`` to ``high``.

    Both are read by `loss_at_utility`; between the knots of either the difference is linear, or taken so.

    Raises
    ------
    InfeasibleError
        where one of them does not reach ``high``.
    InputError
        for an empty range, or points as in `loss_at_utility`.
    """
    if not low < high:
        raise InputError.one("low", f"{low:.6g} with high={high:.6g}", "a range of positive length")
    own, _ = _knots(utility, loss)
    other, _ = _knots(front_utility, front_loss)
    grid = np.unique(np.concatenate([[low, high], own, other]))
    grid = grid[(grid >= low) & (grid <= high)]
    above = loss_at_utility(utility, loss, grid) - loss_at_utility(front_utility, front_loss, grid)
    return float(np.trapezoid(above, grid) / (high - low))


def matched_loss(utility: ArrayLike, loss: ArrayLike, wanted: float) -> Floats:
    """Return the losses of rows where the mean utility of a curve is a given one, to compare methods row by row.

    Parameters
    ----------
    utility, loss
        (W, B), points by row, such as those of `rerankers.methods.fronts.Front`.
    wanted
        the mean utility at which two neighbouring points, by mean utility, are mixed.

    Returns
    -------
    float64 (B,), an upper bound on the losses of the mixed policy, since loss is convex.

    Raises
    ------
    InfeasibleError
        for a mean utility outside of the curve.
    """
    worth, value = float_array("utility", utility), float_array("loss", loss)
    mean = worth.mean(axis=1)
    order = np.argsort(mean, kind="stable")
    place = int(np.searchsorted(mean[order], wanted))
    if place == len(order) or wanted < mean[order[0]]:
        raise InfeasibleError(f"utility: found {wanted:.6g}; the curve has {mean.min():.6g} to {mean.max():.6g}")
    first, second = order[max(place - 1, 0)], order[place]
    width = mean[second] - mean[first]
    share = 1.0 if width <= 0 else (wanted - mean[first]) / width
    mixed: Floats = (1.0 - share) * value[first] + share * value[second]
    return mixed


def _knots(utility: ArrayLike, loss: ArrayLike) -> tuple[Floats, Floats]:
    """Return points by utility, the lowest loss where several have one utility."""
    worth, value = float_array("utility", utility), float_array("loss", loss)
    if worth.ndim != 1 or worth.shape != value.shape or not len(worth):
        raise InputError.one("utility", f"shapes {worth.shape} and {value.shape}", "(W,) of both, at least one point")
    if not (np.all(np.isfinite(worth)) and np.all(np.isfinite(value))):
        raise InputError.one("utility", "points that are not finite", "finite numbers")
    order = np.lexsort((value, worth))
    first = np.append(True, np.diff(worth[order]) > 0)
    return worth[order][first], value[order][first]
