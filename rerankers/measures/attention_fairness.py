"""AWRF of a policy: how close the groups' shares of expected attention are to what they are due."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.divergences import jsd
from rerankers.measures.group_measure import GROUP, TARGET, GroupMeasure, group_target
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure


class AWRF(GroupMeasure):
    """Attention-weighted rank fairness of the expected exposure."""

    name = "AWRF"
    description = (
        "attention-weighted rank fairness: 1 minus the Jensen-Shannon divergence, in nats, of the groups' shares of "
        "expected exposure from what they are due; from 0.3069 to 1, the best (Sapiezynski et al. 2019, Raj & Ekstrand "
        "2022)"
    )
    parameters = (*PARAMETERS, GROUP, TARGET)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the fairness of every query in whose groups any exposure arrives."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        got = evaluation.by_group(attribute, evaluation.exposure(model))
        aim, known = group_target(evaluation, attribute, str(measure.get("target")))
        total = got.sum(axis=1)
        shares = got / np.where(total > 0, total, 1.0)[:, np.newaxis]
        value = 1.0 - jsd(shares, aim) * math.log(2)
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", ~known if measure.get("target") == "relevant" else False),
            ("no_groups", ~known),
            ("no_ranked_document", ~(total > 0)),
        )
