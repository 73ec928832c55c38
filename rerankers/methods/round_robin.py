"""Round-robin over groups: they take turns, equally or in proportion to a target, each with its best document left."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import choose
from rerankers.exposure.checks import check_rank
from rerankers.methods.prefixes.labels import Labels, reranked, said
from rerankers.methods.tilting.aims import check_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

SHARES = ("equal", "target")


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Let groups take turns, over one ranking or across several.

    The next seat goes to the group of the least (seats held + 1/2) / share (Sainte-Laguë): with equal shares groups
    come in rounds, with others as often as their shares demand. Across several rankings the first rank of all of them
    is filled, then the second, and so on, with one count of seats: what one ranking cannot give a group another does
    (as the TKB48 runs for task 2 of TREC Fair Ranking 2021).

    Attributes
    ----------
    shares
        ``equal``, or those of the block's ``target``.
    rankings
        how many a query; the policy draws one of them.
    attribute
        whose groups count; None takes the only one.
    unknown
        ``target``: documents of the group "unknown" are a group like any other where the target speaks of it;
        ``keep``: they stay at their ranks, the others being ranked around them.

    Notes
    -----
    Among groups whose turn it is, the one with the better document left has it. Groups without a share come last.
    """

    shares: str = "equal"
    rankings: int = 1
    attribute: str | None = None
    unknown: str = "target"
    tier: ClassVar[str] = "given_groups"

    def __post_init__(self) -> None:
        choose("method.shares", self.shares, SHARES)
        check_rank("method.rankings", self.rankings, optional=False)
        check_unknown(self.unknown)

    @property
    def uses_target(self) -> bool:
        """Whether shares are those of the job's target."""
        return self.shares == "target"

    def policy(self, block: Block) -> Mixture:
        """Return the policy; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts ``documents_in_several_groups`` and ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the named ones.
        InputError
            as the target.
        """
        found = Labels.of if self.uses_target else Labels.equal
        labels = found(block, self.attribute, self.unknown, "round_robin")

        def rule(row: int, _: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            orders = seated(group, labels.share[row], self.rankings)
            return orders[0] if self.rankings == 1 else orders

        policy = reranked(block, labels.code, rule, draws=self.rankings)
        return policy, said(labels.counts)


def seated(group: NDArray[np.int64], share: NDArray[np.float64], rankings: int) -> NDArray[np.int64]:
    """Return rankings whose ranks are given out in turn: int64 (rankings, n), places in ``group``.

    Parameters
    ----------
    group
        int64 (n,), of the documents by score.
    share
        float64 (G,), at least 0.
    rankings
        how many.
    """
    present = np.unique(group).tolist()
    members = [np.flatnonzero(group == g).tolist() for g in present]
    left = [[deque(own) for own in members] for _ in range(rankings)]
    part = [float(share[g]) for g in present]
    held = [0] * len(present)
    orders = np.empty((rankings, len(group)), np.int64)
    for rank in range(len(group)):
        for ranking, queues in zip(orders, left, strict=True):
            turns = [
                ((held[g] + 0.5) / part[g] if part[g] > 0.0 else np.inf, queue[0], g)
                for g, queue in enumerate(queues)
                if queue
            ]
            _, ranking[rank], taken = min(turns)
            queues[taken].popleft()
            held[taken] += 1
    return orders
