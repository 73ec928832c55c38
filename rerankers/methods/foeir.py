"""Fairness of exposure (Singh & Joachims 2018): the most useful policy with fair shares of exposure for two groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InfeasibleError, choose
from rerankers.exposure import RBP
from rerankers.exposure.optimal import foeir
from rerankers.methods.belief import probabilities
from rerankers.methods.prefixes.labels import OUTSIDE, codes_of, one_attribute, said
from rerankers.methods.prefixes.mixtures import mixture
from rerankers.methods.targets.base import all_but_unknown
from rerankers.methods.targets.believed import aimed_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import BrowsingModel
    from rerankers.policies import Mixture
    from rerankers.values import Block

CONSTRAINTS, INFEASIBLE, UNKNOWNS = ("parity", "treatment", "impact"), ("error", "parity"), ("other", "keep")


@dataclass(frozen=True, slots=True)
class Foeir:
    """Maximise expected relevance where exposure is fair to two groups, in expectation, query by query.

    Singh & Joachims (KDD 2018, "Fairness of exposure in rankings"), solved exactly and without the linear program by
    `rerankers.exposure.foeir`: at most two rankings a query.

    Attributes
    ----------
    constraint
        ``parity``: equal mean exposure of both groups; ``treatment``: mean exposure in proportion to the mean
        probability of relevance; ``impact``: mean of exposure times probability in proportion to it.
    group
        one of the groups, the documents of all others being the other one; None where an attribute has two groups.
    attribute
        whose groups count; None takes the only one.
    infeasible
        where no policy is fair, as may be under treatment and impact: ``error``, or ``parity``, which always is
        possible, in such queries. Likewise in queries of a group that has no expected relevance at all.
    unknown
        documents without a known group are of the ``other`` group, which needs ``group``, or ``keep`` their ranks, the
        others being ranked around them.

    Notes
    -----
    Exposure must depend on ranks alone, which holds for ``browsing=rbp``, ``dcg``, ``positions`` and ``topk_set``.
    Queries with documents of one group only are ranked by probability, and counted.
    """

    constraint: str = "parity"
    group: str | None = None
    attribute: str | None = None
    infeasible: str = "error"
    unknown: str = "keep"
    tier: ClassVar[str] = "given_groups"

    def __post_init__(self) -> None:
        choose("method.constraint", self.constraint, CONSTRAINTS)
        choose("method.infeasible", self.infeasible, INFEASIBLE)
        choose("method.unknown", self.unknown, UNKNOWNS)
        if self.unknown == "other" and self.group is None:
            raise ConfigError("method.unknown: found other without method.group; expected the group it is not of")

    def policy(self, block: Block) -> Mixture:
        """Return the policy; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts.

        They are ``rows_of_one_group``, ``rows_infeasible`` (with ``infeasible=parity``), and
        ``documents_in_several_groups``, ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            for browsing that depends on documents, and where the block has no groups, or more than two and none named.
        InfeasibleError
            where no policy is fair in some query, unless ``infeasible=parity``.
        """
        code, counts = self._sides(block)
        model, rho, over = aimed_model(block), probabilities(block), block.candidates
        weights, orders = [], []
        for row, n in enumerate(over.lengths.tolist()):
            part = over.row(row)
            position = positions(model, n)
            by_rho = np.lexsort((-block.relevance.value[part], -rho[part])).astype(np.int64)
            inside = np.flatnonzero(code[part][by_rho] != OUTSIDE)
            members = by_rho[inside]
            weight, found = self._fair(rho[part][members], code[part][members], position[inside], counts, row)
            rankings = np.tile(by_rho, (len(weight), 1))
            rankings[:, inside] = members[found]
            weights.append(weight)
            orders.append(rankings)
        return mixture(block, weights, orders), said(counts)

    def _sides(self, block: Block) -> tuple[NDArray[np.int64], Counter[str]]:
        """Return 0 or 1 for the documents of both groups, `OUTSIDE` for others (nnz,), and counts."""
        alignment = block.groups[one_attribute(block, self.attribute, "foeir")]
        about, counts = all_but_unknown(alignment.groups), Counter[str]()
        names = [name for name, known in zip(alignment.groups, about, strict=True) if known]
        if self.group is not None:
            choose("method.group", self.group, names)
        elif len(names) > 2:
            raise ConfigError(
                f"method.group: found null; expected one of the groups {', '.join(names)}. Type: method.group=NAME"
            )
        code = codes_of(block.candidates, alignment, about, counts)
        first = alignment.groups.index(names[0] if self.group is None else self.group) if names else 0
        unlike = OUTSIDE
        if self.unknown == "other":
            unlike = 1
            del counts["documents_left_in_place"]
        return np.where(code == OUTSIDE, unlike, (code != first).astype(np.int64)), counts

    def _fair(
        self,
        rho: NDArray[np.float64],
        side: NDArray[np.int64],
        position: NDArray[np.float64],
        counts: Counter[str],
        row: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return weights (m,) and rankings (m, n) of documents by probability."""
        if len(np.unique(side)) < 2:
            counts["rows_of_one_group"] += len(side) > 0
            return np.ones(1), np.arange(len(side), dtype=np.int64)[None, :]
        try:
            if self.constraint != "parity" and min(rho[side == g].sum() for g in (0, 1)) <= 0.0:
                raise InfeasibleError("relevance: found a group without any expected relevance; expected some")
            found = foeir(rho, side, position, self.constraint)
        except InfeasibleError as error:
            if self.infeasible == "error":
                raise InfeasibleError(f"row {row}: {error}. Or set method.infeasible=parity.") from error
            counts["rows_infeasible"] += 1
            found = foeir(rho, side, position, "parity")
        return found.weights, found.rankings


def positions(model: BrowsingModel, n: int) -> NDArray[np.float64]:
    """Return the weights of ranks 0..n - 1 under a browsing model that looks at ranks alone: float64 (n,).

    Raises
    ------
    ConfigError
        for a model that depends on the relevance of documents, or on documents.
    """
    if model.needs_grades or getattr(model, "word", "") == "cascade":
        raise ConfigError(
            f"browsing: found {model}; expected one whose exposure depends on ranks alone for method=foeir: "
            "rbp, dcg, positions or topk_set"
        )
    bound = model.bind(None, np.array([0, n], dtype=np.int64))
    weight = np.ones(n) if bound.position is None else bound.position[:n]
    patience = float(model.patience) if isinstance(model, RBP) else 1.0
    positional: NDArray[np.float64] = weight * np.power(patience, np.arange(n))
    return positional
