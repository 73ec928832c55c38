"""PM-2 (Dang & Croft 2012): ranks as seats, given to groups in proportion to their target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.exposure.checks import check_rank
from rerankers.methods.belief import probabilities
from rerankers.methods.fusion.columns import ranks, reciprocal
from rerankers.methods.fusion.memberships import memberships
from rerankers.methods.tilting.aims import aims_of, attributes_of, check_between, check_unknown
from rerankers.methods.tilting.greedy import ranked
from rerankers.policies import static

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.tilting.problem import Aim
    from rerankers.policies import Mixture
    from rerankers.values import Block

CONSTANT = 60.0  # of reciprocal rank fusion, as published


@dataclass(frozen=True, slots=True)
class Pm2:
    r"""Fill ranks by the Sainte-Laguë quotients of groups, each document sharing its seat among the groups it covers.

    Dang & Croft (SIGIR 2012, "Diversity by proportionality"): with v the target's shares, s the parts of seats that
    groups hold and q_i = v_i / (2 s_i + 1), the group i* of greatest q is served by the document that maximises
    w q_{i*} P(d|i*) + (1 - w) \sum_{i \ne i*} q_i P(d|i); then s_i += P(d|i) / \sum_j P(d|j). P(d|i) is the probability
    of relevance times the part of the document's weights that is in group i.

    Attributes
    ----------
    focus
        w in [0, 1], how much the group whose turn it is counts.
    attributes
        that have a target; None takes all. Each gives a ranking, and several are fused by reciprocal ranks.
    cutoff
        the ranks that are chosen so; the others follow by probability. None: all.
    unknown
        as in `kl_tilt`. Documents outside of the target come last.

    Notes
    -----
    When no document covers the group whose turn it is, the next group has it. Ties go to the higher probability, then
    to the document that stands first.
    """

    focus: float = 0.5
    attributes: list[str] | None = None
    cutoff: int | None = None
    unknown: str = "target"
    tier: ClassVar[str] = "given_groups"
    uses_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_between("focus", self.focus)
        check_rank("method.cutoff", self.cutoff)
        check_unknown(self.unknown)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the proportional ranking.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the attributes that the method names.
        InputError
            as the target.
        """
        aims = aims_of(block, attributes_of(block, self.attributes, "pm2"), self.unknown)
        found = [self._ranked(block, aim) for aim in aims]
        if len(found) == 1:
            return found[0]
        place = np.empty((len(found), block.candidates.nnz))
        for ranking, own in zip(found, place, strict=True):
            own[ranking.rankings.flat] = -ranking.rankings.rank
        indptr = block.candidates.indptr
        fused = reciprocal(np.array([ranks(indptr, own) for own in place]), np.ones(len(found)), CONSTANT)
        return static(block.candidates, fused, block.stream)

    def _ranked(self, block: Block, aim: Aim) -> Mixture:
        """Return the ranking for one attribute."""
        rho, doc = probabilities(block), block.candidates.doc

        def order(row: int, docs: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
            groups, weight = memberships(aim.alignment, doc[docs][by_score], aim.about)
            total = weight.sum(axis=1, keepdims=True)
            covered = rho[docs][by_score, None] * weight / np.where(total > 0.0, total, 1.0)
            upto = len(by_score) if self.cutoff is None else min(self.cutoff, len(by_score))
            return by_score[proportional(covered, aim.target[row][groups], self.focus, upto)]

        return ranked(block, rho, order)


def proportional(
    covered: NDArray[np.float64], share: NDArray[np.float64], focus: float, ranks: int
) -> NDArray[np.int64]:
    """Return the places of documents that PM-2 puts first, at most ``ranks``.

    Parameters
    ----------
    covered
        float64 (n, G), P(d|i) of documents by score.
    share
        float64 (G,), at least 0. Documents that cover no group with a share are not returned.
    focus, ranks
        as in `Pm2`.
    """
    covered = covered * (share > 0.0)
    total = covered.sum(axis=1)
    left = total > 0.0
    seats = np.zeros(len(share))
    order: list[int] = []
    while len(order) < ranks and np.any(left):
        quotient = share / (2.0 * seats + 1.0)
        served = np.any(covered[left] > 0.0, axis=0)
        turn = int(np.argmax(np.where(served, quotient, -1.0)))
        heed = (1.0 - focus) * quotient
        heed[turn] = focus * quotient[turn]
        worth = np.where(left & (covered[:, turn] > 0.0), (covered * heed).sum(axis=1), -1.0)
        at = int(np.argmax(worth))
        order.append(at)
        left[at] = False
        seats += covered[at] / total[at]
    return np.array(order, dtype=np.int64)
