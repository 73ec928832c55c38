"""Small worlds to learn from: rows whose relevance the first feature tells, and learners that are quick."""

from __future__ import annotations

import numpy as np

from rerankers._base.streams import generator
from rerankers.learning.rows import LearningRows


def rows_of(queries: int = 24, seed: int = 0, longest: int = 9, groups: bool = True) -> LearningRows:
    """Return ragged rows: feature 1 tells relevance with noise, feature 2 nothing, some values are missing."""
    draw = generator(seed, "training world")
    lengths = draw.integers(1, longest + 1, queries)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    grade = (draw.random(indptr[-1]) < 0.35).astype(float)
    features = np.stack([grade + 0.8 * draw.standard_normal(len(grade)), draw.standard_normal(len(grade))], axis=1)
    features[draw.random(features.shape) < 0.05] = np.nan
    labels = draw.choice(np.array(["a", "b", None], dtype=object), len(grade)).tolist() if groups else None
    return LearningRows.of(indptr, features, grade, labels, qids=[f"q{number}" for number in range(queries)])
