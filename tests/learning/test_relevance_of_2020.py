"""The experiment trec2020_relevance as its config has it: trained on the training queries, judged on the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from rerankers._conf import build, conf_folder
from rerankers.features import FeatureTable
from rerankers.learning.cross_fit import Fitting, Validation, cross_fit
from rerankers.learning.gather import learning_rows
from rerankers.learning.rows import LearningRows
from rerankers.retrieval.jvm import find_java
from rerankers.stats.auc import per_query_auc, pooled_auc
from rerankers.stats.scoring import losses

pytestmark = [pytest.mark.shared_data, pytest.mark.java]


def config_of(folder: Path) -> dict[str, Any]:
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        config = compose("train", overrides=["experiment=trec2020_relevance", f"collection.path={folder}"])
    parts = ("collection", "features", "model", "objective", "calibration", "retriever")
    return {name: OmegaConf.to_container(config[name], resolve=True) for name in parts}


def rows_of(config: dict[str, Any], split: str, cache: Path) -> tuple[LearningRows, FeatureTable]:
    world = build({**config["collection"], "split": split}, where="collection").load()
    table = build(config["features"], where="features").compute(world, world.candidates, cache)
    return learning_rows(world.topics, world.candidates, world.judgments, table)[0], table


def quality(probability: np.ndarray, rows: LearningRows) -> tuple[float, float, float]:
    """Return pooled AUC, mean AUC within queries, log-loss."""
    relevant = rows.grade > 0
    within = float(np.nanmean(per_query_auc(probability, relevant, rows.indptr)))
    return pooled_auc(probability, relevant), within, float(losses(probability, relevant)[:, 1].mean())


@pytest.mark.slow
def test_probabilities_of_relevance(shared: Path, tmp_path: Path) -> None:
    find_java()
    config = config_of(shared / "data" / "trec-fair-2020")
    train, table = rows_of(config, "train", tmp_path)
    assert table.tier == "metadata"
    assert "relevance" not in table.names
    assert "only_patterns_that_match_nothing" not in table.counts
    objective = {
        key: value for key, value in config["objective"].items() if key not in ("fairness_weight", "unfairness")
    }
    fitting = Fitting(
        build(config["model"], where="model"),
        build(objective, where="objective"),
        build(config["calibration"], where="calibration"),
        Validation(folds=5, stop=0.0),
    )
    fit = cross_fit(train, fitting)
    assert "stopped_before_convergence" not in fit.final.counts
    assert fit.probability is not None
    assert fit.calibrator is not None
    pooled, within, loss = quality(fit.probability, train)
    assert pooled > 0.638
    assert within > 0.638
    assert loss < 0.42
    held, _ = rows_of(config, "eval", tmp_path)
    score = fit.final.scorer.score(held.features, held.indptr)
    probability = fit.calibrator.probabilities(score, held.indptr)
    pooled, within, loss = quality(probability, held)
    assert pooled > 0.64
    assert within > 0.63
    assert loss < 0.4
    assert abs(probability.mean() - np.mean(held.grade > 0)) < 0.01
