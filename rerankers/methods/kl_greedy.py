"""Calibrated reranking (Steck 2018): relevance against the divergence of the shown groups from a target, greedily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.checks import check_rank
from rerankers.methods.belief import probabilities
from rerankers.methods.tilting.aims import aims_of, attributes_of, check_between, check_unknown
from rerankers.methods.tilting.greedy import minmax, ranked
from rerankers.methods.tilting.kinds import kinds_of
from rerankers.methods.tilting.problem import group_rows
from rerankers.policies import zscore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

SCORES = ("minmax", "zscore", "probability", "raw")


@dataclass(frozen=True, slots=True)
class KlGreedy:
    r"""Rank so that the groups of the first documents follow a target (Steck 2018, "Calibrated recommendations").

    Each document is the one that makes (1 - w) \sum_{i \in I} s_i - w KL(p || (1 - a) q_I + a p) largest, with p the
    target, q_I the groups of the documents I so far, and a the smoothing. The greedy set is within 1 - 1/e of the best
    one, by submodularity.

    Attributes
    ----------
    fairness_weight
        w in [0, 1]: 0 ranks by score alone, 1 by the target alone (among equally good documents by score).
    smoothing
        a in (0, 1): keeps the divergence finite while groups are missing; Steck takes 0.01.
    cutoff
        how many ranks are chosen so; the others follow by score. None: all.
    scores
        what s is, since the weight sets it against nats: ``minmax`` (scaled to [0, 1] within the query, all 1/2 where
        they are equal), ``zscore``, ``probability`` (of relevance), or ``raw`` (the block's values as they are).
    attributes
        that have a target; None takes all, and sums their divergences.
    unknown
        as in `kl_tilt`. Documents outside of the target change no share.

    Notes
    -----
    A document in several groups counts for each by its part of its weights. Documents with the same groups are a kind,
    of which only the best one left can be next: of order k M G for M kinds, k G^2 where each has one group.
    """

    fairness_weight: float = 0.5
    smoothing: float = 0.01
    cutoff: int | None = None
    scores: str = "minmax"
    attributes: list[str] | None = None
    unknown: str = "target"
    tier: ClassVar[str] = "given_groups"
    uses_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_between("fairness_weight", self.fairness_weight)
        if not 0.0 < self.smoothing < 1.0:
            raise ConfigError(f"method.smoothing: found {self.smoothing}; expected a number above 0 and below 1")
        check_rank("method.cutoff", self.cutoff)
        choose("method.scores", self.scores, SCORES)
        check_unknown(self.unknown)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the greedy ranking; see `reranked`."""
        return self.reranked(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts; see `reranked`."""
        return self.reranked(block)

    def explain(self, block: Block, row: int) -> dict[str, Any]:
        """Return the groups of the first documents beside the target; see `rerankers.methods.explanation`."""
        from rerankers.methods.own_accounts import prefix_account

        attributes = attributes_of(block, self.attributes, "kl_greedy")
        groups = group_rows(block.candidates, aims_of(block, attributes, self.unknown))
        rankings = self.policy(block).rankings
        items = rankings.item[rankings.item_ptr[row] : rankings.item_ptr[row + 1]].astype(np.int64)
        score = self._scores(block)[block.candidates.row(row)]
        return prefix_account(block, attributes, groups, items, row, score)

    def reranked(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts of `rerankers.methods.tilting.problem.GroupRows`.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the attributes that the method names.
        InputError
            as the target.
        """
        from rerankers.methods.tilting.greedy_loops import steck_order

        groups = group_rows(
            block.candidates, aims_of(block, attributes_of(block, self.attributes, "kl_greedy"), self.unknown)
        )
        score = self._scores(block)

        def order(row: int, docs: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
            own = slice(groups.columns[row], groups.columns[row + 1])
            kinds = kinds_of(groups.parts_of(row), by_score)
            n = len(by_score)
            chosen = np.empty(n if self.cutoff is None else min(self.cutoff, n), np.int64)
            steck_order(
                score[docs], kinds.vector, kinds.start, kinds.document, kinds.place,
                groups.target[own], groups.part[own], float(self.fairness_weight), self.smoothing, chosen,
            )  # fmt: skip
            return chosen

        return ranked(block, score, order), groups.counts

    def _scores(self, block: Block) -> NDArray[np.float64]:
        value, indptr = block.relevance.value, block.candidates.indptr
        if self.scores == "probability":
            return probabilities(block)
        if self.scores == "zscore":
            return zscore(indptr, value)
        return value if self.scores == "raw" else minmax(indptr, value)
