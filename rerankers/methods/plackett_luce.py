"""Plackett-Luce over what is believed: documents drawn one by one, each in proportion to exp(logit)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rerankers._base.errors import ConfigError
from rerankers.methods.belief import logits
from rerankers.policies import PlackettLuce as PlackettLucePolicy

if TYPE_CHECKING:
    from rerankers.values.block import Block


SMALLEST = 1e-300  # below it logits would overflow


@dataclass(frozen=True, slots=True)
class PlackettLuce:
    """Sample rankings from the Plackett-Luce distribution (Plackett 1975; Luce 1959) of the block's beliefs.

    Attributes
    ----------
    temperature
        divides the logits; towards 0 the policy is the static ranking, towards infinity the uniform shuffle.

    Notes
    -----
    The logit of a document is its score, z-scored within the query, or the logarithm of its probability of relevance,
    over the temperature; see `rerankers.methods.belief`.
    """

    temperature: float = 1.0
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= SMALLEST):
            raise ConfigError(
                f"method.temperature: found {self.temperature}; expected a positive number "
                "(method=deterministic is the limit at 0, method=uniform the limit at infinity)"
            )

    def policy(self, block: Block) -> PlackettLucePolicy:
        """Return the Plackett-Luce policy of the block's beliefs."""
        return PlackettLucePolicy(block.candidates, logits(block) / self.temperature, block.stream)

    def explain(self, block: Block, row: int) -> dict[str, Any]:
        """Return the logits of a row's documents; see `rerankers.methods.explanation`."""
        from rerankers.methods.own_accounts import logit_account

        return logit_account(self.policy(block).logit[block.candidates.row(row)], self.temperature)
