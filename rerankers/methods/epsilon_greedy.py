"""Epsilon-greedy: by belief, but each rank is filled at random with probability epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.checks import check_rank
from rerankers.methods.tilting.aims import check_between
from rerankers.methods.tilting.greedy import ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block


@dataclass(frozen=True, slots=True)
class EpsilonGreedy:
    """At each rank take the best document left or, with probability epsilon, any of them alike.

    Attributes
    ----------
    epsilon
        in [0, 1]: 0 is the static ranking, 1 the uniform shuffle.
    draws
        rankings a query, made once with the job's seed: the policy draws one of them.

    Notes
    -----
    The exposure of the policy is exactly that of its rankings, and that of epsilon-greedy on average over seeds.
    """

    epsilon: float = 0.1
    draws: int = 100
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        check_between("epsilon", self.epsilon)
        check_rank("method.draws", self.draws, optional=False)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that draws one of ``draws`` rankings."""
        from rerankers.methods.fusion.exploring_loops import explore

        def order(row: int, _: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
            key = stream_key(block.seed, block.stream[row], "epsilon_greedy")
            noise = np.ascontiguousarray(uniforms(key, 0, self.draws, len(by_score)))
            ranking = np.empty(noise.shape, np.int64)
            explore(noise, float(self.epsilon), ranking)
            return by_score[ranking]

        return ranked(block, block.relevance.value, order, self.draws)
