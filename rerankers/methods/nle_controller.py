"""The controller of Naver Labs Europe in TREC Fair Ranking 2020: relevance against squared errors of exposure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure import GERR
from rerankers.ledger import ACCOUNTING, Scored
from rerankers.methods.amortised import Amortised, check_number

if TYPE_CHECKING:
    from rerankers.exposure import BrowsingModel
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class NleController(Amortised):
    """Rank by theta * belief - (1 - theta) * mean of the entities' signed squared errors (Kletti & Renders 2020).

    The error of an entity is the exposure it was served minus what it was due, over all impressions so far; due is
    the mean of the equal-exposure target over independent draws of the labels. The track's runs had authors as
    entities, theta 0.9 and 0.99, and satisfaction 0.7, where the evaluator has 0.5.

    Attributes
    ----------
    theta
        in [0, 1], the weight of belief.
    satisfaction
        of GERR browsing, in place of the job's; None takes the job's model as it is.
    temperature
        0 ranks by score; above 0 rankings are drawn from the Plackett-Luce distribution of score / temperature.
    accounting
        what is booked at a temperature above 0: ``realised`` or ``expected`` exposure.
    """

    theta: float = 0.9
    satisfaction: float | None = None
    temperature: float = 0.0
    accounting: str = "realised"

    def __post_init__(self) -> None:
        self._check()
        check_number("theta", self.theta, 0.0, 1.0)
        if self.satisfaction is not None:
            check_number("satisfaction", self.satisfaction, 0.0, 1.0)
        check_number("temperature", self.temperature, 0.0, inf)
        choose("method.accounting", self.accounting, ACCOUNTING)

    def browsing(self, block: Block) -> BrowsingModel:
        """Return the job's model, with this method's satisfaction where it has one."""
        model = Amortised.browsing(self, block)
        if self.satisfaction is None:
            return model
        if not isinstance(model, GERR):
            raise ConfigError(f"method.satisfaction: found {self.satisfaction}; expected null with browsing {model}")
        return replace(model, satisfaction=self.satisfaction)

    def controller(self) -> Scored:
        """Return the controller."""
        return Scored(
            "square",
            gain=self.theta,
            force=1.0 - self.theta,
            mean=True,
            decay=self.decay,
            temperature=self.temperature,
            accounting=self.accounting,
        )
