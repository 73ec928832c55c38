"""Losses of exposure against a target, as objectives: called with exposure (n,), they return value and gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import LARGEST, check_bounded, shown
from rerankers.exposure.optimal.groups import check_documents, group_matrix, parts_matrix, seen_back, seen_through
from rerankers.exposure.optimal.permutahedron import document_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SUM = 1e-9  # by how much shares may miss 1


@dataclass(frozen=True, slots=True, eq=False)
class SquaredLoss:
    """The squared distance of exposure from a target (Diaz et al. 2020), of documents or of groups.

    Attributes
    ----------
    target
        float64 (n,), or (G,) with a matrix, below 1e150 in size; need not be attainable.
    matrix
        float64 (G, n), how much of a document's exposure a group is given; None for the documents themselves.
    """

    target: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", group_matrix(self.matrix))
        size = None if self.matrix is None else len(self.matrix)
        object.__setattr__(self, "target", document_array("target", self.target, size))
        check_bounded("target", self.target)

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return the loss and its gradient (n,)."""
        check_documents(exposure, self.matrix, "target", self.target)
        rest = seen_through(self.matrix, exposure) - self.target
        return float(np.dot(rest, rest)), seen_back(self.matrix, 2.0 * rest)

    def curvature(self, exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative times directions (m, n)."""
        return seen_back(self.matrix, 2.0 * seen_through(self.matrix, directions))


@dataclass(frozen=True, slots=True, eq=False)
class GroupKL:
    r"""The Kullback-Leibler divergence of the groups' shares of exposure from target shares, in nats.

    With x = matrix @ exposure it is sum_g t_g log(t_g / q_g), q = x / sum(x): of the target from the exposure, so
    that a group with a target must be seen and groups without one cost what they take. Where the total differs
    between rankings it is convex in the shares only, in which `frank_wolfe` then works: its gap stays a certificate.

    With a ``total`` it is sum_g t_g log(t_g total / x_g) - t_g + x_g / total, convex in exposure: the divergence of
    amounts (Csiszár 1991), equal to that of shares where all rankings give the groups this total together.

    Attributes
    ----------
    matrix
        float64 (G, n), at least 0: how much of a document's exposure a group is given.
    shares
        float64 (G,), the target t, at least 0, sum 1.
    total
        from 1e-150 to 1e150; None to look at shares alone.
    """

    matrix: NDArray[np.float64]
    shares: NDArray[np.float64]
    total: float | None = None

    def __post_init__(self) -> None:
        matrix = parts_matrix(self.matrix)
        if matrix is None:
            raise InputError.one("matrix", "None", "(G, n) parts, at least 0")
        shares = document_array("shares", self.shares, len(matrix))
        if np.any(shares < 0) or abs(shares.sum() - 1.0) > _SUM:
            raise InputError.one("shares", f"{shares}", "numbers of at least 0 with sum 1")
        if self.total is not None and not 1.0 / LARGEST <= self.total <= LARGEST:
            raise InputError.one("total", shown(self.total), f"a positive number up to {LARGEST:g}, or None")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "shares", shares)

    @property
    def scale(self) -> NDArray[np.float64] | None:
        """float64 (n,), what a document adds to the total; None where the total is given."""
        return self.matrix.sum(axis=0) if self.total is None else None

    def __call__(self, exposure: NDArray[np.float64], /) -> tuple[float, NDArray[np.float64]]:
        """Return the divergence and its gradient (n,)."""
        check_documents(exposure, self.matrix, "matrix", self.shares)
        amount = self.matrix @ exposure
        wanted = self.shares > 0
        if np.any(amount[wanted] <= 0):
            return np.inf, np.zeros(len(exposure))
        total = float(amount.sum()) if self.total is None else self.total
        target, ratio = self.shares[wanted], np.zeros(len(amount))
        ratio[wanted] = target / amount[wanted]
        value = float(np.dot(target, np.log(ratio[wanted] * total))) + amount.sum() / total - target.sum()
        return value, (1.0 / total - ratio) @ self.matrix

    def curvature(self, exposure: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative times directions (m, n)."""
        amount = self.matrix @ exposure
        steps = directions @ self.matrix.T
        wanted = self.shares > 0
        bent = np.zeros(steps.shape)
        bent[:, wanted] = steps[:, wanted] * (self.shares[wanted] / np.square(amount[wanted]))
        if self.total is None:
            bent -= steps.sum(axis=1, keepdims=True) / np.square(amount.sum())
        return bent @ self.matrix
