"""Trees grown on a Dask cluster by LightGBM's `DaskLGBMRanker`, on whole queries; the model is one like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, FairRerankersError, InputError, MissingError
from rerankers.execution.dask_cluster import Dask
from rerankers.learning.boosting.history import History
from rerankers.learning.boosting.native import GRADES, NativeTask, native_task
from rerankers.learning.boosting.newton import mean_loss
from rerankers.learning.boosting.options import LightGBM
from rerankers.learning.boosting.parameters import engine, member_seeds, tree_parameters
from rerankers.learning.boosting.scorer import TreeScorer
from rerankers.learning.boosting.text import Forest, settled
from rerankers.learning.checked import row_counts, same_features, usable
from rerankers.learning.learner import Fitted, Point
from rerankers.learning.monitors.base import reading

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.learning.learner import Monitor
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

INSTALL = "model=lightgbm_dask needs Dask, pandas and scikit-learn. Type: pip install 'fair-rerankers[dask]'"
MINUTES = 5
"""For which a worker waits for another before it gives up."""
_NAMES = {
    "boosting": "boosting_type",
    "feature_fraction": "colsample_bytree",
    "lambda_l1": "reg_alpha",
    "lambda_l2": "reg_lambda",
    "min_data_in_leaf": "min_child_samples",
    "min_gain_to_split": "min_split_gain",
    "min_sum_hessian_in_leaf": "min_child_weight",
    "seed": "random_state",
}
"""Parameters that LightGBM's classes in the style of scikit-learn call otherwise."""


@dataclass(frozen=True, slots=True)
class DaskLightGBM(LightGBM):
    """Gradient boosted trees over training rows that lie on the workers of a Dask cluster (Ke et al. 2017).

    Every worker has a part of the queries, whole ones, about equally many documents each; histograms of all parts are
    added up for each split. So the trees are those of all queries, but bins are found from the parts and sums are
    added in another order: nDCG@10 stays within .01 of a fit in one process, bits do not stay equal.

    Only objectives that LightGBM has itself can be fitted so. All iterations are grown, and measured here afterwards:
    with validation queries the best number of trees is kept, as `LightGBM` keeps it. Nothing is kept of a fit that was
    stopped, and a worker that is lost ends it: the network of LightGBM's workers cannot be mended.

    Attributes
    ----------
    workers
        of the cluster, at most; -1 for all.
    address
        of the scheduler of a cluster that is there already; None starts one on the cores of this machine.

    Raises
    ------
    ConfigError
        as `LightGBM`, and for several members or queries that are drawn.
    """

    workers: int = -1
    address: str | None = None

    def __post_init__(self) -> None:
        LightGBM.__post_init__(self)
        Dask(workers=self.workers)
        if self.members > 1 or self.query_fraction < 1:
            raise ConfigError(
                "model.members, query_fraction: found "
                f"{self.members}, {self.query_fraction}; expected 1 and 1.0 on a cluster. Take model=lightgbm"
            )

    def fit(
        self,
        train: LearningRows,
        objective: Objective,
        *,
        valid: LearningRows | None = None,
        monitor: Monitor | None = None,
        seed: int = 0,
        checkpoint: Path | None = None,
        progress: Callable[[Point], None] | None = None,
    ) -> Fitted:
        """Fit trees; as `LightGBM.fit`, ``checkpoint`` is not used.

        Raises
        ------
        ConfigError
            for an objective that LightGBM does not have itself, and a cluster of another version of this package.
        InputError
            as `LightGBM.fit`.
        MissingError
            without the packages, and where no cluster answers.
        FairRerankersError
            when training ended on the cluster, with what LightGBM or Dask said.
        """
        del checkpoint
        start = perf_counter()
        rows = usable(train, "train")
        held_out = None if valid is None else same_features(usable(valid, "valid"), rows)
        task = native_task(objective, rows)
        if task is None:
            raise ConfigError(
                f"objective: found {type(objective).__name__}; expected one that LightGBM has itself on a cluster "
                f"({', '.join(GRADES)}). Take model=lightgbm"
            )
        text, parts = _grown(self, rows, task, seed)
        looked = _Looked(self, rows, held_out, objective, monitor, seed, start, progress)
        history = looked.at(Forest.of(text))
        counts = {**row_counts(train, rows), "parts": parts}
        kept = settled(Forest.of(text).first(history.best))
        shown = {name: count for name, count in counts.items() if count}
        return Fitted(TreeScorer((kept,), len(rows.names)), history.best, history.curve, shown)


def _grown(options: DaskLightGBM, rows: LearningRows, task: NativeTask, seed: int) -> tuple[str, int]:
    """Return the text of all trees, and over how many parts they were grown."""
    from rerankers.execution.dask_parts import on_workers

    lightgbm = engine()
    given = tree_parameters(options, task, member_seeds(seed, 1)[0])
    del given["num_threads"]  # each worker takes as many as Dask gives it
    named = {_NAMES.get(name, name): value for name, value in given.items()}
    cluster = Dask(workers=options.workers, address=options.address)
    client, (features, label, lengths), parts = on_workers(cluster, rows.indptr, rows.features, task.label)
    try:
        ranker = lightgbm.DaskLGBMRanker(client=client, n_estimators=options.iterations, time_out=MINUTES, **named)
        with client.as_current():
            ranker.fit(features, label, group=lengths)
        return str(ranker.booster_.model_to_string()), parts
    except FairRerankersError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        if "required for lightgbm.dask" in said:
            raise MissingError(INSTALL) from error
        raise FairRerankersError(
            f"model: training on the cluster ended ({type(error).__name__}: {said[:300]}). A fit cannot go on without "
            "one of its workers: look at their logs, and start it again"
        ) from error


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """What is measured of trees that are all there already."""

    options: DaskLightGBM
    train: LearningRows
    valid: LearningRows | None
    objective: Objective
    monitor: Monitor | None
    seed: int
    start: float
    progress: Callable[[Point], None] | None

    def at(self, forest: Forest) -> History:
        """Return what a fit that had grown them one by one would have seen."""
        booster = engine().Booster(model_str=str(forest))
        history, trees = History(), len(forest.trees)
        if self.valid is None:
            for _ in range(trees):
                history = history.plus((True,), None)
            score = booster.predict(self.train.features, raw_score=True, num_threads=1)
            point = self._point(trees, {"train": self._loss(self.train, score, trees)})
            return History(history.split, (point,))
        bound = self.objective.bind(self.valid, self.seed)
        score = np.zeros(self.valid.over.nnz)
        for tree in range(trees):
            one = {"start_iteration": tree, "num_iteration": 1}
            score = score + booster.predict(self.valid.features, raw_score=True, num_threads=1, **one)
            values = {"valid": mean_loss(bound, score, self.valid, tree + 1)}
            values |= self._monitored(score, tree + 1, values["valid"])
            history = history.plus((True,), self._point(tree + 1, values))
            if history.stale(self.options.patience):
                break
        return history

    def _loss(self, rows: LearningRows, score: Any, iteration: int) -> float:
        return mean_loss(self.objective.bind(rows, self.seed), score, rows, iteration)

    def _monitored(self, score: Any, iteration: int, loss: float) -> dict[str, float]:
        if self.monitor is None:
            return {"monitor": loss}
        seen = reading(self.monitor, score)
        values = {"monitor": seen.value, **seen.parts}
        for name, value in values.items():
            if not np.isfinite(value):
                raise InputError.one("monitor", f"{name} of {value} after iteration {iteration}", "a finite number")
        return values

    def _point(self, iteration: int, values: dict[str, float]) -> Point:
        point = Point(iteration, perf_counter() - self.start, values)
        if self.progress is not None:
            self.progress(point)
        return point
