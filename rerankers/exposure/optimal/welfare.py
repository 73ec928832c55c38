"""Welfare of documents or groups as objectives: called with exposure (n,), they return minus welfare and gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import shown
from rerankers.exposure.optimal.groups import check_documents, parts_matrix, seen_back, seen_through
from rerankers.exposure.optimal.permutahedron import document_array, project_permutahedron

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POOLED = 1e-12  # of the sum of the weights: sums that differ less are equal


@dataclass(frozen=True, slots=True, eq=False)
class NashWelfare:
    r"""Minus the Nash welfare of one query, -sum_d w_d log(x_d + floor) (Saito & Joachims 2022).

    There the weight is a power of the merit and x the impact of a document, over all queries; a factor of x adds a
    constant only.

    Attributes
    ----------
    weights
        float64 (n,), or (G,) with a matrix; at least 0. Exposure of weight 0 does not count.
    matrix
        float64 (G, n), at least 0, how much of a document's exposure a group is given; None for the documents
        themselves.
    floor
        at least 0, what everybody has without being seen.
    """

    weights: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        matrix = parts_matrix(self.matrix)
        weights = document_array("weights", self.weights, None if matrix is None else len(matrix))
        if np.any(weights < 0):
            raise InputError.one("weights", f"{weights.min()}", "numbers of at least 0")
        if not 0 <= self.floor < np.inf:
            raise InputError.one("floor", shown(self.floor), "a number of at least 0")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "weights", weights)

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return minus the welfare and its gradient (n,); infinity where one that counts has nothing."""
        check_documents(exposure, self.matrix, "weights", self.weights)
        amount = seen_through(self.matrix, exposure) + self.floor
        counts = self.weights > 0
        if np.any(amount[counts] <= 0):
            return np.inf, np.zeros(len(exposure))
        slope = np.zeros(len(amount))
        slope[counts] = -self.weights[counts] / amount[counts]
        value = -float(np.dot(self.weights[counts], np.log(amount[counts])))
        return value, seen_back(self.matrix, slope)

    def curvature(self, exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative times directions (m, n)."""
        amount = seen_through(self.matrix, exposure) + self.floor
        counts = self.weights > 0
        bent = np.zeros(len(amount))
        bent[counts] = self.weights[counts] / np.square(amount[counts])
        return seen_back(self.matrix, bent * seen_through(self.matrix, directions))


@dataclass(frozen=True, slots=True, eq=False)
class GeneralisedGini:
    r"""Minus a generalised Gini welfare, -sum_i w_i x_(i) with x_(1) <= x_(2) <= …, smoothed (Do & Usunier 2022).

    The greatest weight goes to the worst off, so that -welfare(x) is the maximum of p . x over the permutations p of
    -w. Its Moreau envelope with parameter b is the maximum of p . x - b |p|^2 / 2 over their convex hull, whose
    gradient is the projection of x / b. It lies below the unsmoothed function, by `error` at most: the minimum of
    one is a minimum of the other up to that and the gap.

    Attributes
    ----------
    weights
        float64 (n,), or (G,) with a matrix; at least 0 and not increasing.
    matrix
        float64 (G, n), at least 0, how much of a document's exposure a group is given; None for the documents
        themselves.
    smoothing
        the parameter b, positive.
    """

    weights: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None
    smoothing: float = 1e-3

    def __post_init__(self) -> None:
        matrix = parts_matrix(self.matrix)
        weights = document_array("weights", self.weights, None if matrix is None else len(matrix))
        if not len(weights) or np.any(weights < 0) or np.any(np.diff(weights) > 0):
            raise InputError.one("weights", f"{weights}", "numbers of at least 0 that do not increase")
        if not 0 < self.smoothing < np.inf:
            raise InputError.one("smoothing", shown(self.smoothing), "a positive number")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "weights", weights)

    @property
    def error(self) -> float:
        """By how much smoothing lowers the function at most: smoothing / 2 times the sum of squared weights."""
        return self.smoothing / 2.0 * float(np.dot(self.weights, self.weights))

    def welfare(self, exposure: NDArray[np.float64]) -> float:
        """Return the welfare itself, not smoothed."""
        return float(np.dot(self.weights, np.sort(seen_through(self.matrix, exposure))))

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return minus the smoothed welfare and its gradient (n,)."""
        check_documents(exposure, self.matrix, "weights", self.weights)
        amount = seen_through(self.matrix, exposure)
        slope = -project_permutahedron(-amount / self.smoothing, self.weights)
        value = float(np.dot(slope, amount)) - self.smoothing / 2.0 * float(np.dot(slope, slope))
        return value, seen_back(self.matrix, slope)

    def curvature(self, exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative, or a generalised one where there is none, times directions (m, n).

        A projection that pools documents moves with them, apart from their mean; one that does not stays.
        """
        amount = seen_through(self.matrix, exposure)
        order = np.argsort(amount, kind="stable")
        weight = project_permutahedron(-amount / self.smoothing, self.weights)[order]
        surplus = np.cumsum(weight - self.weights)
        closed = np.abs(surplus) <= _POOLED * self.weights.sum()
        start = np.flatnonzero(np.append(True, closed[:-1]))
        size = np.diff(np.append(start, len(order)))
        steps = seen_through(self.matrix, directions)
        sorted_steps = steps[:, order]
        mean = np.add.reduceat(sorted_steps, start, axis=1) / size
        bent = np.empty(steps.shape)
        bent[:, order] = (sorted_steps - np.repeat(mean, size, axis=1)) / self.smoothing
        return seen_back(self.matrix, bent)
