"""Train a model: collection, first stage, features, folds, calibration, and what the scores are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers._base.fingerprint import fingerprint
from rerankers._base.progress import bar, busy
from rerankers.learning.card import Card
from rerankers.learning.cross_fit import CrossFit, Fitting, cross_fit
from rerankers.learning.gather import learning_rows
from rerankers.learning.objectives.aimed import aimed
from rerankers.learning.store import query_keys, write_model
from rerankers.measures.evaluation import Options
from rerankers.stages.checkpoints import checkpoints
from rerankers.stages.estimates import beliefs_of_training
from rerankers.stages.fronts import Scene, fronts_of, truth_of, write_fronts
from rerankers.stages.metadata import Stopwatch
from rerankers.stages.output import claimed
from rerankers.stages.pool import make_pool
from rerankers.stages.relevance_quality import Judged, Quality, relevance_quality
from rerankers.stages.results import MeasureOptions, Results, check_max_grade, publish
from rerankers.stages.train_records import account_of, card_of, data_mark, write_tables
from rerankers.stages.train_results import measured, worse_than_first_stage
from rerankers.values import Block, Candidates

if TYPE_CHECKING:
    from rerankers.collections import Aligned
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.features import FeatureSet, FeatureTable
    from rerankers.learning.learner import Point
    from rerankers.learning.rows import LearningRows
    from rerankers.report import ReportData
    from rerankers.retrieval import Retriever
    from rerankers.values import Collection, Counts, GroupAlignment

CHECKPOINTS = "checkpoints-1"


@dataclass(frozen=True, slots=True)
class TrainJob:
    """The parts of a ``train``, already built from the config; see ``conf/train.yaml`` for what each is.

    ``attribute`` chooses the one whose groups the objective or the monitor looks at, None where neither does;
    ``valid`` is another collection, which early stopping looks at, or None.
    """

    collection: Any
    retriever: Retriever
    features: FeatureSet
    fitting: Fitting
    browsing: BrowsingModel
    groups: Any
    attribute: Callable[[Mapping[str, GroupAlignment]], str | None]
    valid: Any
    measures: MeasureOptions
    cache: Path
    seed: int
    universe: str
    allowed: tuple[str, ...]
    config: Mapping[str, Any]
    command: str


def train(job: TrainJob, folder: Path) -> ReportData:
    """Run a job and leave the model in ``folder``; the README lists the files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    watch = Stopwatch()
    with claimed(folder) as staging:
        data = _learnable(job, job.collection, watch)
        valid = None if job.valid is None else _held_back(job, data, watch)
        job = _completed(job, data)
        mark = fingerprint(data_mark(data), str(job.fitting), None if valid is None else data_mark(valid))
        with checkpoints(job.cache / CHECKPOINTS / mark) as kept:
            with _progress() as show:
                fit = cross_fit(data.rows, job.fitting, None if valid is None else valid.rows, kept, show)
            watch.lap("fit")
            card = _write(job, data, fit, staging)
            watch.lap("write model")
            with busy("measures"):
                results, quality = _judged(job, data, fit, card)
            if quality is not None:
                write_text(staging / "relevance.json", quality.json)
            watch.lap("measures")
            if job.measures.fronts is True:
                write_fronts(
                    staging, fronts_of(_scene(job, data, fit, card), truth_of(data.collection, data.rows.over))
                )
                watch.lap("fronts")
            account = account_of(job, data, fit, card, results, quality)
            worse = worse_than_first_stage(results.measures)
            account = replace(account, warnings=[*account.warnings, *worse])
            with busy("intervals and report"):
                return publish(staging, results, account, job.measures, _options(job, data), watch)


def _completed(job: TrainJob, data: Learnable) -> TrainJob:
    """Fill in what the browsing model takes from the grades of the training queries."""
    browsing = job.browsing.completed(data.rows.grade)
    objective = aimed(job.fitting.objective, browsing)
    return replace(job, fitting=replace(job.fitting, objective=objective))


@dataclass(frozen=True, slots=True, eq=False)
class Learnable:
    """A collection with everything that is learnt from."""

    collection: Collection
    candidates: Candidates
    table: FeatureTable
    aligned: Aligned
    alignment: GroupAlignment | None
    rows: LearningRows
    counts: Counts
    retrieved: Counts


def _learnable(job: TrainJob, source: Any, watch: Stopwatch) -> Learnable:
    with busy("collection"):
        collection = source.load()
    watch.lap("collection")
    retrieved = job.retriever.retrieve(collection, job.cache)
    known = collection.over(retrieved.docs)
    watch.lap("retrieval")
    aligned = job.groups.align(known)
    attribute = job.attribute(aligned.alignments)
    alignment = None if attribute is None else aligned.alignments[attribute]
    with busy("features"):
        table = job.features.compute(known, retrieved.candidates, job.cache, job.allowed)
    rows, counts = learning_rows(known.topics, retrieved.candidates, known.judgments, table, alignment)
    watch.lap("features")
    return Learnable(known, retrieved.candidates, table, aligned, alignment, rows, counts, retrieved.counts)


def _held_back(job: TrainJob, data: Learnable, watch: Stopwatch) -> Learnable:
    """Return the other collection that early stopping looks at.

    Raises
    ------
    ConfigError
        when training queries are among its queries: they would be scored by models that have seen them.
    """
    valid = _learnable(job, job.valid, watch)
    known = set(_keys(data))
    both = [qid for qid, key in zip(valid.rows.qids, _keys(valid), strict=True) if key in known]
    if both:
        raise ConfigError(
            f"validation: found {len(both)} training queries among the {len(valid.rows)} that early stopping looks at "
            f"(query {both[0]!r}); expected other queries. Look at validation.path and validation.split"
        )
    return valid


def _keys(data: Learnable) -> list[str]:
    """Return the keys of the training queries, in their order."""
    rows = data.rows
    table = replace(data.table, values=rows.features)
    return query_keys(data.collection.topics, rows.over, table)


@contextmanager
def _progress() -> Iterator[Callable[[str, Point], None]]:
    """Show a line for the fit in progress on a terminal, nothing elsewhere."""
    with bar("fit", "iteration") as shown:

        def show(name: str, point: Point) -> None:
            shown.say(of=name, **{key: f"{value:.5g}" for key, value in point.values.items()})
            shown.update()

        yield show


def _options(job: TrainJob, data: Learnable) -> Options:
    judgments = data.collection.judgments
    check_max_grade(job.browsing, judgments)
    return Options(
        browsing=job.browsing,
        universe=job.universe,
        cutoff=job.measures.cutoff,
        seed=job.seed,
        max_grade=max(1, int(judgments.grade.max(initial=0))),
    )


def _judged(job: TrainJob, data: Learnable, fit: CrossFit, card: Card) -> tuple[Results, Quality | None]:
    """Measure what the models without the query's fold say; nothing without folds."""
    results, options = Results(), _options(job, data)
    beliefs = beliefs_of_training(fit, card.scores)
    if beliefs is None:
        return results, None
    known, groups = data.collection, data.aligned.alignments
    pool = make_pool(known.docs, known.topics, data.candidates, known.judgments, groups)
    results.add(measured(pool, data.rows, beliefs, job.measures, options))
    pairs = Judged(data.rows.over, data.rows.qids, data.rows.topic, beliefs, data.rows.grade > 0)
    measures = job.measures
    quality = relevance_quality(pairs, groups, seed=job.seed, resamples=measures.resamples, level=measures.confidence)
    return results, quality


def _scene(job: TrainJob, data: Learnable, fit: CrossFit, card: Card) -> Scene:
    """Return what fronts are computed on: the training queries, believed in by models that did not see them."""
    rows, judgments = data.rows, data.collection.judgments
    options = _options(job, data)
    block = Block(
        Candidates(rows.over.query, rows.over.indptr, rows.over.doc),
        rows.stream,
        estimates=beliefs_of_training(fit, card.scores),
        browsing=options.model,
    )
    own = judgments.take(np.nonzero(np.isin(judgments.query, rows.over.query))[0])
    return Scene(block, rows.qids, own, data.aligned.alignments, options)


def _write(job: TrainJob, data: Learnable, fit: CrossFit, folder: Path) -> Card:
    """Write the model, and the scores of unseen queries; return the model's card."""
    rows = data.rows
    card = write_model(folder, card_of(job, data, fit), fit, rows.qids, _keys(data))
    write_tables(folder, rows, fit, data.collection.docs)
    return card
