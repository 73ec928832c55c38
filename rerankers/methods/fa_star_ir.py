"""FA*IR (Zehlike et al. 2017): by merit, but in every prefix as many protected documents as a fair lottery has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.checks import check_rank
from rerankers.methods.prefixes.labels import OUTSIDE, codes_of, one_attribute, reranked, said
from rerankers.methods.prefixes.tables import fa_star_ir_table, pool_table
from rerankers.methods.targets.base import all_but_unknown
from rerankers.methods.tilting.aims import aims_of, check_between
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

UNKNOWNS = ("unprotected", "protected", "keep")


@dataclass(frozen=True, slots=True)
class FaStarIr:
    """Rank by score, but never fewer protected documents in a prefix than its minimum (FA*IR, Zehlike et al. 2017).

    Rank by rank the best document left is taken or, where the prefix would fall below its minimum, the best protected
    one. Among all rankings that keep the minima, none ranks the documents within a group otherwise, or loses less.

    Attributes
    ----------
    protected
        the name of the protected group; it must be named. All other known groups are not protected.
    attribute
        whose groups count; None takes the only one.
    p
        the wanted share of protected documents; None takes it from the block's target, query by query.
    alpha
        the chance that a ranking made by a fair lottery fails, in (0, 1).
    adjusted
        for the k tests of a ranking, see `rerankers.methods.fa_star_ir_table`.
    published
        adjusted as the published code does, whose failure probabilities are too low where the last minimum rises.
    pool
        the lottery draws from the candidates without replacement (hyperFA*IR, Cartier van Dissel et al. 2025) in place
        of a population of share p: the wanted share is that of the candidates.
    cutoff
        k, the ranks that have minima; the others follow by score. None: all.
    unknown
        what documents without a known group are: ``unprotected``, ``protected``, or left at their ranks (``keep``), the
        others being ranked around them.
    """

    protected: str | None = None
    attribute: str | None = None
    p: float | None = None
    alpha: float = 0.1
    adjusted: bool = True
    published: bool = False
    pool: bool = False
    cutoff: int | None = None
    unknown: str = "unprotected"
    tier: ClassVar[str] = "given_groups"

    def __post_init__(self) -> None:
        if self.p is not None:
            check_between("p", self.p)
        if not 0.0 < self.alpha < 1.0:
            raise ConfigError(f"method.alpha: found {self.alpha}; expected a number above 0 and below 1")
        check_rank("method.cutoff", self.cutoff)
        choose("method.unknown", self.unknown, UNKNOWNS)
        if self.pool and (self.p is not None or self.published):
            found = "method.p" if self.p is not None else "method.published=true"
            raise ConfigError(f"method.pool: found true with {found}; expected it without, the pool has its own share")

    @property
    def uses_target(self) -> bool:
        """Whether the wanted share is that of the job's target."""
        return self.p is None and not self.pool

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the fair ranking; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts.

        They are ``rows_short_of_protected`` (all protected documents stand in front, but do not suffice), and
        ``documents_in_several_groups``, ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the protected one.
        InputError
            as the target, where p comes from it.
        """
        attribute, counts = one_attribute(block, self.attribute, "fa_star_ir"), Counter[str]()
        code, share = self._protected(block, attribute, counts)

        def rule(row: int, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            minima = self._minima(float(share[row]), len(members), int(group.sum()))
            order, short = fair_order(group == 1, minima)
            counts["rows_short_of_protected"] += short
            return order

        policy = reranked(block, code, rule)
        return policy, said(counts)

    def explain(self, block: Block, row: int) -> dict[str, Any]:
        """Return the ranks of a row where a minimum binds; see `rerankers.methods.explanation`."""
        from rerankers.methods.own_accounts import minima_account

        attribute, counts, told = one_attribute(block, self.attribute, "fa_star_ir"), Counter[str](), {}
        code, share = self._protected(block, attribute, counts)

        def rule(at: int, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            minima = self._minima(float(share[at]), len(members), int(group.sum()))
            order, _ = fair_order(group == 1, minima)
            if at == row:
                told.update(minima_account(minima, group == 1, order, np.nan if self.pool else float(share[at])))
            return order

        reranked(block, code, rule)
        return told

    def _protected(
        self, block: Block, attribute: str, counts: Counter[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return 1 for protected documents, 0 for others and `OUTSIDE` (nnz,), and the wanted share of each row."""
        alignment = block.groups[attribute]
        names = [group for group in alignment.groups if group != UNKNOWN]
        if self.protected is None:
            raise ConfigError(
                f"method.protected: found null; expected one of the groups {', '.join(names)}. "
                "Type: method.protected=NAME"
            )
        choose("method.protected", self.protected, names)
        at = alignment.groups.index(self.protected)
        code = codes_of(block.candidates, alignment, all_but_unknown(alignment.groups), counts)
        unlike = {"unprotected": 0, "protected": 1, "keep": OUTSIDE}[self.unknown]
        if self.unknown != "keep":
            del counts["documents_left_in_place"]
        share = np.full(len(block.candidates), 0.0 if self.p is None else self.p)
        if self.uses_target:
            share = np.minimum(aims_of(block, [attribute], "target")[0].target[:, at], 1.0)
        return np.where(code == OUTSIDE, unlike, (code == at).astype(np.int64)), share

    def _minima(self, share: float, members: int, protected: int) -> NDArray[np.int64]:
        k = members if self.cutoff is None else min(self.cutoff, members)
        if self.pool:
            return pool_table(k, protected, members, self.alpha, self.adjusted)
        return fa_star_ir_table(k, share, self.alpha, self.adjusted, published=self.published)


def fair_order(protected: NDArray[np.bool_], minima: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
    """Order documents by score, but so that prefixes hold their minima of protected ones.

    Parameters
    ----------
    protected
        bool (n,), of the documents by score.
    minima
        int64 (k,), k at most n: not decreasing, and rising by 1 a rank at most.

    Returns
    -------
    order
        int64 (n,), places in ``protected``.
    short
        whether there were fewer protected documents than a minimum.
    """
    inside, outside = np.flatnonzero(protected).tolist(), np.flatnonzero(~protected).tolist()
    held = free = 0
    order: list[int] = []
    for minimum in minima.tolist():
        forced = held < minimum and held < len(inside)
        if forced or free == len(outside) or (held < len(inside) and inside[held] < outside[free]):
            order.append(inside[held])
            held += 1
        else:
            order.append(outside[free])
            free += 1
    rest = sorted(inside[held:] + outside[free:])
    return np.array(order + rest, dtype=np.int64), bool(len(minima)) and int(minima.max()) > len(inside)
