"""Small worlds and objectives for the tests of boosted trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums
from rerankers.learning.objectives.base import Loss
from rerankers.learning.rows import LearningRows


def rows(seed: int = 0, queries: int = 40, longest: int = 12, features: int = 5, **more: Any) -> LearningRows:
    """Return rows whose grades follow two features, with missing values in a third."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, queries)
    size = int(lengths.sum())
    x = rng.normal(size=(size, features))
    grade = np.clip(np.round(1.2 * x[:, 0] - x[:, 1] + rng.normal(size=size)), 0, 3)
    x[rng.random(size) < 0.2, 2] = np.nan
    return LearningRows.of(np.concatenate([[0], np.cumsum(lengths)]), x, grade, **more)


@dataclass(frozen=True)
class Softmax:
    """Cross entropy of grades and the softmax of scores: a listwise loss of our own, curvature p (1 - p)."""

    scale: float = 1.0
    spoil: str = ""
    at: int = 3
    scores: ClassVar[str] = "logit"
    needs_groups: ClassVar[bool] = False

    def bind(self, given: LearningRows, seed: int = 0) -> Any:
        row, size = given.over.row_index, len(given)
        mass = row_sums(given.grade, given.indptr)
        target = given.grade / np.where(mass > 0, mass, 1.0)[row]
        whole = (mass > 0).astype(float)

        def loss(scores: np.ndarray, step: int = 0) -> Loss:
            top = np.where(given.over.lengths > 0, row_maxima(scores, given.indptr), 0.0)
            weight = np.exp(scores - top[row])
            norm = row_sums(weight, given.indptr)
            chance = weight / norm[row]
            value = whole * (top + np.log(np.where(norm > 0, norm, 1.0))) - row_sums(target * scores, given.indptr)
            slope = whole[row] * chance - target
            out = Loss(value * self.scale, slope * self.scale, whole[row] * chance * (1 - chance) * self.scale)
            if self.spoil and step == self.at:
                getattr(out, self.spoil)[-1] = np.nan if self.spoil != "curvature" else -1.0
            assert len(out.value) == size
            return out

        return loss


@dataclass(frozen=True)
class Noisy(Softmax):
    """The same with slopes that an iteration draws, keyed by seed and step."""

    def bind(self, given: LearningRows, seed: int = 0) -> Any:
        exact = super().bind(given)

        def loss(scores: np.ndarray, step: int = 0) -> Loss:
            out = exact(scores, step)
            noise = np.random.default_rng([seed, step]).normal(size=len(scores))
            return Loss(out.value, out.slope + 0.01 * noise, out.curvature)

        return loss


@dataclass(frozen=True)
class ByLightGBM(Softmax):
    """An objective that LightGBM has itself; its function of scores is for the curve."""

    parameters: Mapping[str, Any] = field(default_factory=lambda: {"objective": "lambdarank"})

    def native(self) -> Mapping[str, Any] | None:
        return self.parameters
