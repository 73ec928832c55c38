"""Linear fusion (Fox & Shaw 1994, CombSUM): the weighted sum of several scores of the candidates on a common scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import choose
from rerankers.methods.fusion.columns import MINMAX, SCALES, Sources, scaled
from rerankers.policies import static

if TYPE_CHECKING:
    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class LinearFusion:
    """Rank by the weighted sum of scores, each brought to a common scale within the query.

    Attributes
    ----------
    scale
        ``minmax`` (to [0, 1]), ``zscore`` (mean 0, standard deviation 1), or ``none``.
    columns
        what is fused, as for `rerankers.methods.rrf.Rrf`.
    weights
        one a column, maybe negative; None: all 1.

    Notes
    -----
    A document that a column does not have gets the least of the query there.
    """

    scale: str = MINMAX
    columns: list[str] | None = None
    weights: list[float] | None = None
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        choose("method.scale", self.scale, SCALES)

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
        fused = np.zeros(block.candidates.nnz)
        for weight, value in zip(sources.weight, sources.value, strict=True):
            fused += weight * scaled(block.candidates.indptr, value, self.scale)
        return static(block.candidates, fused, block.stream), {"documents_missing": sources.missing}
