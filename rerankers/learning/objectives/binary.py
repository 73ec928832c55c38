r"""Cross-entropy of relevance: scores are log-odds of a grade above 0.

The loss of a query is the sum over its documents of log(1 + e^s) - y s, y = 1 for a grade above 0. With p the logistic
function of s the slope is p - y and the curvature p (1 - p), the exact second derivative; it is held at a twentieth of
the slope (see `curvature`), which matters only where a document is certain to 95 % of the wrong class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers.exposure.rows import row_sums
from rerankers.learning.objectives.base import Loss
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.curvature import held
from rerankers.learning.objectives.scores import check_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True)
class Binary:
    """Cross-entropy of a grade above 0; a query weighs as much as it has documents."""

    scores: ClassVar[str] = "log_odds"
    needs_groups: ClassVar[bool] = False

    def native(self) -> Mapping[str, Any]:
        """Return LightGBM's parameters for it."""
        return {"objective": "binary"}

    def bind(self, rows: LearningRows, seed: int = 0) -> BinaryBound:
        """Return the loss as a function of scores for these rows."""
        return BinaryBound(rows)


class BinaryBound:
    """The cross-entropy of rows; ``counts`` are those of `grade_counts`."""

    def __init__(self, rows: LearningRows) -> None:
        self._rows, self._relevant = rows, (rows.grade > 0).astype(np.float64)
        self.counts = grade_counts(rows)

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,); `InputError` for another shape and scores that are not finite."""
        logit = check_scores(scores, self._rows)
        odds = np.exp(-np.abs(logit))
        likely = 1.0 / (1.0 + odds)  # the chance of the class that the sign says
        chance = np.where(logit >= 0, likely, odds * likely)
        value = np.log1p(odds) + np.where(self._relevant > 0, np.maximum(-logit, 0.0), np.maximum(logit, 0.0))
        other = np.where(logit >= 0, odds * likely, likely)
        slope = np.where(self._relevant > 0, -other, chance)
        return Loss(row_sums(value, self._rows.indptr), slope, held(chance * other, slope))
