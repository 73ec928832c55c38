"""What a trained model is worth on queries that it has not seen: measures of its rankings, and of its probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.anchors import DETERMINISTIC, anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.methods import Deterministic, PlackettLuce
from rerankers.report.training import CurveRow, training_curves
from rerankers.stages.block import BlockResult, collect
from rerankers.values import Block

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.learning.cross_fit import CrossFit
    from rerankers.learning.rows import LearningRows
    from rerankers.policies import Policy
    from rerankers.report import Picture
    from rerankers.stages.pool import Pool
    from rerankers.stages.results import MeasureOptions
    from rerankers.values import Relevance


MODEL = "deterministic"
"""The static ranking of what the model says."""


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
        MODEL: Deterministic().policy(block),
        "plackett_luce": PlackettLuce().policy(block),
        **anchors(candidates, judgments, rows.stream, options.universe),
    }
    evaluations = {
        name: Evaluation(one, judgments, pool.groups, options, pool.companions) for name, one in policies.items()
    }
    return collect(evaluations, pool.topics.ids, measures.chosen(list(pool.groups)))


def worse_than_first_stage(table: pa.Table) -> list[str]:
    """Say so where a model's static ranking has less utility than the first stage that it reranks."""
    import pyarrow.compute as pc

    means = {}
    for system in (MODEL, DETERMINISTIC):
        rows = table.filter(pc.and_(pc.equal(table["system"], system), pc.equal(table["measure"], "utility")))
        means[system] = pc.mean(rows["value"]).as_py()
    own, first = means[MODEL], means[DETERMINISTIC]
    if own is None or first is None or own >= first:
        return []
    return [
        f"ranked by the model alone, utility is {own:.4f}, by the first stage {first:.4f}: on queries that it has not "
        "seen, the model loses. More training queries, fewer features or another model (additive, lightgbm) may help"
    ]


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
