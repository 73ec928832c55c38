"""What is minimised over policies: a convex function of exposure, evaluated with care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import float_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Curvature = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


class Objective(Protocol):
    """A convex function of the exposure float64 (n,) of a row, differentiable where it is finite.

    It returns its value, infinity outside of its domain, and its gradient (n,). Three attributes are made use of
    where they exist. ``curvature(exposure, directions)`` applies the second derivative to directions (m, n); without
    it, it is measured by differences of gradients. ``matrix`` (G, n) says that only ``matrix @ exposure`` matters, so
    that few rankings suffice. ``scale`` (n,) says that only ``exposure / (scale . exposure)`` matters, in which the
    function is convex.
    """

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, ArrayLike]:
        """Return the value and the gradient (n,)."""
        ...


class Point(NamedTuple):
    """An exposure (n,) with the value and the gradient (n,) there; the gradient is 0 where the value is infinite."""

    exposure: NDArray[np.float64]
    value: float
    gradient: NDArray[np.float64]


def evaluate(objective: Objective, exposure: NDArray[np.float64]) -> Point:
    """Evaluate an objective.

    Raises
    ------
    ValueError
        for anything but a value and a gradient, a value that is not one number or minus infinity, or a gradient of
        another shape or with not-a-number.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # the logarithm of 0
        answer: object = objective(exposure.copy())  # which it may write to
    if not isinstance(answer, Sequence) or len(answer) != 2:
        raise InputError.one("objective", f"a {type(answer).__name__}", "the pair of a value and a gradient")
    amount, gradient = float_array("objective", answer[0]), np.array(float_array("objective", answer[1]))
    if amount.ndim:
        raise InputError.one("objective", f"a value of shape {amount.shape}", "one number")
    value = float(amount)
    if not value > -np.inf:
        raise InputError.one("objective", f"the value {value}", "finite values, or infinity outside of the domain")
    if gradient.shape != exposure.shape:
        expected = f"{exposure.shape}, one number a document"
        raise InputError.one("objective", f"a gradient of shape {gradient.shape}", expected)
    if value < np.inf and np.any(np.isnan(gradient)):
        found = f"not-a-number in the gradient at {int(np.argmax(np.isnan(gradient)))}"
        raise InputError.one("objective", found, "numbers where the value is finite")
    if value == np.inf or not np.all(np.isfinite(gradient)):
        return Point(exposure, np.inf, np.zeros(len(exposure)))
    return Point(exposure, value, gradient)


def curvature_of(objective: object) -> Curvature | None:
    """Return the second derivative of an objective, or None where it does not offer one."""
    curvature: Curvature | None = getattr(objective, "curvature", None)
    return curvature


def matrix_of(objective: object) -> NDArray[np.float64] | None:
    """Return the matrix through which alone an objective sees exposure, or None where it sees all of it."""
    matrix: NDArray[np.float64] | None = getattr(objective, "matrix", None)
    return matrix


def scale_of(objective: object) -> NDArray[np.float64] | None:
    """Return the weights of the total by which an objective divides exposure, or None where it does not."""
    scale: NDArray[np.float64] | None = getattr(objective, "scale", None)
    return scale
