"""What reports of runs and evaluations tell besides measures: the story, group sizes, fronts, the sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.progress import busy
from rerankers._base.streams import query_streams
from rerankers.report.extras import Extras
from rerankers.stages.front_effort import AUTO, MOST_SECONDS, least_seconds, too_long
from rerankers.stages.fronts import Scene, fronts_asked, scene_of_pool, truth_of, write_fronts
from rerankers.stages.ground import judging
from rerankers.stages.job_report import Told
from rerankers.stages.report_groups import coverage
from rerankers.stages.report_sequence import trace_of
from rerankers.stages.report_story import file_marks, story_of_evaluate, story_of_run
from rerankers.values import Block

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Options
    from rerankers.stages.evaluate import EvaluateJob, Judged
    from rerankers.stages.fronts import Fronts
    from rerankers.stages.ground import Ground
    from rerankers.stages.run import RunJob
    from rerankers.stages.serve import Outcome
    from rerankers.values import Candidates, Collection, Topics


def told_of_run(job: RunJob, ground: Ground, collection: Collection, outcome: Outcome | None, folder: Path) -> Told:
    """Compute the fronts that are asked for and write them into ``folder``; return them with the rest.

    Parameters
    ----------
    job, ground, collection
        what is run, on what.
    outcome
        of serving; None where a method makes policies.
    folder
        of the results.
    """
    pool, options = ground.pool, judging(job, ground.pool)
    fronts: Fronts = {}
    words = ""
    least = least_seconds(len(np.intersect1d(pool.candidates.query, pool.judgments.query)))
    if job.measures.fronts == AUTO and least > MOST_SECONDS:  # known without looking at very many candidates
        words = too_long(least)
    elif job.measures.fronts is not False:
        scene, truth = scene_of_pool(pool, options, truth_of(ground.known, ground.retrieved.candidates))
        fronts, words = _written(scene, truth, job.measures.fronts, folder)
    return Told(
        coverage=coverage(pool.groups, pool.candidates, pool.judgments),
        extras=Extras(
            about=story_of_run(job, collection, pool, outcome),
            method=job.name,
            queries=texts_of(ground.known.topics),
            fronts_words=words,
            trace=None if outcome is None else trace_of(outcome.served, pool, options),
        ),
        inputs={"collection fingerprint": collection.fingerprint},
        fronts=fronts,
    )


def told_of_evaluate(job: EvaluateJob, judged: Judged, pool: Candidates, options: Options, folder: Path) -> Told:
    """Return the like for runs that were read. They have no beliefs, so that there is the oracle front alone.

    Parameters
    ----------
    job, judged, options
        what is judged, and how.
    pool
        the documents that any run ranks.
    folder
        of the results.
    """
    fronts: Fronts = {}
    words = ""
    if job.measures.fronts is not False:
        scene = scene_of_runs(judged, pool, options)
        fronts, words = _written(scene, None, job.measures.fronts, folder)
    return Told(
        coverage=coverage(judged.groups, pool, judged.judgments),
        extras=Extras(about=story_of_evaluate(job, judged), fronts_words=words),
        inputs=file_marks([*job.runs, job.qrels]),
        fronts=fronts,
    )


def scene_of_runs(judged: Judged, pool: Candidates, options: Options) -> Scene:
    """Return what the oracle's front is computed on: judged queries with the documents that any run ranks."""
    asked = judged.judgments.query[judged.judgments.lengths > 0]
    part = pool.take(np.flatnonzero(np.isin(pool.query, asked) & (pool.lengths > 0)))
    units = judged.queries.take(part.query)
    block = Block(part, query_streams(units), browsing=options.model)
    own = judged.judgments.take(np.flatnonzero(np.isin(judged.judgments.query, part.query)))
    return Scene(block, units, own, judged.groups, options)


def texts_of(topics: Topics) -> dict[str, str]:
    """Return query id -> text, of queries that have one."""
    return {name: text for name, text in zip(topics.ids.names.to_pylist(), topics.text, strict=True) if text.strip()}


def _written(scene: Scene, truth: NDArray[np.float64] | None, wanted: bool | str, folder: Path) -> tuple[Fronts, str]:
    with busy("fronts"):
        fronts, words = fronts_asked(scene, truth, wanted)
    if fronts:
        write_fronts(folder, fronts)
    return fronts, words
