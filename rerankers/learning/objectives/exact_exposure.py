r"""Expected-exposure loss of the Plackett-Luce policy of the scores (Diaz et al. 2020), without a draw or with some.

The loss of a query is |E - T|^2, E the expected exposure of its documents under Plackett-Luce rankings of the scores,
T the tie-averaged target of the judged grades: of documents (``individual``), of groups, whose exposures and targets
are the sums over their documents times membership (``group``), or of both, added. A query without a relevant document
has the uniform shuffle for a target, which equal scores reach; it is counted, and counts like any other.

Slopes are exact (`rerankers.exposure.closed_form`); curvatures are those of `policy`. Estimated gradients are there for
comparison: both estimators are unbiased, and so is the value, which may be negative, see `exposure_bound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rerankers._base.errors import InputError, choose
from rerankers.exposure.browsing import GERR
from rerankers.exposure.targets import equal_exposure
from rerankers.learning.objectives.cells import Cells
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.exposure_bound import ExposureBound, Gradient
from rerankers.learning.objectives.terms import Distance

if TYPE_CHECKING:
    from rerankers.exposure.browsing import Browsing, BrowsingModel
    from rerankers.learning.objectives.terms import Term
    from rerankers.learning.rows import LearningRows

LOSSES = ("individual", "group", "both")


@dataclass(frozen=True, slots=True)
class ExactExposure:
    """The squared distance of a Plackett-Luce policy's exposure from the target.

    Attributes
    ----------
    loss
        ``individual``, ``group`` or ``both``.
    gradient
        ``exact``, ``pl_rank_3`` (Oosterhuis 2022) or ``reinforce`` (Williams 1992).
    draws
        rankings a query and step, for the last two.
    browsing
        a browsing model that is complete (`BrowsingModel.completed`); None takes GERR(0.5, 0.5).
    """

    loss: str = "individual"
    gradient: str = "exact"
    draws: int = 1000
    browsing: Any = None
    scores: ClassVar[str] = "logit"

    def __post_init__(self) -> None:
        choose("objective.loss", self.loss, LOSSES)
        self.gradients()

    @property
    def needs_groups(self) -> bool:
        """Whether it looks at groups."""
        return self.loss != "individual"

    def model(self) -> BrowsingModel:
        """Return the browsing model."""
        model: BrowsingModel = GERR() if self.browsing is None else self.browsing
        return model

    def gradients(self) -> Gradient:
        """Return how slopes come about."""
        return Gradient(self.gradient, self.draws)

    def terms(self, rows: LearningRows, browsing: Browsing) -> tuple[list[Term], Mapping[str, int]]:
        """Return the squared distances for rows that ``browsing`` is bound to, and the counts of `grade_counts`.

        Raises
        ------
        InputError
            for groups that are needed and absent.
        """
        target = equal_exposure(rows.indptr, rows.grade, browsing)
        terms: list[Term] = []
        if self.loss != "group":
            terms.append(Distance(Cells.documents(rows.indptr), target))
        if self.needs_groups:
            if rows.groups is None:
                raise InputError.one("groups", "none", "groups of documents, which the group loss is about")
            cells = Cells.groups(rows.over, rows.groups)
            terms.append(Distance(cells, cells.totals(target)))
        return terms, grade_counts(rows)

    def bind(self, rows: LearningRows, seed: int = 0) -> ExposureBound:
        """Return the loss as a function of scores for these rows.

        Raises
        ------
        InputError
            for groups that are needed and absent.
        """
        return ExposureBound(rows, [(1.0, self)], seed)
