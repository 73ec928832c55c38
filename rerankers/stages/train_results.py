"""What a trained model is worth on queries that it has not seen: measures of its rankings, and of its probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.anchors import anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.methods import Deterministic, PlackettLuce
from rerankers.report.training import CurveRow, training_curves
from rerankers.stages.block import BlockResult, collect
from rerankers.values import Block

if TYPE_CHECKING:
    from rerankers.learning.cross_fit import CrossFit
    from rerankers.learning.rows import LearningRows
    from rerankers.policies import Policy
    from rerankers.report import Picture
    from rerankers.stages.pool import Pool
    from rerankers.stages.results import MeasureOptions
    from rerankers.values import Relevance


def measured(
    pool: Pool, rows: LearningRows, beliefs: Relevance, measures: MeasureOptions, options: Options
) -> BlockResult:
    """Measure the static ranking and the Plackett-Luce policy of a model's beliefs about its training queries.

    Parameters
    ----------
    pool
        of the job.
    rows
        the training queries, in the pool's order.
    beliefs
        about their pairs, by models that did not see them.
    measures, options
        how they are judged.
    """
    place = np.nonzero(np.isin(pool.candidates.query, rows.over.query))[0]
    candidates = pool.candidates.take(place)
    judgments = pool.judgments.take(np.nonzero(np.isin(pool.judgments.query, candidates.query))[0])
    block = Block(candidates, rows.stream, estimates=beliefs, browsing=options.browsing)
    policies: dict[str, Policy] = {
        "deterministic": Deterministic().policy(block),
        "plackett_luce": PlackettLuce().policy(block),
        **anchors(candidates, judgments, rows.stream, options.universe),
    }
    evaluations = {name: Evaluation(one, judgments, pool.groups, options) for name, one in policies.items()}
    return collect(evaluations, pool.topics.ids, measures.chosen(list(pool.groups)))


def curve_pictures(fit: CrossFit) -> list[Picture]:
    """Return the picture of all curves, if there is a point."""
    points = [(name, point) for name, curve in fit.curves.items() for point in curve]
    # Without a monitor early stopping looks at the loss itself, which is drawn already.
    same = all(point.values.get("monitor") == point.values.get("valid") for _, point in points)
    rows = [
        CurveRow(name, point.iteration, point.seconds, measure, value)
        for name, point in points
        for measure, value in point.values.items()
        if not (same and measure == "monitor")
    ]
    picture = training_curves(rows)
    return [] if picture is None else [picture]
