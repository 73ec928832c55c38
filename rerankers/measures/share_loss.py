"""Group exposure against shares that do not depend on relevance order: statistical parity and its like.

share_loss = Σ_g (E_g - M t_g)², with E_g the expected exposure of group g, t its target distribution and M the exposure
that the equal-exposure target hands out in all, the same for every system. With target=uniform or population it is
statistical parity of exposure, with target=relevant proportionality to relevant documents (after Diaz et al. 2020 and
Raj & Ekstrand 2022). `group_EEL` is the like for the equal-exposure target itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.group_measure import GROUP, TARGET, GroupMeasure, group_target
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure


class ShareLoss(GroupMeasure):
    """Squared distance of group exposures from shares of all exposure."""

    name = "share_loss"
    description = (
        "squared distance of the groups' expected exposure from their share (target) of all due exposure; 0 is best "
        "(after Diaz et al. 2020)"
    )
    parameters = (*PARAMETERS, GROUP, TARGET)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the sum of squares over groups; exposure that is estimated from draws enters as it is."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        word = str(measure.get("target"))
        aim, known = group_target(evaluation, attribute, word)
        due = evaluation.per_row(evaluation.target(model))
        apart = evaluation.by_group(attribute, evaluation.exposure(model)) - due[:, None] * aim
        return Scores.of(
            (apart**2).sum(axis=1),
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document" if word == "relevant" else "no_groups", ~known),
        )
