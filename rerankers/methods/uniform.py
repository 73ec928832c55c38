"""Every order of the candidates equally likely: maximal equality of exposure, blind to relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.policies import PlackettLuce as PlackettLucePolicy

if TYPE_CHECKING:
    from rerankers.values.block import Block


@dataclass(frozen=True, slots=True)
class Uniform:
    """Shuffle the candidates uniformly (Plackett-Luce with equal logits, whose exposure is exact)."""

    tier: ClassVar[str] = "blind"

    def policy(self, block: Block) -> PlackettLucePolicy:
        """Return the uniform policy."""
        return PlackettLucePolicy(block.candidates, np.zeros(block.candidates.nnz), block.stream)
