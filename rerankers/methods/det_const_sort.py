"""DetConstSort and its relatives (Geyik et al. 2019): by merit, with wanted shares of groups in every prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.checks import check_rank
from rerankers.methods.prefixes.geyik import SORT, VARIANTS, greedy_order, sorted_order, violations
from rerankers.methods.prefixes.labels import Labels, reranked, said
from rerankers.methods.tilting.aims import check_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class DetConstSort:
    """Rank by score where every prefix of k documents should hold from floor(k p) to ceil(k p) of a group.

    The rankings of Geyik, Ambler & Kenthapadi (KDD 2019, "Fairness-aware ranking in search and recommendation
    systems"). p are the shares of the block's target.

    Attributes
    ----------
    variant
        ``det_const_sort``: documents are inserted when a minimum demands them, and move up past worse ones that can
        wait. ``det_greedy``, ``det_cons``, ``det_relaxed``: the best document of the groups below their minimum, else
        of those below their maximum, the latter two preferring groups that will need one soon.
    published
        of ``det_const_sort``: let documents wait one rank too long, as the published listing does.
    attribute
        whose groups count; None takes the only one.
    cutoff
        the ranks that are chosen so; the others follow by score. None: all.
    unknown
        ``target``: documents of the group "unknown" are a group like any other where the target speaks of it;
        ``keep``: they stay at their ranks, the others being ranked around them.

    Notes
    -----
    ``det_greedy`` may miss minima with four groups or more, and every variant does where a group has too few documents.
    ``det_const_sort`` has no maxima. What was missed is counted.
    """

    variant: str = SORT
    published: bool = False
    attribute: str | None = None
    cutoff: int | None = None
    unknown: str = "target"
    tier: ClassVar[str] = "given_groups"
    uses_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        choose("method.variant", self.variant, VARIANTS)
        if self.published and self.variant != SORT:
            raise ConfigError(f"method.published: found true with variant {self.variant}; expected {SORT}")
        check_rank("method.cutoff", self.cutoff)
        check_unknown(self.unknown)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the ranking; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts.

        They are ``rows_below_minimum`` and ``rows_above_maximum`` (of the first ``cutoff`` ranks), and
        ``rows_without_target`` (left by score), ``documents_in_several_groups``, ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the named ones.
        InputError
            as the target.
        """
        labels = Labels.of(block, self.attribute, self.unknown, "det_const_sort")
        counts = labels.counts

        def rule(row: int, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            total = float(labels.share[row].sum())
            counts["rows_without_target"] += total <= 0.0
            if total <= 0.0:
                return np.arange(len(members), dtype=np.int64)
            score = block.relevance.value[block.candidates.row(row)][members]
            order, low, high = self._order(group, score, labels.share[row] / total)
            counts["rows_below_minimum"] += low
            counts["rows_above_maximum"] += high
            return order

        policy = reranked(block, labels.code, rule)
        return policy, said(counts)

    def _order(
        self, group: NDArray[np.int64], score: NDArray[np.float64], share: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], bool, bool]:
        """Return the ranking of a row, and whether it misses a minimum or a maximum."""
        ranks = len(group) if self.cutoff is None else min(self.cutoff, len(group))
        if self.variant == SORT:
            first = sorted_order(group, score, share, ranks, self.published)
        else:
            first = greedy_order(group, share, ranks, self.variant)
        left = np.ones(len(group), np.bool_)
        left[first] = False
        order = np.concatenate([first, np.flatnonzero(left)])
        return order, *violations(order, group, share, ranks)
