"""What a method believes about the relevance of its candidates, and how the numbers are to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rerankers._base.errors import InputError, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.ragged import Candidates

Kind = Literal["score", "logit", "probability"]
KINDS = ("score", "logit", "probability")
FIRST_STAGE, ESTIMATES = "first_stage", "estimates"


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """Beliefs about the pairs of a block, aligned with its candidates.

    Attributes
    ----------
    value
        float64 (nnz,), finite: what static rankings are by.
    kind
        ``score``: only its order and, within a query, its standardised distances mean something; ``logit``: the
        log-weights of a Plackett-Luce policy, as they are; ``probability``: of relevance, in [0, 1].
    source
        ``first_stage``, ``estimates`` (of the candidates' file) or ``model:<fingerprint>``.
    probability
        float64 (nnz,) in [0, 1], calibrated probabilities of relevance beside scores or logits; None where there are
        none. Of the kind ``probability`` it is ``value`` itself.

    Raises
    ------
    InputError
        for values that are not finite, and probabilities outside [0, 1].
    """

    value: NDArray[np.float64]
    kind: Kind
    source: str
    probability: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        choose("relevance kind", self.kind, KINDS)
        object.__setattr__(self, "value", np.ascontiguousarray(self.value, dtype=np.float64))
        if not np.all(np.isfinite(self.value)):
            raise InputError.one("relevance", "values that are not finite", "finite numbers")
        if self.kind == "probability":
            object.__setattr__(self, "probability", self.value)
        if self.probability is not None:
            _check_probabilities(self.probability, len(self.value))

    @classmethod
    def of_candidates(cls, candidates: Candidates) -> Relevance:
        """Return the candidates' column ``estimates`` as probabilities, else their first-stage score, else zeros."""
        if "estimates" in candidates.columns:
            return cls(candidates.columns["estimates"], "probability", ESTIMATES)
        score = candidates.score if "score" in candidates.columns else np.zeros(candidates.nnz)
        return cls(score, "score", FIRST_STAGE)

    def rows(self, start: int, stop: int) -> Relevance:
        """Return the beliefs about pairs start:stop."""
        return self.at(slice(start, stop))

    def at(self, place: slice | NDArray[np.integer]) -> Relevance:
        """Return the beliefs about some pairs."""
        probability = None if self.probability is None else self.probability[place]
        return Relevance(self.value[place], self.kind, self.source, probability)


def _check_probabilities(probability: NDArray[np.float64], size: int) -> None:
    if probability.shape != (size,):
        raise InputError.one("relevance", f"probabilities of shape {probability.shape}", f"shape ({size},)")
    low, high = probability.min(initial=0.0), probability.max(initial=0.0)
    if not (low >= 0 and high <= 1):  # not a number fails too
        raise InputError.one("relevance", f"probabilities from {low:g} to {high:g}", "numbers from 0 to 1")
