r"""ListNet (Cao et al. 2007): cross-entropy of the chances to be ranked first, by grades and by scores.

The loss of a query is -\sum_d P_d log p_d, P the softmax of the grades and p that of the scores. Documents of equal
grades have equal P; where all grades of a query are equal, so are all P, and the loss asks for equal scores: such
queries are counted. The slope is p - P. The curvature is p (1 - p), the diagonal of the Hessian diag(p) - p p^T, held
at a twentieth of the slope (see `curvature`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.exposure.rows import row_sums
from rerankers.learning.objectives.base import Loss
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.curvature import held
from rerankers.learning.objectives.scores import check_scores
from rerankers.learning.objectives.softmax import log_softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True)
class ListNet:
    """Cross-entropy of top-one chances; its scores are logits of a Plackett-Luce policy's first rank."""

    scores: ClassVar[str] = "logit"
    needs_groups: ClassVar[bool] = False

    def bind(self, rows: LearningRows, seed: int = 0) -> ListNetBound:
        """Return the loss as a function of scores for these rows."""
        return ListNetBound(rows)


class ListNetBound:
    """The cross-entropy of rows; ``counts`` are those of `grade_counts`."""

    def __init__(self, rows: LearningRows) -> None:
        self._rows = rows
        self._target = np.exp(log_softmax(rows.indptr, rows.grade))
        self.counts = grade_counts(rows)

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,); `InputError` for another shape and scores that are not finite."""
        log_chance = log_softmax(self._rows.indptr, check_scores(scores, self._rows))
        chance = np.exp(log_chance)
        slope = chance - self._target
        value = -row_sums(self._target * log_chance, self._rows.indptr)
        return Loss(value, slope, held(chance * (1.0 - chance), slope))
