"""What features add to scores: the parts add up, and belong to their features."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers.learning.additive.scorer import AdditiveScorer
from rerankers.learning.additive.terms import Curve, Terms
from rerankers.learning.boosting.scorer import TreeScorer
from rerankers.learning.contributions import contributions
from rerankers.stages.explain_model import FEW, Parts

INDPTR = np.array([0, 3, 7])


def features() -> np.ndarray:
    values = np.random.default_rng(5).normal(size=(7, 3))
    values[2, 1] = np.nan
    return values


def curve(knots: list[float]) -> Curve:
    size = 1 + len(knots)
    return Curve(False, 0.0, 1.0, np.array(knots), np.zeros(len(knots)), np.zeros(size), np.ones(size))


def test_parts_of_an_additive_model() -> None:
    terms = Terms((curve([0.0]), curve([]), curve([-0.5, 0.5])), 5.0)
    weight = np.array([1.0, -2.0, 0.5, 0.3, 0.7, -0.2])
    scorer = AdditiveScorer(("a", "b", "c"), terms, weight, 0.25)
    found = contributions(scorer, features(), INDPTR)
    assert found is not None
    part, base = found
    np.testing.assert_allclose(part.sum(axis=1) + base, scorer.score(features(), INDPTR), atol=1e-12)
    # without the weights of a feature the score lacks its part
    without = AdditiveScorer(("a", "b", "c"), terms, weight * np.array([0, 0, 1, 1, 1, 1]), 0.25)
    lacking = scorer.score(features(), INDPTR) - without.score(features(), INDPTR)
    np.testing.assert_allclose(part[:, 0], lacking, atol=1e-12)


def test_parts_of_trees() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3))
    data = lightgbm.Dataset(values, values[:, 0] * 2 + (values[:, 2] > 0))
    options = {"objective": "regression", "verbosity": -1, "num_leaves": 4, "num_threads": 1, "min_data_in_leaf": 5}
    texts = tuple(lightgbm.train({**options, "seed": s}, data, 5).model_to_string() for s in (0, 1))
    scorer = TreeScorer(texts, 3)
    found = contributions(scorer, features(), INDPTR)
    assert found is not None
    part, base = found
    np.testing.assert_allclose(part.sum(axis=1) + base, scorer.score(features(), INDPTR), atol=1e-10)
    assert np.abs(part[:, 0]).sum() > np.abs(part[:, 1]).sum()
    assert contributions(scorer, np.empty((0, 3)), np.array([0]))[0].shape == (0, 3)  # type: ignore[index]


def test_other_models_have_no_parts() -> None:
    assert contributions(object(), features(), INDPTR) is None


def test_the_account_of_a_document_adds_up() -> None:
    rng = np.random.default_rng(2)
    part, value = rng.normal(size=(4, FEW + 5)), rng.normal(size=(4, FEW + 5))
    value[1, int(np.argmax(np.abs(part[1] - part.mean(axis=0))))] = np.nan
    parts = Parts(tuple(f"f{at}" for at in range(FEW + 5)), value, part, np.full(4, 0.5))
    told = parts.of(1)
    assert told["score"] == pytest.approx(part[1].sum() + 0.5)
    assert len(told["features"]) == FEW
    added = sum(one["adds"] for one in told["features"])
    assert told["mean"] + added + told["others"] == pytest.approx(told["score"], abs=1e-12)
    assert told["features"][0]["value"] is None
    sizes = [abs(one["adds"]) for one in told["features"]]
    assert sizes == sorted(sizes, reverse=True)
