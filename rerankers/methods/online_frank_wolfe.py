"""Online Frank-Wolfe: each ranking is the best one for the gradient at the running average of exposure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from rerankers._base.errors import choose
from rerankers.ledger import ACCOUNTING, Scored
from rerankers.methods.amortised import Amortised, check_number


@dataclass(frozen=True, slots=True)
class OnlineFrankWolfe(Amortised):
    """Maximise (1 - fairness) * utility - fairness * loss by conditional gradients along the impressions.

    Utility is the mean of exposure times belief, loss the sum over entities of the squared difference between the
    mean exposures served and due. Each ranking maximises the linear function that is the gradient at the averages so
    far (Usunier, Do & Dohmatob, FAccT 2022; Do et al., NeurIPS 2021): a sort, which under cascade browsing divides by
    the probability that a document ends the search and is exact there too.

    Attributes
    ----------
    fairness
        in [0, 1].
    temperature
        0 ranks by score; above 0 rankings are drawn from the Plackett-Luce distribution of score / temperature.
    accounting
        what is booked at a temperature above 0: ``realised`` or ``expected`` exposure.
    """

    fairness: float = 0.5
    temperature: float = 0.0
    accounting: str = "realised"

    def __post_init__(self) -> None:
        self._check()
        check_number("fairness", self.fairness, 0.0, 1.0)
        check_number("temperature", self.temperature, 0.0, inf)
        choose("method.accounting", self.accounting, ACCOUNTING)

    def controller(self) -> Scored:
        """Return the controller."""
        return Scored(
            "gradient",
            gain=1.0 - self.fairness,
            force=self.fairness,
            decay=self.decay,
            divide=self.temperature == 0.0,
            temperature=self.temperature,
            accounting=self.accounting,
        )
