"""Scores with a little noise: the LM-relevance runs of the MTG group at TREC Fair Ranking 2020."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rerankers.exposure.checks import check_rank
from rerankers.methods.fusion.noisy import check_noise, noisy_orders
from rerankers.methods.tilting.greedy import ranked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class MtgNoise:
    """Add U(0, D) to every score and rank; D is the mean distance of the query's scores (Ferraro et al. 2020).

    D = noise (max - min) / n for n documents, found once a query. Documents further apart than D never change places.

    Attributes
    ----------
    noise
        times the mean distance, at least 0; 1 as in the track's runs, 0 is the static ranking.
    draws
        rankings a query, made once with the job's seed: the policy draws one of them.

    Notes
    -----
    Scores are what the block believes. In a query of equal scores nothing moves: D is 0.
    """

    noise: float = 1.0
    draws: int = 1000
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_rank("method.draws", self.draws, optional=False)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that draws one of ``draws`` rankings."""
        score = block.relevance.value

        def order(row: int, docs: slice, _: NDArray[np.int64]) -> NDArray[np.int64]:
            return noisy_orders(block, row, score[docs], self.noise, self.draws, "mtg_noise")

        return ranked(block, score, order, self.draws)
