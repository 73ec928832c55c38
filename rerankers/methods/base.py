"""What every reranker is: a frozen dataclass whose fields are its options, and one function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from rerankers.policies import Policy
    from rerankers.values import Candidates
    from rerankers.values.block import Block

TIERS = ("blind", "metadata", "predicted_groups", "given_groups", "judged")
GROUP_TIERS = ("given_groups", "judged")
"""The tiers whose methods are given the true groups."""


def check_method(method: object, where: str = "method") -> None:
    """Raise `ConfigError` unless an object is a method: it says its tier and makes policies."""
    if isinstance(method, type):
        raise ConfigError(f"{where}: found the class {method.__name__}; expected an object of it: {method.__name__}()")
    tier = getattr(method, "tier", None)
    if tier not in TIERS:
        raise ConfigError(
            f"{where}: found {type(method).__name__} with tier {tier!r}; expected a class attribute tier, one of "
            f"{', '.join(TIERS)}"
        )
    if not callable(getattr(method, "policy", None)):
        raise ConfigError(f"{where}: found {type(method).__name__} without policy; expected policy(self, block)")


def answered(method: Method, block: Block) -> tuple[Policy, Mapping[str, int]]:
    """Return a method's policy, and what it counted: methods that count anything have ``counted(block)`` as well."""
    counted = getattr(method, "counted", None)
    return (method.policy(block), {}) if counted is None else counted(block)


def check_policy(policy: object, method: object, block: Block) -> None:
    """Raise `ConfigError` unless what a method has returned is a policy over the block's candidates."""
    over = getattr(policy, "over", None)
    if over is None or not callable(getattr(policy, "sample", None)):
        raise ConfigError(
            f"method {type(method).__name__}: its policy(block) returned {type(policy).__name__}; expected a policy, "
            "for instance rerankers.policies.PlackettLuce(block.candidates, logits, block.stream)"
        )
    if not np.array_equal(over.query, block.candidates.query) or not np.array_equal(
        over.lengths, block.candidates.lengths
    ):
        raise ConfigError(f"method {type(method).__name__}: its policy is not over the candidates of the block")
    if not _same_documents(over, block.candidates):
        raise ConfigError(
            f"method {type(method).__name__}: its policy is over other documents than the candidates of the block, or "
            "over one of them twice; expected each candidate of a query once"
        )


def _same_documents(over: Candidates, candidates: Candidates) -> bool:
    """Return whether every row has the same documents, in any order; rows are of the same lengths."""
    if np.array_equal(over.doc, candidates.doc):
        return True
    row = candidates.row_index
    return np.array_equal(over.doc[np.lexsort((over.doc, row))], candidates.doc[np.lexsort((candidates.doc, row))])


class Method(Protocol):
    """Turns a block of queries into a policy: a distribution over rankings for each of them.

    ``tier`` says what information the method uses, one of `TIERS`. A method sees a `Block`, which holds no
    judgments of the queries it ranks.
    """

    tier: ClassVar[str]

    def policy(self, block: Block) -> Policy:
        """Return the policy over the block's candidates."""
        ...
