"""The static ranking of what is believed: the first stage as it stands, or a trained model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rerankers.policies import static

if TYPE_CHECKING:
    from rerankers.policies import Mixture
    from rerankers.values.block import Block


@dataclass(frozen=True, slots=True)
class Deterministic:
    """Rank by belief, descending; ties stay in the candidates' order (docno ascending). Nothing is random."""

    tier: ClassVar[str] = "blind"

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the same ranking."""
        return static(block.candidates, block.relevance.value, block.stream)
