"""Rows with curves, levels and gaps that the tests of the additive model share."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rerankers.learning.rows import LearningRows


def curved(queries: int = 40, seed: int = 0) -> LearningRows:
    """Return rows with a curved feature, one of few values, one of queries, one that is constant, and gaps."""
    draw = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(draw.integers(1, 12, queries))])
    row = np.repeat(np.arange(queries), np.diff(indptr))
    x, few = draw.normal(size=indptr[-1]) * 3 + 10, draw.integers(0, 3, indptr[-1]).astype(float)
    level = draw.normal(size=queries)[row]
    features = np.column_stack([x, few, level, np.full(len(x), 4.0)])
    features[draw.random(len(x)) < 0.1, 0] = np.nan
    grade = (draw.random(len(x)) < expit(-np.abs(x - 10) + 0.4 * few + level)).astype(float)
    labels = draw.choice(np.array(["a", "b"], dtype=object), len(x)).tolist()
    names = ["x", "few", "level", "constant"]
    return LearningRows.of(indptr, features, grade, labels, [f"q{at}" for at in range(queries)], names)
