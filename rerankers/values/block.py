"""What a method receives: a block of queries without their judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError
from rerankers.values.relevance import Relevance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.values.groups import GroupAlignment
    from rerankers.values.ragged import Candidates


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The unit of work. It holds no judgments of the queries it ranks, so no method can leak them.

    Attributes
    ----------
    candidates
        the documents to rank, B rows.
    stream
        uint64 (B, 2), the queries' digests.
    groups
        attribute -> resolved alignment, for methods of the tiers that may see groups; empty otherwise.
    estimates
        a trained model's beliefs about the candidates; None where there is no model. Methods look at `relevance`.
    browsing
        the `rerankers.exposure.BrowsingModel` that a method aims at; None where a job names none.
    target
        the target spec that a method aims at (see `rerankers.methods.targets`); None where a job names none.
    seed
        of what a method draws to make its policy.
    """

    candidates: Candidates
    stream: NDArray[np.uint64]
    groups: Mapping[str, GroupAlignment] = field(default_factory=dict)
    estimates: Relevance | None = None
    browsing: Any = None
    target: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.estimates is not None and len(self.estimates.value) != self.candidates.nnz:
            found = f"{len(self.estimates.value)} estimates"
            raise InputError.one("estimates", found, f"{self.candidates.nnz}, one a candidate")

    @property
    def relevance(self) -> Relevance:
        """Beliefs about the candidates: the model's, else their column ``estimates``, else their first-stage score."""
        return Relevance.of_candidates(self.candidates) if self.estimates is None else self.estimates
