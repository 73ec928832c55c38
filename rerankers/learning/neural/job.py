"""What is to be fitted, named by content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from rerankers.learning.checked import fit_name

if TYPE_CHECKING:
    from rerankers.learning.learner import Monitor
    from rerankers.learning.neural.options import Training
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The arguments of a fit."""

    options: Training
    train: LearningRows
    objective: Objective
    valid: LearningRows | None
    monitor: Monitor | None
    seed: int

    def fingerprint(self, device: torch.device) -> str:
        """Return the name that checkpoints carry, see `fit_name`."""
        options = replace(self.options, checkpoint_every=1)
        made = (str(torch.__version__), device.type, type(options).__name__)
        return fit_name(made, options, self.objective, self.train, self.valid, self.monitor, self.seed)
