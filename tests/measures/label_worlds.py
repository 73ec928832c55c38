"""Worlds of hard labels with or without a bias, for the tests of placebos."""

from __future__ import annotations

import itertools

import numpy as np

from rerankers.measures.evaluation import Evaluation, Options
from rerankers.values import Candidates, GroupAlignment, Judgments, Rankings

BOOTSTRAP = {"seed": 0, "resamples": 200, "level": 0.95, "method": "bca"}


def judged_world(seed: int, queries: int, n: int = 8, bias: float = 0.0) -> Evaluation:
    """Hard labels; documents of the first group move up by ``bias`` standard deviations of the random scores."""
    rng = np.random.default_rng(seed)
    size = queries * n
    indptr, doc = np.arange(queries + 1) * n, np.arange(size)
    label = rng.integers(0, 2, size)
    grade = (rng.random(size) < 0.3).astype(np.int16)
    score = rng.normal(size=size) + bias * (label == 0)
    over = Candidates(np.arange(queries), indptr, doc)
    orders = [np.argsort(-score[a:b])[None, :] for a, b in itertools.pairwise(indptr)]
    groups = GroupAlignment.of_entries("g", ("a", "b"), doc, label, np.ones(size), size).resolve("count")
    judgments = Judgments(np.arange(queries), indptr, doc, {"grade": grade})
    return Evaluation(Rankings.of_matrix(over, orders), judgments, {"g": groups}, Options(seed=seed, permutations=99))


def names(queries: int) -> list[str]:
    return [f"q{number}" for number in range(queries)]
