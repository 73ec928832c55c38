"""LambdaMART through this package against LightGBM called directly: the same trees, and what the way there costs.

The data are LightGBM's example for ranking, read from the folder of FAIR_RERANK_SHARED, or from ``shared`` beside the
checkout.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import lightgbm
import numpy as np
from _settings import Settings
from _timing import NotRun, Result, interleaved

from rerankers._base.errors import MissingError
from rerankers.collections.svmlight import read_svmlight
from rerankers.learning.boosting import LightGBM
from rerankers.learning.monitors import Watch
from rerankers.learning.objectives import Binary, LambdaRank
from rerankers.learning.objectives.base import Objective
from rerankers.learning.rows import LearningRows

SHARED = Path(os.environ.get("FAIR_RERANK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SLOWEST = 1.1  # times LightGBM's own time
TREES, FEATURES = 100, 300
TASKS: dict[str, tuple[Objective, dict[str, str]]] = {
    "LambdaMART": (LambdaRank(), {"objective": "lambdarank"}),
    "classifier": (Binary(), {"objective": "binary"}),
}


def results(settings: Settings) -> Iterator[Result | NotRun]:
    """Hold the contest: one fit call each, data binned within it, one thread."""
    try:
        train, test = (read_rows(SHARED / "data" / "lambdarank-example" / f"rank.{part}") for part in ("train", "test"))
    except MissingError:
        yield NotRun("LambdaMART", "no LightGBM example; set FAIR_RERANK_SHARED")
        return
    learner = LightGBM(iterations=TREES, learning_rate=0.1)
    monitor = Watch("nDCG@10").bind(test)
    for name, (objective, parameters) in TASKS.items():
        label = train.grade if name == "LambdaMART" else (train.grade > 0).astype(np.float64)
        ours, peer = partial(learner.fit, train, objective), partial(direct, train, label, parameters)
        seconds = interleaved([ours, peer], settings.repetitions)
        scores = ours().scorer.score(test.features, test.indptr), peer().predict(test.features, raw_score=True)
        gap = abs(monitor(scores[0]) - monitor(scores[1]))
        yield Result(
            f"{name}, {TREES} trees, {train.over.nnz:,} documents of {len(train)} queries, {FEATURES} features",
            *seconds,
            f"lightgbm {lightgbm.__version__} called directly",
            1 / SLOWEST,
            f"nDCG@10 on the test queries {-monitor(scores[0]):.4f}, difference {gap:.1g}; largest difference of "
            f"scores {np.max(np.abs(scores[0] - scores[1])):.1g}",
        )


def direct(train: LearningRows, label: np.ndarray, task: dict[str, str]) -> lightgbm.Booster:
    """Fit as a user of LightGBM would, with the same options and nothing else."""
    parameters = {
        **task,
        "learning_rate": 0.1,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": 0,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(train.features, label, group=train.over.lengths)
    return lightgbm.train(parameters, data, TREES)


def read_rows(path: Path) -> LearningRows:
    """Read a file of LightGBM's form; `MissingError` where it is not there."""
    table = read_svmlight(path)
    sizes = np.loadtxt(path.with_name(f"{path.name}.query"), dtype=np.int64)
    return LearningRows.of(np.concatenate([[0], np.cumsum(sizes)]), table.columns(FEATURES).T.copy(), table.label)
