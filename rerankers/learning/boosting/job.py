"""What is to be fitted, named by content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rerankers.learning.boosting.parameters import engine
from rerankers.learning.checked import fit_name

if TYPE_CHECKING:
    from rerankers.learning.boosting.options import LightGBM
    from rerankers.learning.learner import Monitor
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The arguments of a fit."""

    options: LightGBM
    train: LearningRows
    objective: Objective
    valid: LearningRows | None
    monitor: Monitor | None
    seed: int

    def fingerprint(self) -> str:
        """Return the name that checkpoints carry, see `fit_name`."""
        made = str(engine().__version__)
        options = replace(self.options, checkpoint_every=1)
        return fit_name(made, options, self.objective, self.train, self.valid, self.monitor, self.seed)
