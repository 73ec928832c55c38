"""Losses as functions of exposure: what objectives of Plackett-Luce policies are sums of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers.exposure.rows import row_sums
from rerankers.learning.objectives.cells import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Term(Protocol):
    """A function of the exposures (nnz,) of B rows."""

    def value(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its value for each row: float64 (B,)."""
        ...

    def between(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its value from two independent estimates of the exposure, right on average: float64 (B,)."""
        ...

    def pull(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its derivatives by the exposures: float64 (nnz,)."""
        ...

    def squares(self) -> Sequence[tuple[float, Cells]]:
        """Return the weights of the squared distances of cells in it, for the curvature."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """Weight times the squared distance of the cells' exposures from their targets (Diaz et al. 2020).

    Attributes
    ----------
    cells
        documents or groups.
    target
        float64 (cells,).
    weight
        at least 0.
    """

    cells: Cells
    target: NDArray[np.float64]
    weight: float = 1.0

    def value(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted squared distance."""
        return self.between(exposure, exposure)

    def between(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted product of the differences of both: it may be negative."""
        gaps = (self.cells.totals(one) - self.target) * (self.cells.totals(other) - self.target)
        return self.weight * self.cells.by_row(gaps)

    def pull(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return twice the weighted differences, carried back to documents."""
        return self.cells.back(2.0 * self.weight * (self.cells.totals(exposure) - self.target))

    def squares(self) -> Sequence[tuple[float, Cells]]:
        """Return the one that it is."""
        return [(self.weight, self.cells)]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """The sum of exposure times something fixed, for instance minus what a look at a document is worth.

    Attributes
    ----------
    indptr
        int64 (B + 1,).
    factor
        float64 (nnz,).
    """

    indptr: NDArray[np.int64]
    factor: NDArray[np.float64]

    def value(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum."""
        return row_sums(self.factor * exposure, self.indptr)

    def between(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum for the mean of both."""
        return self.value(0.5 * (one + other))

    def pull(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the factors."""
        return self.factor

    def squares(self) -> Sequence[tuple[float, Cells]]:
        """Return none."""
        return []
