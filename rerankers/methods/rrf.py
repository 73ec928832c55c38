"""Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) of several scores of the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.methods.fusion.columns import Sources, ranks, reciprocal
from rerankers.policies import static

if TYPE_CHECKING:
    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class Rrf:
    """Rank by the sum over rankings of weight / (k + rank), ranks from 1 (Cormack, Clarke & Büttcher, SIGIR 2009).

    Attributes
    ----------
    k
        of the formula, at least 0; 60 as published. The smaller, the more the first ranks count.
    columns
        whose rankings are fused, ``belief`` being what the block believes; None: the belief, the first stage's score
        beside a model's, and the scores of other runs (columns ``run:<name>``).
    weights
        one a column; None: all 1.

    Notes
    -----
    A document that a column does not have gets nothing from it. Ties go to the document that stands first.
    """

    k: float = 60.0
    columns: list[str] | None = None
    weights: list[float] | None = None
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.k) and self.k >= 0.0):
            raise ConfigError(f"method.k: found {self.k}; expected a number of at least 0")

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the fused ranking; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and how many ``documents_missing`` from columns were met.

        Raises
        ------
        ConfigError
            for a column that the candidates do not have, and another number of weights.
        """
        sources = Sources.of(block, self.columns, self.weights)
        place = np.array([ranks(block.candidates.indptr, value) for value in sources.value])
        fused = reciprocal(place, sources.weight, self.k)
        return static(block.candidates, fused, block.stream), {"documents_missing": sources.missing}
