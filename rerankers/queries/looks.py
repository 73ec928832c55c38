"""How much documents are seen in a list or under a policy: the one number that puts both on the same axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers.exposure.browsing import DCG, Positions, TopKSet
from rerankers.exposure.rankings import exposure_of
from rerankers.policies.mixture import Mixture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.policies import Policy

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]


class Look(Protocol):
    """A source of rankings for one topic."""

    @property
    def docs(self) -> Codes:
        """int64 (m,), the documents that may be seen."""
        ...

    @property
    def exact(self) -> bool:
        """Whether all weights so far come from a closed form instead of draws."""
        ...

    def weights(self, by_rank: Floats) -> Floats:
        """Return the expected weight of each document, float64 (m,), under weights of ranks (K,), 0 beyond."""
        ...

    def lists(self, n: int) -> list[Codes]:
        """Return the first n documents of drawn rankings, of equal probability; one list where nothing is random."""
        ...


class ListLook:
    """One ranking, best first."""

    exact = True

    def __init__(self, docs: NDArray[np.integer]) -> None:
        self.docs: Codes = np.asarray(docs).astype(np.int64)

    def weights(self, by_rank: Floats) -> Floats:
        """Return the weight of each document's rank, float64 (m,)."""
        out = np.zeros(len(self.docs))
        length = min(len(by_rank), len(out))
        out[:length] = by_rank[:length]
        return out

    def lists(self, n: int) -> list[Codes]:
        """Return the list itself."""
        return [self.docs[:n]]


class PolicyLook:
    """A policy over one row of candidates.

    Parameters
    ----------
    policy
        of a block of one row.
    draws, seed
        of the lists, and of weights without a closed form.
    """

    def __init__(self, policy: Policy, draws: int, seed: int) -> None:
        self._policy, self._draws, self._seed = policy, draws, seed
        self._known: dict[bytes, Floats] = {}
        self.docs: Codes = policy.over.doc.astype(np.int64)
        self.exact = True

    def weights(self, by_rank: Floats) -> Floats:
        """Return the expected weight of each candidate: exact, or that of the draws where no closed form is known."""
        key = by_rank.tobytes()
        if key not in self._known:
            browsing = browsing_of(by_rank).bind(None, self._policy.over.indptr)
            found = self._policy.exposure(browsing)
            if found is None:
                self.exact = False
                found = exposure_of(self._policy.sample(self._draws, self._seed, depth=len(by_rank)), browsing)
            self._known[key] = found.value
        return self._known[key]

    def lists(self, n: int) -> list[Codes]:
        """Return the first n documents of each draw."""
        drawn = self._policy.sample(self._draws, self._seed, depth=n)
        bounds = zip(drawn.item_ptr[:-1].tolist(), drawn.item_ptr[1:].tolist(), strict=True)
        return [self.docs[drawn.item[start:stop]] for start, stop in bounds]


def look_at(policy: Policy, draws: int, seed: int) -> Look:
    """Return how much the candidates of a policy over one row are seen; a policy of one ranking is that list."""
    if isinstance(policy, Mixture) and len(policy.rankings) == 1:
        return ListLook(policy.over.doc[policy.rankings.item])
    return PolicyLook(policy, draws, seed)


def browsing_of(by_rank: Floats) -> BrowsingModel:
    """Return the browsing model with these weights of ranks, (K,), 0 beyond; the quickest form where there are two."""
    ranks = len(by_rank)
    if ranks and np.all(by_rank == 1.0):
        return TopKSet(ranks)
    if ranks and np.array_equal(by_rank, 1.0 / np.log2(np.arange(ranks) + 2.0)):
        return DCG(ranks)
    return Positions(tuple(by_rank.tolist()))
