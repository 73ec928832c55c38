"""FairCo: a proportional controller that lifts whoever has had the least exposure for its merit."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from rerankers._base.errors import choose
from rerankers.ledger import ACCOUNTING, Scored
from rerankers.methods.amortised import Amortised, check_number


@dataclass(frozen=True, slots=True)
class FairCo(Amortised):
    """Rank by belief + strength * error (Morik, Singh, Hong & Joachims, SIGIR 2020).

    The error of a document is the largest D of the entities among the candidates minus its own, where D is exposure
    over merit so far; the mean where a document has several entities, 0 where it has none. The offset is the same for
    all documents that have entities, so taking the largest over the candidates changes nothing among these.

    Attributes
    ----------
    strength
        of the controller, lambda in the source, where 0.01 goes with ``published``.
    published
        whether D is cumulative exposure over mean merit, as published: its scale grows with every impression, so that
        the controller becomes ever stiffer. By default both are cumulative, and D does not drift.
    least
        merit that D divides by at least.
    temperature
        0 ranks by score; above 0 rankings are drawn from the Plackett-Luce distribution of score / temperature.
    accounting
        what is booked at a temperature above 0: ``realised`` or ``expected`` exposure.
    """

    target: str = "merit"
    strength: float = 1.0
    published: bool = False
    least: float = 1e-4
    temperature: float = 0.0
    accounting: str = "realised"

    def __post_init__(self) -> None:
        self._check()
        check_number("strength", self.strength, 0.0, inf)
        check_number("least", self.least, 0.0, inf, above=True)
        check_number("temperature", self.temperature, 0.0, inf)
        choose("method.accounting", self.accounting, ACCOUNTING)

    def controller(self) -> Scored:
        """Return the controller."""
        return Scored(
            "ratio",
            gain=1.0,
            force=self.strength,
            mean=True,
            decay=self.decay,
            least=self.least,
            published=self.published,
            temperature=self.temperature,
            accounting=self.accounting,
        )
