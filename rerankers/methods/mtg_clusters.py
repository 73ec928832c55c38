"""Noisy scores, one document a community first: the LM-rel-groups run of the MTG group at TREC Fair Ranking 2020."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.streams import stream_key
from rerankers.exposure.checks import check_rank
from rerankers.methods.fusion.communities import communities, document_clusters
from rerankers.methods.fusion.noisy import check_noise, noisy_orders
from rerankers.methods.tilting.greedy import ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block, GroupAlignment

AUTHORS = "authors"


@dataclass(frozen=True, slots=True)
class MtgClusters:
    """Walk a noisy ranking twice: first one document of each community, then the others (Ferraro et al. 2020).

    Communities are those of the graph of the authors of a query's candidates, two authors being joined by as many
    papers as they wrote together among them, by the method of Louvain (Blondel et al. 2008). A document belongs to
    the community that most of its authors are of (ties: the larger one), and is a community of its own without
    authors. The noise is that of `rerankers.methods.mtg_noise.MtgNoise`.

    Attributes
    ----------
    entities
        ``authors``, or an attribute of the job whose groups take their place.
    noise
        times the mean distance of scores, at least 0.
    resolution
        of Louvain's modularity, above 0; the larger, the smaller the communities.
    draws
        rankings a query, made once with the job's seed: the policy draws one of them.
    """

    entities: str = AUTHORS
    noise: float = 1.0
    resolution: float = 1.0
    draws: int = 1000

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_rank("method.draws", self.draws, optional=False)
        if not (np.isfinite(self.resolution) and self.resolution > 0.0):
            raise ConfigError(f"method.resolution: found {self.resolution}; expected a positive number")

    @property
    def tier(self) -> str:
        """``metadata`` with authors, ``given_groups`` with groups."""
        return "metadata" if self.entities == AUTHORS else "given_groups"

    def policy(self, block: Block) -> Mixture:
        """Return the policy that draws one of ``draws`` rankings; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy, and the ``communities`` and ``documents_without_entity`` of all queries.

        Raises
        ------
        ConfigError
            where the block has no such entities.
        """
        score, (clusters, alone) = block.relevance.value, self._clusters(block)

        def order(row: int, docs: slice, _: NDArray[np.int64]) -> NDArray[np.int64]:
            rankings = noisy_orders(block, row, score[docs], self.noise, self.draws, "mtg_clusters")
            return one_each_first(rankings, clusters[row])

        total = sum(len(np.unique(one)) for one in clusters)
        counts = {"communities": total, "documents_without_entity": alone}
        return ranked(block, score, order, self.draws), counts

    def _clusters(self, block: Block) -> tuple[list[NDArray[np.int64]], int]:
        """Return the cluster of each document, int64 (n,) a row, and how many documents have no entity."""
        alignment = self._alignment(block)
        candidates, alone = block.candidates, 0
        found: list[NDArray[np.int64]] = []
        for row in range(len(candidates)):
            item, entity, _ = alignment.entries(candidates.doc[candidates.row(row)])
            key = stream_key(block.seed, block.stream[row], "mtg_clusters louvain")
            size = int(candidates.lengths[row])
            part = communities(item, entity, self.resolution, int(key[0]))
            found.append(document_clusters(item, entity, part, size))
            alone += size - len(np.unique(item))
        return found, alone

    def _alignment(self, block: Block) -> GroupAlignment:
        if self.entities not in block.groups:
            known = ", ".join([AUTHORS, *(name for name in block.groups if name != AUTHORS)])
            raise ConfigError(f"method.entities: found {self.entities}; expected one of {known}, which the job has")
        return block.groups[self.entities]


def one_each_first(rankings: NDArray[np.int64], cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the first document of each cluster before all others, orders kept: int64 (draws, n) as given."""
    own = cluster[rankings]
    by_cluster = np.argsort(own, axis=1, kind="stable")
    ordered = np.take_along_axis(own, by_cluster, axis=1)
    first = np.ones(own.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    later = np.empty(own.shape, dtype=bool)
    np.put_along_axis(later, by_cluster, ~first, axis=1)
    return np.take_along_axis(rankings, np.argsort(later, axis=1, kind="stable"), axis=1)
