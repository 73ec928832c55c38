r"""Expected utility of the Plackett-Luce policy of the scores, as a share of what the best ranking gives.

The loss of a query is -U / U*, with U = \sum_d E_d g_d the expected utility: E_d the exposure of a document and g_d
what a look at it is worth (the browsing model's satisfaction: 0 for documents of grade 0). U* is that of the rankings
by grade. A query without a relevant document has neither loss nor slope, and is counted.

It is linear in the exposure, so that estimates by PL-Rank-3 (Oosterhuis 2022) and by the score function (Williams 1992)
are unbiased as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers.exposure.browsing import GERR
from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.exposure_bound import ExposureBound, Gradient
from rerankers.learning.objectives.terms import Linear

if TYPE_CHECKING:
    from rerankers.exposure.browsing import Browsing, BrowsingModel
    from rerankers.learning.objectives.terms import Term
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True)
class PLUtility:
    """Minus the expected utility of a Plackett-Luce policy, as a share of the best.

    Attributes
    ----------
    gradient
        ``exact``, ``pl_rank_3`` (Oosterhuis 2022) or ``reinforce`` (Williams 1992).
    draws
        rankings a query and step, for the last two.
    browsing
        a browsing model that is complete (`BrowsingModel.completed`); None takes GERR(0.5, 0.5).
    """

    gradient: str = "exact"
    draws: int = 1000
    browsing: Any = None
    scores: ClassVar[str] = "logit"
    needs_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.gradients()

    def model(self) -> BrowsingModel:
        """Return the browsing model."""
        model: BrowsingModel = GERR() if self.browsing is None else self.browsing
        return model

    def gradients(self) -> Gradient:
        """Return how slopes come about."""
        return Gradient(self.gradient, self.draws)

    def terms(self, rows: LearningRows, browsing: Browsing) -> tuple[list[Term], Mapping[str, int]]:
        """Return the utility for rows that ``browsing`` is bound to, and the counts of `grade_counts`."""
        gain = browsing.satisfaction
        best = row_sums(equal_exposure(rows.indptr, rows.grade, browsing) * gain, rows.indptr)
        share = gain / np.repeat(np.where(best > 0, best, 1.0), rows.over.lengths)
        return [Linear(rows.indptr, -share)], grade_counts(rows)

    def bind(self, rows: LearningRows, seed: int = 0) -> ExposureBound:
        """Return the loss as a function of scores for these rows."""
        return ExposureBound(rows, [(1.0, self)], seed)
