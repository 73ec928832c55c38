"""Rows and small objectives that the tests of neural scorers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rerankers.exposure import RBP
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure
from rerankers.learning.objectives.base import Bound, Loss
from rerankers.learning.rows import LearningRows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Net:
    """ListNet (Cao et al. 2007): cross entropy of two softmaxes, a query at a time."""

    scores: ClassVar[str] = "score"
    needs_groups: ClassVar[bool] = False
    noise: float = 0.0

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        def loss(scores: Floats, step: int = 0) -> Loss:
            value, slope = np.zeros(len(rows)), np.zeros(len(scores))
            for row in range(len(rows)):
                place = rows.over.row(row)
                if place.stop > place.start:
                    wanted, given = soft(rows.grade[place]), soft(scores[place])
                    value[row] = -(wanted * np.log(given)).sum()
                    random = np.random.default_rng([seed, step, int(rows.stream[row, 0])])
                    slope[place] = given - wanted + self.noise * random.normal(size=len(given))
            return Loss(value, slope, np.ones(len(scores)))

        return loss


@dataclass(frozen=True)
class EqualExposure:
    """Squared distance of the exact exposure from equal exposure."""

    scores: ClassVar[str] = "logit"
    needs_groups: ClassVar[bool] = False
    patience: float = 0.8

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        model = RBP(self.patience).bind(rows.grade, rows.indptr)
        target = equal_exposure(rows.indptr, rows.grade, model)

        def loss(scores: Floats, step: int = 0) -> Loss:
            gap = plackett_luce_exposure(rows.indptr, scores, model) - target
            slope = plackett_luce_gradient(rows.indptr, scores, model, 2 * gap)
            return Loss(row_sums(gap**2, rows.indptr), slope, np.ones(len(scores)))

        return loss


def soft(values: Floats) -> Floats:
    odds = np.exp(values - values.max())
    return odds / odds.sum()


def rows(
    queries: int = 24, features: int = 4, seed: int = 0, missing: float = 0.1, lengths: list[int] | None = None
) -> LearningRows:
    """Ragged rows, empty and one-document ones among them, whose grades follow the first feature."""
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 9, size=queries) if lengths is None else np.array(lengths)
    indptr = np.concatenate([[0], np.cumsum(size)])
    values = rng.normal(size=(indptr[-1], features)) * 10.0 ** np.arange(features) + 5.0
    grade = np.clip(np.round(values[:, 0] - 5.0 + 0.3 * rng.normal(size=indptr[-1])), 0, 3)
    values[rng.random(values.shape) < missing] = np.nan
    return LearningRows.of(indptr, values, grade)


def grouped(lengths: list[int], features: int = 2) -> LearningRows:
    """Rows whose documents are of group a, b or none that is known."""
    plain = rows(features=features, lengths=lengths)
    labels = [("a", "b", None)[place % 3] for place in range(plain.over.nnz)]
    return LearningRows.of(plain.indptr, plain.features, plain.grade, groups=labels)
