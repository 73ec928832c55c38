"""Relevance and fairness together: utility minus lambda times unfairness, as a loss to be minimised."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.learning.objectives.base import Bound, Loss, Objective
from rerankers.learning.objectives.exact_exposure import ExactExposure
from rerankers.learning.objectives.exposure_bound import ExposureBound, OfExposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.learning.rows import LearningRows

UNFAIRNESS = ("group", "individual")


@dataclass(frozen=True, slots=True)
class Mixture:
    """The sum of a relevance loss and ``fairness_weight`` times an unfairness.

    Where both are functions of one policy's exposure (same browsing model, same kind of gradient) they share one
    exposure and one gradient. Otherwise values, slopes and curvatures are added, both at the same scores.

    Attributes
    ----------
    relevance, unfairness
        objectives.
    fairness_weight
        at least 0.
    scores
        how scores are to be read: as ``logit`` where the unfairness is that of a policy, whatever the relevance loss
        alone would make of them.
    needs_groups
        whether either looks at groups.
    """

    relevance: Any
    unfairness: Any
    fairness_weight: float = 1.0
    scores: str = field(init=False)
    needs_groups: bool = field(init=False)

    def __post_init__(self) -> None:
        check_weight(self.fairness_weight)
        logit = "logit" in (self.relevance.scores, self.unfairness.scores)
        object.__setattr__(self, "scores", "logit" if logit else self.relevance.scores)
        object.__setattr__(self, "needs_groups", bool(self.relevance.needs_groups or self.unfairness.needs_groups))

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        """Return the sum as a function of scores for these rows.

        Raises
        ------
        InputError
            as the objectives do.
        """
        if _together(self.relevance, self.unfairness):
            one, other = cast("OfExposure", self.relevance), cast("OfExposure", self.unfairness)
            return ExposureBound(rows, [(1.0, one), (self.fairness_weight, other)], seed)
        return MixtureBound(self.relevance.bind(rows, seed), self.unfairness.bind(rows, seed), self.fairness_weight)


class MixtureBound:
    """The sum of two losses of the same rows; ``counts`` are those of both."""

    def __init__(self, relevance: Bound, unfairness: Bound, weight: float) -> None:
        self._relevance, self._unfairness, self._weight = relevance, unfairness, weight
        self.counts = dict(Counter(getattr(relevance, "counts", {})) | Counter(getattr(unfairness, "counts", {})))

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,)."""
        one, other, weight = self._relevance(scores, step), self._unfairness(scores, step), self._weight
        return Loss(
            one.value + weight * other.value,
            one.slope + weight * other.slope,
            one.curvature + weight * other.curvature,
        )


def with_fairness(
    objective: Objective, weight: float, unfairness: str = "group", browsing: BrowsingModel | None = None
) -> Objective:
    """Return an objective plus ``weight`` times the expected-exposure loss of its policy.

    Parameters
    ----------
    objective
        any; itself where the weight is 0. The unfairness takes its kind of gradient where it has one.
    weight
        at least 0.
    unfairness
        ``group`` or ``individual``.
    browsing
        of the unfairness; None takes the objective's where it has one, else GERR(0.5, 0.5).

    Raises
    ------
    ConfigError
        for a negative weight, and another word.
    """
    choose("objective.unfairness", unfairness, UNFAIRNESS)
    if check_weight(weight) == 0:
        return objective
    model = getattr(objective, "browsing", None) if browsing is None else browsing
    kind, draws = getattr(objective, "gradient", "exact"), getattr(objective, "draws", 1000)
    return Mixture(objective, ExactExposure(unfairness, kind, draws, model), weight)


def check_weight(weight: float) -> float:
    """Return a weight; `ConfigError` unless it is finite and at least 0."""
    if not (math.isfinite(weight) and weight >= 0):
        raise ConfigError(f"objective.fairness_weight: found {weight}; expected a number of at least 0")
    return weight


def _together(one: Any, other: Any) -> bool:
    """Say whether both are functions of the exposure of one policy."""
    if not all(hasattr(objective, "terms") for objective in (one, other)):
        return False
    return bool(one.model() == other.model() and one.gradients() == other.gradients())
