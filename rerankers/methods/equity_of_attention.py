"""Equity of attention: what everyone has had comes as near as quality allows to what everyone deserves."""

from __future__ import annotations

from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.ledger import Equity
from rerankers.methods.amortised import Amortised, check_number


@dataclass(frozen=True, slots=True)
class EquityOfAttention(Amortised):
    """Minimise the sum of |attention - relevance| so far, ranking by ranking (Biega, Gummadi & Weikum, SIGIR 2018).

    Attention and relevance of an impression are shares, 1 in all. Every ranking keeps ``quality`` of the ideal DCG@k
    of believed relevance (gain 2^p - 1). Where documents are the entities and sorting by what they are owed keeps
    that, it is the exact optimum; else the program is solved by assignments at a price of quality, with a certificate
    (`rerankers.ledger.assignment`). With authors or groups the cost of a document at a rank counts its own entities
    as if no other document of theirs were ranked, and under cascade browsing the attention of a rank is that of the
    row's mean continuation; the ledger always books the exact exposure.

    Attributes
    ----------
    quality
        in [0, 1], theta in the source.
    k
        depth of the DCG.
    prefilter
        documents of highest belief that are assigned, 100 in the source; the others follow by belief.
    """

    target: str = "merit"
    unit: str = "share"
    quality: float = 0.8
    k: int = 10
    prefilter: int = 100

    def __post_init__(self) -> None:
        self._check()
        check_number("quality", self.quality, 0.0, 1.0)
        for name in ("k", "prefilter"):
            if getattr(self, name) < 1:
                raise ConfigError(f"method.{name}: found {getattr(self, name)}; expected at least 1")

    def controller(self) -> Equity:
        """Return the controller."""
        return Equity(self.quality, self.k, self.prefilter, self.decay)
