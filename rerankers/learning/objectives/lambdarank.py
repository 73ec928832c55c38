"""LambdaRank (Burges et al. 2006): LightGBM's own where it is the learner, ours elsewhere and in mixtures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rerankers._base.errors import ConfigError
from rerankers.learning.objectives.lambda_loss import LambdaLoss, LambdaLossBound, check_label_gain

if TYPE_CHECKING:
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True)
class LambdaRank:
    """Pairwise logistic losses, weighted by the change in NDCG of a swap.

    Attributes
    ----------
    truncation
        pairs of which neither is among so many first ranks do not count.
    norm
        whether LightGBM normalises its slopes by query and by distance of scores; ours never are.
    sigmoid
        steepness of the logistic loss, above 0.
    label_gain
        gains of grades 0, 1, …; None for 2^grade - 1, as LightGBM has it.
    """

    truncation: int = 30
    norm: bool = True
    sigmoid: float = 1.0
    label_gain: list[float] | None = None
    scores: ClassVar[str] = "score"
    needs_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.truncation < 1:
            raise ConfigError(f"objective.truncation: found {self.truncation}; expected at least 1")
        if not (math.isfinite(self.sigmoid) and self.sigmoid > 0):
            raise ConfigError(f"objective.sigmoid: found {self.sigmoid}; expected a positive number")
        check_label_gain(self.label_gain)

    def native(self) -> Mapping[str, Any]:
        """Return LightGBM's parameters for it; ``label_gain`` is left to LightGBM where it is None."""
        parameters: dict[str, Any] = {
            "objective": "lambdarank",
            "lambdarank_truncation_level": self.truncation,
            "lambdarank_norm": self.norm,
            "sigmoid": self.sigmoid,
        }
        return parameters if self.label_gain is None else parameters | {"label_gain": list(self.label_gain)}

    def bind(self, rows: LearningRows, seed: int = 0) -> LambdaLossBound:
        """Return `LambdaLoss` with LambdaRank's weights for these rows: what other learners and mixtures minimise."""
        loss = LambdaLoss("lambdarank", self.truncation, self.sigmoid, label_gain=self.label_gain)
        return loss.bind(rows, seed)
