"""AWRF of a policy: how close the groups' shares of expected attention are to what they are due."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rankings import item_exposure
from rerankers.measures import over_draws
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Parameter
from rerankers.measures.divergences import jsd
from rerankers.measures.group_measure import GROUP, TARGET, GroupMeasure, group_target
from rerankers.measures.rank_fairness import SCALES
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure


SCALE = Parameter(
    "scale", str, "of the divergence: nats, or unit = over ln 2, so that 0 is the least value (bits)", "nats", SCALES
)
FORM = Parameter(
    "form",
    str,
    "expected = of the expected exposure; mean = mean over rankings that reach any group, which is not the same",
    "expected",
    ("expected", "mean"),
)


class AWRF(GroupMeasure):
    """Attention-weighted rank fairness of the expected exposure, or of single rankings."""

    name = "AWRF"
    description = (
        "attention-weighted rank fairness: 1 minus the Jensen-Shannon divergence, in nats, of the groups' shares of "
        "expected exposure from what they are due; from 0.3069 to 1, the best (Sapiezynski et al. 2019, Raj & Ekstrand "
        "2022); the track of 2022 has umodel=wptrec"
    )
    parameters = (*PARAMETERS, GROUP, TARGET, SCALE, FORM)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the fairness of every query in whose groups any exposure arrives."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        aim, known = group_target(evaluation, attribute, str(measure.get("target")))
        scale = 1.0 if measure.get("scale") == "unit" else math.log(2)
        if measure.get("form") == "expected":
            got = evaluation.by_group(attribute, evaluation.exposure(model))
            value = _fairness(got, aim, scale)
        else:
            got = _by_ranking(evaluation, attribute, model)
            single = _fairness(got, aim[evaluation.rankings.row_of_ranking], scale)
            value = over_draws.mean(evaluation.rankings, single)
        nothing = ~(evaluation.per_row(evaluation.exposure(model)) > 0)
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", ~known if measure.get("target") == "relevant" else False),
            ("no_groups", ~known),
            ("no_ranked_document", nothing),
            ("no_labels", np.isnan(value)),
        )


def _fairness(got: NDArray[np.float64], aim: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return 1 - scale · divergence (bits) of the shares of exposure from the target, by row; NaN without exposure."""
    total = got.sum(axis=1)
    some = total > 0
    shares = got / np.where(some, total, 1.0)[:, np.newaxis]
    return np.where(some, 1.0 - jsd(shares, aim) * scale, np.nan)


def _by_ranking(evaluation: Evaluation, attribute: str, model: BrowsingModel) -> NDArray[np.float64]:
    """Return the exposure that every group has in every ranking, float64 (R, G)."""
    base = over_draws.before_shuffling(evaluation)
    seen = base.once(("items seen", model), lambda: _items_seen(base, model))
    rankings = evaluation.rankings
    docs = rankings.over.doc[rankings.flat]
    return evaluation.groups[attribute].totals(rankings.ranking_of_item, docs, seen, len(rankings))


def _items_seen(evaluation: Evaluation, model: BrowsingModel) -> NDArray[np.float64]:
    """Return the exposure of every ranked item, float64 (items,); 0 for documents that do not count."""
    rankings, universe = evaluation.rankings, evaluation.universe
    seen = item_exposure(rankings, model.bind(universe.candidate_grade, rankings.over.indptr))
    return np.where(universe.candidate_counts[rankings.flat], seen, 0.0)
