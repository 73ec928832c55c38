"""Equal-opportunity ranking (Rastogi & Joachims 2024): each group the same part of its expected relevance, everywhere.

Rank by rank, the relevance that the prefix holds of a group over what the group has in all is kept as equal as can be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.exposure.checks import check_rank
from rerankers.methods.belief import probabilities
from rerankers.methods.prefixes.labels import Labels, reranked, said
from rerankers.methods.tilting.aims import check_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class EqualOpportunity:
    r"""Make the parts of groups' expected relevance that a prefix holds as equal as possible, at every prefix.

    With r_g(k) the sum of probabilities of relevance of the first k documents over group g, divided by that over all
    its candidates, the next document is the best one of the group that makes \max_g r_g - \min_g r_g smallest
    (Rastogi & Joachims, EAAMO 2024, "Fairness in ranking under disparate uncertainty"). Unlike demographic parity it
    does not depend on how many candidates a group has, and unlike ranking by probability it does not give way to
    groups about which more is known.

    Attributes
    ----------
    attribute
        whose groups count; None takes the only one.
    cutoff
        the ranks that are chosen so; the others follow by probability. None: all.
    unknown
        ``target``: documents without a known group are one more group, where ``groups.unknown=count``; ``keep``: they
        stay at their ranks.

    Notes
    -----
    Among groups that serve as well, the document with the higher probability is taken, then the one that comes first.
    Documents of groups without any expected relevance come last. Of order n G^2 after sorting. Where a block has scores
    in place of probabilities, these are guessed from them, see `rerankers.methods.belief.probabilities`.
    """

    attribute: str | None = None
    cutoff: int | None = None
    unknown: str = "target"
    tier: ClassVar[str] = "given_groups"

    def __post_init__(self) -> None:
        check_rank("method.cutoff", self.cutoff)
        check_unknown(self.unknown)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the ranking; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts ``documents_in_several_groups`` and ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the named ones.
        """
        labels, rho = Labels.equal(block, self.attribute, self.unknown, "equal_opportunity"), probabilities(block)

        def rule(row: int, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            ranks = len(members) if self.cutoff is None else min(self.cutoff, len(members))
            return equalised(rho[block.candidates.row(row)][members], group, ranks)

        policy = reranked(block, labels.code, rule, rho)
        return policy, said(labels.counts)


def equalised(rho: NDArray[np.float64], group: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """Order documents so that every prefix holds parts of the groups' relevance that are as equal as can be.

    Parameters
    ----------
    rho
        float64 (n,) in [0, 1], descending.
    group
        int64 (n,).
    ranks
        how many are chosen so; the others follow as they are.

    Returns
    -------
    int64 (n,), places in ``rho``.
    """
    totals = {int(g): float(rho[group == g].sum()) for g in np.unique(group)}
    groups = [g for g, total in totals.items() if total > 0.0]
    queue = [deque(np.flatnonzero(group == g).tolist()) for g in groups]
    gain = rho.tolist()
    part = [0.0] * len(groups)
    order: list[int] = []
    while len(order) < ranks and any(queue):
        choices = []
        for at, left in enumerate(queue):
            if left:
                after = part.copy()
                after[at] += gain[left[0]] / totals[groups[at]]
                # parts that differ by rounding are equal
                choices.append((round(max(after) - min(after), 12), left[0], at, after[at]))
        _, document, at, reached = min(choices)
        order.append(document)
        part[at] = reached
        queue[at].popleft()
    rest = np.ones(len(rho), np.bool_)
    rest[order] = False
    return np.concatenate([np.array(order, dtype=np.int64), np.flatnonzero(rest)])
