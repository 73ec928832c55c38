"""Sums of objectives: a loss against utility, or several groupings at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import float_array
from rerankers.exposure.optimal.groups import check_documents
from rerankers.exposure.optimal.objective import Objective, curvature_of, matrix_of, scale_of
from rerankers.exposure.optimal.permutahedron import document_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.objective import Curvature


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A linear function of exposure. It is minimised: utility enters with the opposite sign.

    Attributes
    ----------
    coefficients
        float64 (n,).
    """

    coefficients: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", document_array("coefficients", self.coefficients))

    @property
    def matrix(self) -> NDArray[np.float64]:
        """float64 (1, n), the coefficients."""
        return self.coefficients[None]

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return the value and the gradient (n,)."""
        check_documents(exposure, None, "coefficients", self.coefficients)
        return float(np.dot(self.coefficients, exposure)), self.coefficients

    def curvature(self, exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 0 for every direction (m, n)."""
        return np.zeros(directions.shape)


class Weighted:
    """A sum of objectives with weights of at least 0, itself an objective.

    ``Weighted((loss, 1.0), (Linear(-utility), 0.1))`` is a loss minus a tenth of the utility, and the linear oracle
    stays exact.

    Parameters
    ----------
    parts
        pairs of an objective and its weight, at least one.

    Raises
    ------
    ValueError
        for no parts, negative weights, or an objective of shares beside one of amounts, whose sum is not convex.
    """

    def __init__(self, *parts: tuple[Objective, float]) -> None:
        weights = float_array("parts", [weight for _, weight in parts])
        if not parts or not np.all((weights >= 0) & (weights < np.inf)):
            raise InputError.one("parts", f"weights {weights.tolist()}", "one or more, each at least 0")
        self.parts = parts
        scales = [scale_of(objective) for objective, _ in parts]
        if any(not _same(scale, scales[0]) for scale in scales):
            mend = "Give the divergence of shares a total."
            raise InputError.one("parts", "shares of exposure beside amounts or other shares", "one kind", mend=mend)
        self.scale = scales[0]

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """float64 (G, n), the matrices of the parts below each other; None where one sees all of exposure."""
        matrices = [matrix_of(objective) for objective, weight in self.parts if weight > 0]
        known = [matrix for matrix in matrices if matrix is not None]
        return np.vstack(known) if known and len(known) == len(matrices) else None

    @property
    def curvature(self) -> Curvature | None:
        """The second derivative; None where a part does not offer its own."""
        terms = [(curvature_of(objective), weight) for objective, weight in self.parts if weight > 0]
        known = [(curvature, weight) for curvature, weight in terms if curvature is not None]
        if len(known) < len(terms):
            return None

        def total(exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
            out = np.zeros(directions.shape)
            for curvature, weight in known:
                out += weight * curvature(exposure, directions)
            return out

        return total

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return the value and the gradient (n,)."""
        value, gradient = 0.0, np.zeros(len(exposure))
        for objective, weight in self.parts:
            if weight > 0:
                part, slope = objective(exposure)
                value += weight * part
                gradient += weight * np.asarray(slope, dtype=np.float64)
        return value, gradient


def _same(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))
