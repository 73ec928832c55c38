"""The policy of the lowest expected loss where browsing and target depend on relevance that is known by chance only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.execution import thread_count, thread_map
from rerankers.exposure.optimal.frank_wolfe import Optimum
from rerankers.methods.belief import LEAST_PROBABILITY
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.methods.scenarios.believed import Believed
from rerankers.methods.scenarios.loss import ScenarioLoss
from rerankers.methods.scenarios.options import (
    check_floor,
    check_search,
    check_weights,
    groups_of,
    membership,
    tier_of,
)
from rerankers.methods.scenarios.rows import draw_scenarios
from rerankers.methods.scenarios.search import Reached, Search
from rerankers.policies import PlackettLuce
from rerankers.policies.optimal import mixture_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Policy
    from rerankers.values import Block, GroupAlignment

FORMS = ("rankings", "plackett_luce")
MOST_SCENARIOS = 65_536
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class LowestFound:
    """What `ScenarioOptimal` finds for a block.

    Attributes
    ----------
    policy
        over the block's candidates.
    start, value
        float64 (B,), the mean objective over the scenarios of Plackett-Luce with the believed chances, and that of the
        policy: the lowest that was found, certified where ``gap`` is finite.
    gap
        float64 (B,), a bound on how far the value lies above the minimum; infinity where there is none.
    documents, groups, utility
        float64 (B,), the parts of the value: the mean losses of documents and groups, and the mean utility.
    counts
        of rows: ``start_not_reached``; those of `rerankers.methods.scenarios.believed.Believed`.
    """

    policy: Policy
    start: NDArray[np.float64]
    value: NDArray[np.float64]
    gap: NDArray[np.float64]
    documents: NDArray[np.float64]
    groups: NDArray[np.float64]
    utility: NDArray[np.float64]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ScenarioOptimal:
    r"""Minimise the mean loss over scenarios of what may be relevant.

    Attributes
    ----------
    individual, group
        weights of the squared distances from the target of documents' exposures and of groups' (Diaz et al. 2020).
        Groups are looked at only where theirs is above 0; "unknown" is one where ``groups.unknown=count``.
    total
        weight of the squared difference of the exposure of all documents together: what remains of a group loss where
        groups are not known. With documents in group k by chance p_k, ``individual`` is 1 - a and ``total`` is a, the
        sum of the squared p_k. It matters where browsing depends on relevance; elsewhere the total is the same for
        all policies.
    utility
        weight of the expected utility, which is taken off the loss.
    floor
        a share of the static ranking's believed utility that is kept, in place of a weight; null for none.
    attribute
        whose groups; null where there is but one.
    scenarios
        label vectors drawn from the beliefs, the same for every policy that is tried; rounded up to a multiple of 4.
    form
        ``rankings``: a mixture of few rankings, over which the problem is convex; ``plackett_luce``: log-weights.
    at_least_one
        draw only labels with a relevant document.
    published
        the number of independent draws whose mean exposure is judged; null for the policy itself. Rankings that show
        groups in blocks vary more; with `Policy.schedule` in place of independent draws there is little to correct.
    tolerance
        what a further ranking must promise to lower the loss by.
    max_iterations
        rankings searched for, or steps of L-BFGS, a row.

    Notes
    -----
    Labels are independent, drawn from the beliefs; in each scenario they decide how users browse (`GERR`: where they
    stop) and which exposure is due. The search starts from Plackett-Luce with the believed chances and never ends
    above its loss. Under browsing that does not depend on relevance nothing is drawn: the mean target is known
    exactly, and the solution is that of `pareto_optimal`, with its certificate.

    Mixtures of rankings are the best form that was found: their mean loss is lower than that of Plackett-Luce weights,
    for groups also under labels that were not drawn, since a mixture may show one group after the other in blocks.
    With few scenarios they fit the draws; for documents alone `plackett_luce` is as good and needs fewer of them.
    Rows of 24, 100 and 300 documents take about 0.1, 2 and 10 seconds; weights take a tenth of that.
    """

    individual: float = 1.0
    group: float = 0.0
    total: float = 0.0
    utility: float = 0.0
    floor: float | None = None
    attribute: str | None = None
    scenarios: int = 256
    form: str = "rankings"
    at_least_one: bool = True
    published: int | None = None
    tolerance: float = 1e-4
    max_iterations: int = 200

    def __post_init__(self) -> None:
        weights = {"individual": self.individual, "group": self.group, "total": self.total, "utility": self.utility}
        check_weights(weights)
        check_floor(self.floor)
        choose("method.form", self.form, FORMS)
        if self.floor is not None and (self.utility > 0 or self.form != "rankings"):
            found = f"{self.floor} beside utility={self.utility:g}, form={self.form}"
            raise ConfigError(f"method.floor: found {found}; expected no weight of utility, and form=rankings")
        if not 1 <= self.scenarios <= MOST_SCENARIOS:
            raise ConfigError(f"method.scenarios: found {self.scenarios}; expected 1 to {MOST_SCENARIOS:,}")
        if self.published is not None and not (self.published >= 1 and self.form == "rankings"):
            found = f"{self.published} with form={self.form}"
            raise ConfigError(f"method.published: found {found}; expected null, or at least 1 and form=rankings")
        check_search(self.tolerance, self.max_iterations)

    @property
    def tier(self) -> str:
        """``given_groups`` where the group loss has a weight, ``blind`` otherwise."""
        return tier_of(self.group)

    def policy(self, block: Block) -> Policy:
        """Return the policy of a block; see `lowest`."""
        return self.lowest(block).policy

    def lowest(self, block: Block) -> LowestFound:
        """Return the policy of a block with the values that were reached.

        Rows are independent of each other and shared among threads (see `rerankers.execution.thread_count`).

        Raises
        ------
        ConfigError
            where a group loss is asked for and the block does not say which groups.
        """
        believed = Believed.of(block, self.at_least_one)
        alignment = groups_of(block, self.group, self.attribute)
        if not believed.model.needs_grades:
            return self._certified(block)

        def one_row(row: int) -> Reached:
            return self._row(block, believed, alignment, row)

        rows = thread_map(one_row, range(len(block.candidates)), thread_count())
        start, value = (np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in ("start", "value"))
        parts = np.array([row.parts for row in rows], dtype=np.float64).reshape(len(rows), 3)
        documents, groups, utility = parts.T.copy()
        free = self.floor is None and self.published is None
        missed = int(np.sum(value > start + ROUNDING)) if free else 0
        counts = Counter(believed.counts) + Counter({"start_not_reached": missed})
        gap = np.where(block.candidates.lengths > 1, np.inf, 0.0)
        return LowestFound(self._policy(block, rows), start, value, gap, documents, groups, utility, dict(counts))

    def _row(self, block: Block, believed: Believed, alignment: GroupAlignment | None, row: int) -> Reached:
        part = block.candidates.row(row)
        if part.stop == part.start:
            return Reached(np.empty((1, 0), dtype=np.int64), np.ones(1), 0.0, 0.0, (0.0, 0.0, 0.0))
        chance, stream = believed.chance[part], block.stream[row]
        drawn = draw_scenarios(chance, believed.model, self.scenarios, self.at_least_one, block.seed, stream)
        member = membership(alignment, block.candidates.doc[part])
        loss = ScenarioLoss(drawn, self.individual, self.group, self.utility, member, self.published, self.total)
        logit = np.log(np.maximum(chance, LEAST_PROBABILITY))
        begun = PlackettLuce(block.candidates.rows(row, row + 1), logit, block.stream[row : row + 1])

        def draws(count: int, first: int) -> NDArray[np.int64]:
            rankings = begun.sample(count, block.seed, first)
            return rankings.item.reshape(count, len(logit)).astype(np.int64)

        search = Search(loss, logit, draws, self.tolerance, self.max_iterations)
        return search.mixture(self.floor) if self.form == "rankings" else search.plackett_luce()

    def _policy(self, block: Block, rows: list[Reached]) -> Policy:
        if self.form == "plackett_luce":
            nothing = [np.empty(0)]
            logit = np.concatenate(nothing + [row.weights for row in rows if row.rankings is None])
            return PlackettLuce(block.candidates, logit, block.stream)
        optima = [_optimum(row) for row in rows]
        return mixture_of(block.candidates, optima, block.stream)

    def _certified(self, block: Block) -> LowestFound:
        """Return the solution under browsing that does not depend on relevance."""
        method = ParetoOptimal(
            individual=self.individual,
            group=self.group,
            utility=self.utility,
            floor=self.floor,
            attribute=self.attribute,
            at_least_one=self.at_least_one,
        )
        found = method.optimal(block)
        value = self.individual * found.documents + self.group * found.groups - self.utility * found.utility
        return LowestFound(
            found.policy, value, value, found.gap, found.documents, found.groups, found.utility, found.counts
        )


def _optimum(row: Reached) -> Optimum:
    rankings = np.empty((1, 0), dtype=np.int64) if row.rankings is None else row.rankings
    return Optimum(rankings, row.weights, np.inf)
