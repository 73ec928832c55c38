"""From a job to a scorer: iterations, checkpoints, and the best trees of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rerankers.learning.boosting.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from rerankers.learning.boosting.history import History
from rerankers.learning.boosting.job import Job
from rerankers.learning.boosting.run import Run
from rerankers.learning.boosting.scorer import TreeScorer
from rerankers.learning.boosting.text import Forest, settled
from rerankers.learning.checked import row_counts, same_features, usable
from rerankers.learning.learner import Fitted, Point

Progress = Callable[[Point], None]


def fit(given: Job, checkpoint: Path | None, progress: Progress | None) -> Fitted:
    """Do what `LightGBM.fit` says."""
    train = usable(given.train, "train")
    valid = None if given.valid is None else same_features(usable(given.valid, "valid"), train)
    job = replace(given, train=train, valid=valid)
    name = "" if checkpoint is None else job.fingerprint()
    found, damaged = (None, 0) if checkpoint is None else read_checkpoint(checkpoint, name)
    counts = {**row_counts(given.train, train), "checkpoints_damaged": damaged}
    if found is not None and found.finished:
        met = getattr(job.objective.bind(train, job.seed), "counts", {})
        return _fitted(job, found.history, _best(found), {**met, **counts})
    run = None if found is None else Run.continued(job, found)
    if run is None:
        run = Run(job)
        counts["iterations_repeated"] = 0 if found is None else found.history.iterations
    counts = {**getattr(run.bounds[0], "counts", {}), **counts}
    _finish(run, None if checkpoint is None else (checkpoint, name), progress)
    return _fitted(job, run.history, run.texts(run.history.best), counts)


def _finish(run: Run, place: tuple[Path, str] | None, progress: Progress | None) -> None:
    """Do the iterations that are left; checkpoints go to a folder, under the name of the job."""
    saved = run.history.iterations

    def save() -> None:
        nonlocal saved
        if place is not None and run.history.iterations > saved:
            write_checkpoint(*place, run.checkpoint())
            saved = run.history.iterations

    try:
        while not run.finished:
            point = run.step()
            if progress is not None and point is not None:
                progress(point)
            if run.finished or run.history.iterations % run.options.checkpoint_every == 0:
                save()
    except KeyboardInterrupt:
        save()
        raise


def _best(found: Checkpoint) -> tuple[str, ...]:
    """Return the models of a finished fit at its best iteration."""
    history = found.history
    kept = [history.trees(number, history.best) for number in range(len(found.texts))]
    return tuple(settled(Forest.of(text).first(trees)) for text, trees in zip(found.texts, kept, strict=True))


def _fitted(job: Job, history: History, texts: tuple[str, ...], counts: dict[str, int]) -> Fitted:
    met = {**counts, "iterations_without_a_split": history.idle}
    shown = {name: count for name, count in met.items() if count}
    return Fitted(TreeScorer(texts, len(job.train.names)), history.best, history.curve, shown)
