"""Phi-fair ranking (Singh, Kempe & Joachims 2021): nobody far below what uncertain merit gives, and then the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.exposure.checks import check_rank
from rerankers.methods.belief import probabilities
from rerankers.methods.prefixes.merit import fair_prefixes, merit_prefixes
from rerankers.methods.prefixes.mixtures import mixture
from rerankers.methods.tilting.aims import check_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

LEAST = 1e-13  # probability of a document at a rank that counts as none
RESIDUE = 1e-9  # probability that may be left over by rounding, and is shared out


@dataclass(frozen=True, slots=True)
class PhiFair:
    """Maximise utility where each document is among the first k as often as merit demands, up to a factor, for all k.

    Singh, Kempe & Joachims (NeurIPS 2021, "Fairness in ranking under uncertainty"): if merit has a document among the
    first k with probability q, the policy has it there with probability phi q at least. Merit is the ranking by
    relevance, where documents are relevant independently with the probabilities that the block believes in, ties at
    random. The policy is the exact optimum for every position-based browsing model at once, without a linear program;
    see `rerankers.methods.prefixes.merit`.

    Attributes
    ----------
    phi
        in [0, 1]: 0 is the static ranking by probability, 1 Thompson sampling.
    cutoff
        the ranks that are so; the documents behind follow by probability. None: all.

    Notes
    -----
    The policy is a mixture of at most n (cutoff + 1) rankings of n documents, found by Birkhoff's theorem: about 2,000
    for 100 documents and a cutoff of 20. Where a block has scores in place of probabilities, these are guessed from
    them, see `rerankers.methods.belief.probabilities`.
    """

    phi: float = 0.5
    cutoff: int | None = 20
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        check_between("phi", self.phi)
        check_rank("method.cutoff", self.cutoff)

    def policy(self, block: Block) -> Mixture:
        """Return the policy; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and how many ``rankings`` it mixes in all."""
        rho = probabilities(block)
        over = block.candidates
        weights, items = [], []
        for row in range(len(over)):
            part = over.row(row)
            by_value = np.argsort(-block.relevance.value[part], kind="stable")
            order = by_value[np.argsort(-rho[part][by_value], kind="stable")].astype(np.int32)
            weight, places = self._mixed(rho[part][order])
            weights.append(weight)
            items.append(order[places])
        return mixture(block, weights, items), {"rankings": sum(len(weight) for weight in weights)}

    def _mixed(self, rho: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return weights (m,) and rankings (m, n) as places in probabilities that descend."""
        n = len(rho)
        ranks = n if self.cutoff is None else min(self.cutoff, n)
        if self.phi == 0.0 or n < 2:
            return np.ones(1), np.arange(n, dtype=np.int64)[None, :]
        return mixed(fair_prefixes(rho, merit_prefixes(rho, ranks), self.phi))


def mixed(prefixes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a mixture of rankings that has documents among the first ranks with given probabilities.

    Parameters
    ----------
    prefixes
        float64 (n, K), as `rerankers.methods.prefixes.merit.fair_prefixes`.

    Returns
    -------
    weight
        float64 (m,), summing to 1.
    rankings
        int64 (m, n); documents behind the first K ranks stand as they do in ``prefixes``.
    """
    from rerankers.methods.prefixes.assignment_loops import decompose

    n, ranks = prefixes.shape
    mass = np.empty((n, ranks + 1))
    mass[:, :ranks] = np.diff(prefixes, axis=1, prepend=0.0)
    mass[:, ranks] = 1.0 - prefixes[:, -1]
    mass[mass < LEAST] = 0.0
    weight = np.zeros(np.count_nonzero(mass) + 1)
    chosen = np.empty((len(weight), ranks), np.int64)
    count = decompose(mass, LEAST, weight, chosen)
    reached = float(weight[:count].sum())
    if reached < 1.0 - RESIDUE:
        raise ArithmeticError(f"rankings for a probability of {reached} of 1 only were found for {n} documents")
    weight, chosen = weight[:count] / reached, chosen[:count]
    left = np.ones((count, n), np.bool_)
    np.put_along_axis(left, chosen, False, axis=1)
    return weight, np.concatenate([chosen, np.nonzero(left)[1].reshape(count, n - ranks)], axis=1)
