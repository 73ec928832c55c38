"""Cross-fitting: scores of training queries by models that never saw them, and one model of all for other queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.learning.splits import holdout, query_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.calibration import Calibration, Calibrator
    from rerankers.learning.learner import Fitted, Learner, Monitor, Point
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

FINAL = "final"
NO_FOLD = -1


@dataclass(frozen=True, slots=True)
class Validation:
    """How a model is validated; the options of ``validation`` in ``conf/train.yaml``.

    Attributes
    ----------
    folds
        parts of the topics: the queries of each part are scored by a model of the others, which gives honest scores
        for calibration and reliability, and lets the model be used on its own training queries. 0: none of that.
    stop
        share of the topics of every fit that are held back for early stopping; 0: none, all iterations are run.
    monitor
        what early stopping looks at: the name of a measure such as ``nDCG@10`` or ``group_EEL``; None takes the
        objective's own loss on the topics held back.
    """

    folds: int = 5
    stop: float = 0.2
    monitor: str | None = None

    def __post_init__(self) -> None:
        if self.folds < 0 or self.folds == 1:
            raise ConfigError(f"validation.folds: found {self.folds}; expected 0, or at least 2")
        if not 0 <= self.stop < 1:
            raise ConfigError(f"validation.stop: found {self.stop}; expected a share of at least 0 and below 1")


@dataclass(frozen=True, slots=True)
class Fitting:
    """Everything that a fit depends on besides its rows.

    Attributes
    ----------
    learner, objective, calibration
        the specs.
    validation
        folds and early stopping.
    monitor
        from the rows held back to what early stopping minimises there; None takes the objective's loss.
    seed
        of splits and fits.
    """

    learner: Learner
    objective: Objective
    calibration: Calibration
    validation: Validation = field(default_factory=Validation)
    monitor: Callable[[LearningRows], Monitor] | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """What cross-fitting gives.

    Attributes
    ----------
    final
        the fit on all queries.
    parts
        the fits without a fold each; empty without folds.
    fold
        int64 (B,), the fold of each query, -1 without folds.
    score
        float64 (nnz,), of each training pair by the model that did not see its query; None without folds.
    probability
        likewise, calibrated by the scores of the other folds; None without folds or without calibration. The models
        behind those scores, unlike the one of the pair itself, have seen the pair's fold.
    calibrator
        of the final model's scores, fitted on ``score``; None without calibration.
    """

    final: Fitted
    parts: tuple[Fitted, ...]
    fold: NDArray[np.int64]
    score: NDArray[np.float64] | None
    probability: NDArray[np.float64] | None
    calibrator: Calibrator | None

    @property
    def curves(self) -> Mapping[str, Sequence[Point]]:
        """Fit -> its curve: ``fold-0`` and so on, and ``final``."""
        parts = {fold_name(number): part.curve for number, part in enumerate(self.parts)}
        return {**parts, FINAL: self.final.curve}


def fold_name(number: int) -> str:
    """Return what the fit without a fold is called in files."""
    return f"fold-{number}"


def cross_fit(
    rows: LearningRows,
    fitting: Fitting,
    valid: LearningRows | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[str, Point], None] | None = None,
) -> CrossFit:
    """Fit a model for each fold on the other folds, a calibrator on their scores, and a model on everything.

    Where early stopping holds topics back, those of a fold's model come from its own training part, never from the
    fold, and the final model runs, on all queries, the middle number of iterations of the folds' models.

    Parameters
    ----------
    rows
        the training queries.
    valid
        queries of another file, which early stopping looks at in place of topics held back; the final model then
        stops by itself.
    checkpoint
        a folder: a job that was stopped continues each fit from its last checkpoint.
    progress
        called with the name of a fit and every point of its curve.

    Raises
    ------
    ConfigError, InputError
        as the learner, and for more folds than topics.
    """
    runner = _Runner(fitting, valid, checkpoint, progress)
    folds = fitting.validation.folds
    if folds == 0:
        final = runner.fit(FINAL, rows, split=True)
        return CrossFit(final, (), np.full(len(rows), NO_FOLD, dtype=np.int64), None, None, None)
    fold = query_folds(rows.topic, rows.stream, folds, fitting.seed)
    parts, score = [], np.empty(rows.over.nnz)
    for number in range(folds):
        part = runner.fit(fold_name(number), rows.take(np.nonzero(fold != number)[0]), split=True)
        inside = np.repeat(fold == number, rows.over.lengths)
        held = rows.take(np.nonzero(fold == number)[0])
        score[inside] = part.scorer.score(held.features, held.indptr)
        parts.append(part)
    final = runner.fit(FINAL, rows, split=valid is not None, iterations=_middle(parts, fitting, valid))
    calibrator = fitting.calibration.fit(score, rows.grade > 0, indptr=rows.indptr)
    probability = None if calibrator is None else _cross_calibrated(fitting.calibration, rows, score, fold)
    return CrossFit(final, tuple(parts), fold, score, probability, calibrator)


def _middle(parts: Sequence[Fitted], fitting: Fitting, valid: LearningRows | None) -> int | None:
    """Return the iterations of the final fit; None where it stops by itself, or runs them all."""
    if valid is not None or fitting.validation.stop == 0:
        return None
    return max(1, int(np.median([part.iterations for part in parts])))


def _cross_calibrated(
    calibration: Calibration, rows: LearningRows, score: NDArray[np.float64], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return probabilities of each fold by a calibrator of the other folds: what reliability may be judged by."""
    probability, relevant = np.empty(len(score)), rows.grade > 0
    for number in np.unique(fold):
        inside = np.repeat(fold == number, rows.over.lengths)
        calibrator = calibration.fit(score, relevant, (~inside).astype(np.float64), indptr=rows.indptr)
        if calibrator is not None:  # it was one for all pairs, and is one for some of them
            probability[inside] = calibrator.probabilities(score, rows.indptr)[inside]
    return probability


@dataclass(frozen=True, slots=True)
class _Runner:
    fitting: Fitting
    valid: LearningRows | None
    checkpoint: Path | None
    progress: Callable[[str, Point], None] | None

    def fit(self, name: str, rows: LearningRows, split: bool, iterations: int | None = None) -> Fitted:
        """Fit one model. ``split``: it may stop early, on queries of its own or on those of another file."""
        job = self.fitting
        train, held = rows, None
        if split and self.valid is not None:
            held = self.valid
        elif split and job.validation.stop > 0:
            topics = len(np.unique(rows.topic))
            if topics < 2:
                raise ConfigError(
                    f"validation.stop: found {job.validation.stop}, and a fit ({name}) on {topics} topic; expected at "
                    "least 2 topics, of which one is held back, or validation.stop=0"
                )
            back = holdout(rows.topic, rows.stream, job.validation.stop, job.seed)
            train, held = rows.take(np.nonzero(~back)[0]), rows.take(np.nonzero(back)[0])
        learner = job.learner if iterations is None else job.learner.with_iterations(iterations)
        return learner.fit(
            train,
            job.objective,
            valid=held,
            monitor=None if held is None or job.monitor is None else job.monitor(held),
            seed=job.seed,
            checkpoint=None if self.checkpoint is None else self.checkpoint / name,
            progress=None if self.progress is None else (lambda point: self.progress(name, point)),  # type: ignore[misc]
        )
