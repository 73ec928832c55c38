"""The fairest policy for its utility, or of a floor of utility, if beliefs are taken at their means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.targets import equal_exposure
from rerankers.methods.scenarios.believed import Believed
from rerankers.methods.scenarios.one_vector import OneVector, row_browsing
from rerankers.methods.scenarios.options import (
    check_floor,
    check_search,
    check_weights,
    groups_of,
    membership,
    tier_of,
)
from rerankers.methods.targets.believed import believed_browsing, relevant_grade
from rerankers.policies import Transpositions
from rerankers.policies.optimal import mixture_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rerankers.exposure import Browsing
    from rerankers.exposure.optimal.frank_wolfe import Optimum
    from rerankers.policies import Mixture, Policy
    from rerankers.values import Block

TARGETS = ("mean", "plug_in")
REALISATIONS = ("mixture", "transpositions")


@dataclass(frozen=True, slots=True, eq=False)
class Optimal:
    """What an optimal method finds for a block.

    Attributes
    ----------
    policy
        over the block's candidates.
    gap
        float64 (B,), by how much at most the believed objective of a row lies above its minimum over all policies;
        infinity where nothing certifies it.
    documents, groups, utility
        float64 (B,), what is believed of the policy: the loss of documents, that of groups (0 where they do not
        count), and the utility.
    counts
        of rows: ``not_converged``, where the gap is above the tolerance; and those of
        `rerankers.methods.scenarios.believed.Believed`.
    """

    policy: Policy
    gap: NDArray[np.float64]
    documents: NDArray[np.float64]
    groups: NDArray[np.float64]
    utility: NDArray[np.float64]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ParetoOptimal:
    r"""Minimise a loss of exposure less utility over all policies, each row with a certificate.

    Attributes
    ----------
    individual, group
        weights of the squared distances from the target of documents' exposures and of groups' (Diaz et al. 2020).
        Groups are looked at only where theirs is above 0.
    utility
        weight of the expected utility; 0 asks for the fairest policy, a large one for the static ranking.
    floor
        a share of the static ranking's believed utility that is kept, in place of a weight; null for none.
    attribute
        whose groups; null where there is but one.
    target
        ``mean``: the mean of the equal-exposure target over what may be relevant; ``plug_in``: the target of the
        probabilities taken as grades, documents of equal probability sharing their ranks.
    at_least_one
        every query has a relevant document.
    realise
        ``mixture`` of few rankings, or random ``transpositions`` (position-based browsing only).
    tolerance, max_iterations
        of the search under cascades and for groups; see `rerankers.exposure.optimal.frank_wolfe`.

    Notes
    -----
    Browsing has one continuation a document, that of the mean belief, such as p (1 - u \rho) for GERR; then the mean
    exposure is exact, the utility too, and the loss is that of the mean exposure. Under position-based browsing this
    with ``target=mean`` is the minimum of the expected loss. Under cascades the expected loss has a further part, how
    exposure and target vary with relevance, which `scenario_optimal` takes into account.
    """

    individual: float = 1.0
    group: float = 0.0
    utility: float = 0.0
    floor: float | None = None
    attribute: str | None = None
    target: str = "mean"
    at_least_one: bool = True
    realise: str = "mixture"
    tolerance: float = 1e-8
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        check_weights({"individual": self.individual, "group": self.group, "utility": self.utility})
        check_floor(self.floor)
        if self.floor is not None and self.utility > 0:
            raise ConfigError(f"method.floor: found {self.floor} beside a weight of utility; expected one of the two")
        choose("method.target", self.target, TARGETS)
        choose("method.realise", self.realise, REALISATIONS)
        check_search(self.tolerance, self.max_iterations)

    @property
    def tier(self) -> str:
        """``given_groups`` where the group loss has a weight, ``blind`` otherwise."""
        return tier_of(self.group)

    def policy(self, block: Block) -> Policy:
        """Return the policy of a block; see `optimal`."""
        return self.optimal(block).policy

    def explain(self, block: Block, row: int) -> dict[str, Any]:
        """Return the certificate of a row's policy and what is believed of it; see `rerankers.methods.explanation`."""
        from rerankers.methods.own_accounts import optimal_account

        return optimal_account(self.optimal(block), row)

    def optimal(self, block: Block) -> Optimal:
        """Return the policy of a block with what certifies it.

        Raises
        ------
        ConfigError
            where a group loss is asked for and the block does not say which groups, and for transpositions under
            browsing that depends on what is relevant.
        ValueError
            for browsing without an exact linear oracle: unequal continuations with weights of ranks.
        """
        believed = Believed.of(block, self.at_least_one)
        browsing = believed_browsing(block)
        problems = list(self._problems(block, believed, browsing))
        optima = [self._solved(problem) for problem in problems]
        parts = np.array(
            [problem.losses(optimum.exposure) for problem, optimum in zip(problems, optima, strict=True)]
        ).reshape(len(problems), 3)
        missed = sum(not optimum.converged for optimum in optima)
        counts = Counter(believed.counts) + Counter({"not_converged": missed})
        gap = np.array([optimum.gap for optimum in optima], dtype=np.float64)
        documents, groups, utility = parts.T.copy()
        return Optimal(self._realised(block, browsing, optima), gap, documents, groups, utility, dict(counts))

    def _problems(self, block: Block, believed: Believed, browsing: Browsing) -> Iterator[OneVector]:
        candidates, worth = block.candidates, believed.worth()
        alignment = groups_of(block, self.group, self.attribute)
        target = believed.target() if self.target == "mean" else self._plugged(believed, browsing)
        for row in range(len(candidates)):
            part = candidates.row(row)
            member = membership(alignment, candidates.doc[part])
            yield OneVector(
                row_browsing(browsing, part), target[part], worth[part], member, self.individual, self.group
            )

    @staticmethod
    def _plugged(believed: Believed, browsing: Browsing) -> NDArray[np.float64]:
        grade = believed.chance * relevant_grade(believed.model)
        return equal_exposure(believed.indptr, grade, browsing)

    def _solved(self, problem: OneVector) -> Optimum:
        if self.floor is not None and len(problem.target):
            floor = self.floor * problem.greatest()
            return problem.lowest_above(floor, self.tolerance, self.max_iterations)
        return problem.lowest(self.utility, self.tolerance, self.max_iterations)

    def _realised(self, block: Block, browsing: Browsing, optima: list[Optimum]) -> Mixture | Transpositions:
        if self.realise == "mixture":
            return mixture_of(block.candidates, optima, block.stream)
        longest = int(block.candidates.lengths.max(initial=0))
        if np.any(browsing.continuation != browsing.continuation[:1]):
            raise ConfigError(
                "method.realise: found transpositions under browsing that depends on relevance; expected mixture"
            )
        continuation = float(browsing.continuation[0]) if len(browsing.continuation) else 1.0
        weight = continuation ** np.arange(longest)
        if browsing.position is not None:
            weight = weight * browsing.position[:longest]
        exposure = np.concatenate([np.empty(0), *(optimum.exposure for optimum in optima)])
        return Transpositions.of_exposure(block.candidates, exposure, weight, block.stream)
