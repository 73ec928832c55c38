"""Trees grown on a cluster rank as trees grown here; a worker that is lost ends the fit with a reason."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TRAINING = """
import os, signal, threading, time
import numpy as np
from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers.execution import Dask
from rerankers.execution.dask_cluster import cluster_client
from rerankers.learning.boosting import DaskLightGBM, LightGBM
from rerankers.learning.objectives import LambdaRank, ListNet
from rerankers.learning.rows import LearningRows

def world(queries, seed):
    rng = np.random.default_rng(seed)
    bounds = np.concatenate([[0], np.cumsum(rng.integers(1, 50, queries))])
    x = rng.normal(size=(bounds[-1], 8))
    worth = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + 0.8 * rng.normal(size=bounds[-1])
    return bounds, x, np.digitize(worth, [0.5, 1.3, 2.2, 3.0]).astype(float)

def ndcg_at_10(score, bounds, grade):
    found = []
    for start, stop in zip(bounds[:-1], bounds[1:], strict=True):
        gain = 2 ** grade[start:stop] - 1
        discount = 1 / np.log2(np.arange(min(10, stop - start)) + 2)
        best = np.sort(gain)[::-1][:10] @ discount
        if best > 0:
            found.append(gain[np.argsort(-score[start:stop], kind="stable")[:10]] @ discount / best)
    return np.mean(found)

if __name__ == "__main__":
    train, valid = (LearningRows.of(*world(queries, seed)) for queries, seed in ((2000, 0), (400, 1)))
    bounds, x, grade = world(1000, 2)
    stopped = DaskLightGBM(iterations=40, patience=10, workers=2).fit(train, LambdaRank(), valid=valid, seed=3)
    assert stopped.counts["parts"] == 2, stopped.counts
    values = [point.values["monitor"] for point in stopped.curve]
    assert values[stopped.iterations - 1] == min(values), values
    assert len(values) in (40, stopped.iterations + 10), values
    here = LightGBM(iterations=60).fit(train, LambdaRank(), seed=3)
    there = DaskLightGBM(iterations=60, workers=2).fit(train, LambdaRank(), seed=3)
    apart = [ndcg_at_10(fit.scorer.score(x, bounds), bounds, grade) for fit in (here, there)]
    print("nDCG@10 here and there:", *apart)
    assert apart[0] > 0.8 and abs(apart[0] - apart[1]) < 0.01, apart
    few = LearningRows.of([0, 50, 120], x[:120], grade[:120])  # two queries on two workers, then one
    assert DaskLightGBM(iterations=2, workers=2).fit(few, LambdaRank()).counts["parts"] == 2
    one = LearningRows.of([0, 120], x[:120], grade[:120])
    assert DaskLightGBM(iterations=2, workers=2).fit(one, LambdaRank()).counts.get("parts") == 1
    try:
        DaskLightGBM(workers=2).fit(few, ListNet())
    except ConfigError as error:
        assert "that LightGBM has itself" in str(error), error
    else:
        raise SystemExit("no error")

    def end_one():
        time.sleep(3)
        pids = cluster_client(Dask(workers=2)).run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    threading.Thread(target=end_one).start()
    start = time.monotonic()
    try:
        DaskLightGBM(iterations=3000, leaves=200, workers=2).fit(train, LambdaRank())
    except FairRerankersError as error:
        print("after", time.monotonic() - start, "s:", error)
        assert "training on the cluster ended" in str(error), error
    else:
        raise SystemExit("no error")
    print("fine")
"""


@pytest.mark.slow
def test_trees_of_a_cluster_rank_as_trees_grown_here(python_with: Callable[[str], Path], tmp_path: Path) -> None:
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    done = subprocess.run([python_with("dask"), script], capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout.splitlines()[-1:] == ["fine"], done.stdout[-1000:] + done.stderr[-3000:]
    assert done.returncode == 0


@pytest.mark.slow
def test_a_model_of_a_cluster_is_used_like_any_other(python_with: Callable[[str], Path], tmp_path: Path) -> None:
    python, usual = python_with("dask"), ["collection.documents=300", f"paths.cache={tmp_path / 'cache'}"]
    few = ["measures.resamples=20", "measures.permutations=5", "measures.fronts=false"]
    model = ["model=lightgbm_dask", "model.workers=2", "model.iterations=5", "objective=lambdarank"]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    for words in (
        ["train", *model, *usual, *few, f"output={tmp_path / 'model'}"],
        [
            "run",
            "method=plackett_luce",
            f"method.model={tmp_path / 'model'}",
            *usual,
            *few,
            f"output={tmp_path / 'run'}",
        ],
    ):
        done = subprocess.run([python, "-m", "rerankers", *words], capture_output=True, text=True, check=False, env=env)
        assert done.returncode == 0, done.stderr[-3000:]
    assert "lightgbm" in (tmp_path / "model" / "model.yaml").read_text()
