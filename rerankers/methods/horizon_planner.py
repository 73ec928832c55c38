"""The horizon-aware planner: all rankings that are left are chosen together, for the loss at the end."""

from __future__ import annotations

from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.ledger import Planner
from rerankers.ledger.plan import check_planner
from rerankers.methods.amortised import Amortised, check_number


@dataclass(frozen=True, slots=True)
class HorizonPlanner(Amortised):
    """Minimise fairness * loss - (1 - fairness) * utility at the end; see `rerankers.ledger.Planner`.

    It weighs loss and utility as `OnlineFrankWolfe` does, but knows how many impressions of which queries are left.
    Without a sequence these are ``impressions`` of each query.

    Attributes
    ----------
    fairness
        in (0, 1].
    replan
        after how many impressions of a sequence the rest is planned anew; part of a ledger's configuration.
    passes
        over all rankings, each improved given the others, at most.
    """

    fairness: float = 0.5
    replan: int = 10000
    passes: int = 20

    def __post_init__(self) -> None:
        self._check()
        check_planner(self.decay)
        check_number("fairness", self.fairness, 0.0, 1.0, above=True)
        if self.replan < 1 or self.passes < 0:
            raise ConfigError(f"method.replan, passes: found {self.replan}, {self.passes}; expected 1, 0 or more")

    def controller(self) -> Planner:
        """Return the controller."""
        return Planner(self.fairness, self.replan, self.passes)
