"""The best mixture of the points at hand: steps to the minimum of the quadratic function that fits at the mixture.

For a quadratic objective one step is exact, and the whole algorithm that of Wolfe (1976) for the nearest point of a
polytope, with all earlier points at hand. For other convex functions the second derivative is taken anew at each
step and the length of the step is searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.optimal.curvature import FAR, curved
from rerankers.exposure.optimal.line_search import descend
from rerankers.exposure.optimal.objective import evaluate
from rerankers.exposure.optimal.quadratic import Quadratic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.atoms import Atoms
    from rerankers.exposure.optimal.objective import Objective, Point

_STEPS = 4  # before the oracle is asked again
_RIDGE = 1e-13  # what part of a second derivative is noise, at least
_TINY = np.finfo(np.float64).tiny
_UNEVEN = 1e-6  # a constant second derivative is symmetric up to this part
_OFF = 1e-4  # a slope that misses the one foretold by this part shows that a function is not quadratic
_NOISE = 1e-13  # what rounding may add to a slope


class Model:
    """Steps by the second derivative over the weights of the points at hand.

    It is taken to be constant, which costs one measurement for each new point, until a step shows otherwise.
    """

    def __init__(self, objective: Objective, origin: Point) -> None:
        self._objective = objective
        self._origin = origin
        self._products = np.empty((0, len(origin.exposure)))
        self._quadratic = Quadratic(np.empty((0, 0)), _RIDGE)
        self._constant = True
        self._last = FAR

    def improve(self, atoms: Atoms, point: Point, tolerance: float) -> bool:
        """Take a step, or a few where they are cut short; return whether they changed anything.

        Parameters
        ----------
        tolerance
            how far from optimal the mixture may be left, as a difference of slopes.
        """
        moved = False
        for _ in range(_STEPS):
            length = self._improve_once(atoms, point, tolerance)
            moved = moved or length > 0
            if length in (0.0, 1.0):
                break
            point = evaluate(self._objective, atoms.mean(atoms.weight))
        return moved

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out points (p,)."""
        if self._constant:
            self._products = self._products[kept]
            self._quadratic.keep(kept)

    def _improve_once(self, atoms: Atoms, point: Point, tolerance: float) -> float:
        slope = (atoms.exposure - point.exposure) @ point.gradient
        if self._constant and self._learn(atoms):
            target, curvature = self._target(self._quadratic, atoms.weight, slope, tolerance)
        else:
            # Points that neither have weight nor lie lower than the mixture would change nothing at first.
            place = np.flatnonzero((atoms.weight > 0) | (slope < 0))
            offset = atoms.exposure[place] - point.exposure
            square = offset @ curved(self._objective, point, offset, self._last).T
            uneven = np.abs(square - square.T).max() / max(np.abs(square).max(), _TINY)
            model = Quadratic((square + square.T) / 2.0, max(_RIDGE, uneven))
            target = np.zeros(len(atoms))
            target[place], curvature = self._target(model, atoms.weight[place], slope[place], tolerance)
        return self._step(atoms, point, target, curvature)

    def _target(
        self, model: Quadratic, weight: NDArray[np.float64], slope: NDArray[np.float64], tolerance: float
    ) -> tuple[NDArray[np.float64], float]:
        target = model.minimum(slope, weight, tolerance)
        step = target - weight
        return target, float(step @ model.square @ step)

    def _step(self, atoms: Atoms, point: Point, target: NDArray[np.float64], curvature: float) -> float:
        start = atoms.weight
        # Relative to the mixture: rounded weights that do not sum to 1 would swallow very short steps.
        along = (target - start) @ (atoms.exposure - point.exposure)
        slope = float(np.dot(point.gradient, along))
        if not slope < 0:
            return 0.0

        def at(length: float) -> Point:
            return evaluate(self._objective, atoms.mean(start + length * (target - start)))

        length, after = descend(at, along, point, 1.0, 1.0)
        found = float(np.dot(after.gradient, along))
        noise = _NOISE * float(np.dot(np.abs(after.gradient) + np.abs(point.gradient), np.abs(along)))
        if abs(found - slope - length * curvature) > _OFF * abs(slope) + noise:
            self._constant = False
        self._last = length * float(np.abs(target - start).max())
        atoms.weight = target if length == 1.0 else start + length * (target - start)
        return length

    def _learn(self, atoms: Atoms) -> bool:
        """Measure the points that came since the last step; return whether the second derivative may be constant."""
        known = len(self._products)
        offset = atoms.exposure - self._origin.exposure
        self._products = np.concatenate([self._products, curved(self._objective, self._origin, offset[known:], None)])
        for place in range(known, len(atoms)):
            row, column = offset[: place + 1] @ self._products[place], self._products[: place + 1] @ offset[place]
            if np.abs(row - column).max() > _UNEVEN * np.abs(row).max():
                self._constant = False
                break
            self._quadratic.append((row + column) / 2.0)
        return self._constant
