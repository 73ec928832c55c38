"""What every reranker is: a frozen dataclass whose fields are its options, and one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from rerankers.policies import Policy
    from rerankers.values.block import Block

TIERS = ("blind", "metadata", "predicted_groups", "given_groups", "judged")


class Method(Protocol):
    """Turns a block of queries into a policy: a distribution over rankings for each of them.

    ``tier`` says what information the method uses, one of `TIERS`. A method sees a `Block`, which holds no
    judgments of the queries it ranks.
    """

    tier: ClassVar[str]

    def policy(self, block: Block) -> Policy:
        """Return the policy over the block's candidates."""
        ...
