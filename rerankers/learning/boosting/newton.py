"""Slopes and curvatures of our objectives in the form LightGBM takes them: 32-bit numbers of a fitting size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.objectives.base import Bound, Loss
    from rerankers.learning.rows import LearningRows

_FARTHEST = 1000  # powers of two between curvatures and 1 that are bridged


class Newton:
    """One objective on the training rows, at the scores that it was last moved to.

    The value of a leaf is -(sum of slopes) / (sum of curvatures + l2): a common factor of both changes nothing but
    the meaning of ``min_curvature``, ``min_gain``, ``l1`` and ``l2``. So both are multiplied by the power of two that
    brings the mean curvature at the first iteration next to 1, and keep that factor for the whole fit. Curvatures of
    an exposure loss are of the order of 1 / documents squared; without the factor no leaf of a long list would reach
    LightGBM's usual least sum, and small slopes would leave the range of 32-bit numbers.

    Parameters
    ----------
    bound
        the objective.
    rows
        that it is bound to.
    fraction, seed
        share of the queries that each tree sees, at least one, and the key of the draws.
    exponent
        of the factor, known from a checkpoint; None takes it from the first loss.
    """

    def __init__(
        self, bound: Bound, rows: LearningRows, fraction: float = 1.0, seed: int = 0, exponent: int | None = None
    ) -> None:
        self.bound, self.rows, self.exponent = bound, rows, exponent
        self.fraction, self.seed = fraction, seed
        self.slope, self.curvature = np.empty(0, np.float32), np.empty(0, np.float32)

    def move(self, scores: NDArray[np.float64], iteration: int) -> float:
        """Go to the scores after so many iterations and return the mean loss over queries.

        Raises
        ------
        InputError
            with the iteration and the query, for losses, slopes and curvatures that are not finite, curvatures below
            0 or all 0, and slopes of another number.
        """
        loss = checked(self.bound(scores, iteration), self.rows, iteration)
        if self.exponent is None:
            self.exponent = _exponent(loss)
        with np.errstate(over="ignore", under="ignore"):  # what lies beyond is looked for below; 0 is near enough to 0
            self.slope = np.ldexp(loss.slope, self.exponent).astype(np.float32)
            self.curvature = np.ldexp(loss.curvature, self.exponent).astype(np.float32)
        if not (np.all(np.isfinite(self.slope)) and np.all(np.isfinite(self.curvature))):
            found = f"slopes or curvatures beyond the range of 32-bit numbers after iteration {iteration}"
            raise InputError.one("objective", found, "numbers that stay below 1e38 times the first mean curvature")
        if self.fraction < 1:
            left_out = ~self._drawn(iteration)[self.rows.over.row_index]
            self.slope[left_out] = 0.0
            self.curvature[left_out] = 0.0
        return float(loss.value.mean())

    def _drawn(self, iteration: int) -> NDArray[np.bool_]:
        """Return which queries the next tree sees, bool (B,): always equally many, by the number of the iteration."""
        size = len(self.rows)
        chosen = np.zeros(size, dtype=np.bool_)
        order = generator(self.seed, "boosting_queries", iteration).permutation(size)
        chosen[order[: max(1, round(self.fraction * size))]] = True
        return chosen

    def pair(self, *_: object) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return slopes and curvatures, float32 (nnz,), as LightGBM asks for them."""
        return self.slope, self.curvature


def checked(loss: Loss, rows: LearningRows, iteration: int) -> Loss:
    """Return a loss that is fit for a Newton step.

    Raises
    ------
    InputError
        see `Newton.move`.
    """
    when = f"after iteration {iteration}" if iteration else "at the start"
    for name, values, size in (
        ("loss", loss.value, len(rows)),
        ("slope", loss.slope, rows.over.nnz),
        ("curvature", loss.curvature, rows.over.nnz),
    ):
        if values.shape != (size,):
            raise InputError.one("objective", f"{name} of shape {values.shape} {when}", f"shape ({size},)")
        wrong = ~np.isfinite(values)
        if name == "curvature":
            wrong |= values < 0
        if np.any(wrong):
            place = int(np.argmax(wrong))
            row = place if name == "loss" else int(rows.over.row_index[place])
            expected = "numbers of at least 0" if name == "curvature" else "finite numbers"
            raise InputError.one("objective", f"{name} {values[place]} of query {rows.qids[row]} {when}", expected)
    if not np.any(loss.curvature) and np.any(loss.slope):
        raise InputError.one("objective", f"slopes but no curvature {when}", "a curvature above 0 with every slope")
    return loss


def mean_loss(bound: Bound, scores: NDArray[np.float64], rows: LearningRows, iteration: int) -> float:
    """Return the mean loss over queries for the curve; an estimated objective draws the same every time.

    Raises
    ------
    InputError
        with the iteration and the query, for a loss that is not finite.
    """
    value = bound(scores).value
    if not np.all(np.isfinite(value)):
        row = int(np.argmax(~np.isfinite(value)))
        found = f"loss {value[row]} of query {rows.qids[row]} after iteration {iteration}"
        raise InputError.one("objective", found, "finite numbers")
    return float(value.mean())


def _exponent(loss: Loss) -> int:
    """Return the exponent of the power of two that brings the mean curvature to between .5 and 1; 0 without any."""
    exponent = math.frexp(float(loss.curvature.mean()))[1]
    return max(-_FARTHEST, min(_FARTHEST, -exponent))
