"""Thompson sampling: draw what may be relevant from the beliefs, rank it first, shuffle what is equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rerankers.methods.belief import probabilities
from rerankers.policies.label_shuffle import LabelShuffle

if TYPE_CHECKING:
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class Thompson:
    """Draw relevance labels for every ranking, and shuffle within equal labels (Singh, Kempe & Joachims 2021).

    Attributes
    ----------
    at_least_one
        draw only labels with a relevant document, as queries of test collections have one; exact, without rejection.

    Notes
    -----
    Labels are independent, with the chances that the block believes. Under position-based browsing the exposure is the
    mean of the ideal policies' over what may be relevant, so that no policy has a lower expected loss of exposure, of
    documents or of groups. Under cascades, where exposure depends on relevance too, `scenario_optimal` may be lower.
    Exposure under any browsing model is exact; see `rerankers.policies.label_shuffle`.
    """

    at_least_one: bool = True
    tier: ClassVar[str] = "blind"

    def policy(self, block: Block) -> LabelShuffle:
        """Return the policy of a block's beliefs; blocks of scores have guessed probabilities (`belief`)."""
        return LabelShuffle(block.candidates, probabilities(block), block.stream, self.at_least_one)
