"""Communities of entities that share documents, by the method of Louvain, and the community of each document."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def communities(item: NDArray[np.integer], entity: NDArray[np.integer], resolution: float, seed: int) -> dict[int, int]:
    """Return entity -> community, from 0, of the graph of entities weighted by the documents that they share.

    Parameters
    ----------
    item, entity
        int (m,), pairs of documents and their entities.
    resolution
        of modularity (Reichardt & Bornholdt 2006), above 0.
    seed
        of the order in which entities are visited: the graph and the seed give the communities.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(sorted(set(entity.tolist())))
    weight: dict[tuple[int, int], int] = {}
    for own in _entities(item, entity):
        for pair in combinations(own, 2):
            weight[pair] = weight.get(pair, 0) + 1
    graph.add_weighted_edges_from((one, other, count) for (one, other), count in weight.items())
    found = nx.community.louvain_communities(graph, resolution=resolution, seed=seed % 2**63)
    ordered = sorted(sorted(members) for members in found)
    return {member: number for number, members in enumerate(ordered) for member in members}


def document_clusters(
    item: NDArray[np.integer], entity: NDArray[np.integer], community: dict[int, int], size: int
) -> NDArray[np.int64]:
    """Return the cluster of each of ``size`` documents, int64: the community of most of its entities.

    Ties go to the community with more entities, then to the lower number. A document without entities is a cluster
    of its own.
    """
    members = np.bincount(np.fromiter(community.values(), np.int64, len(community)), minlength=1)
    cluster = len(members) + np.arange(size, dtype=np.int64)
    places = np.unique(item).tolist()
    for place, own in zip(places, _entities(item, entity), strict=True):
        number, count = np.unique([community[one] for one in own], return_counts=True)
        cluster[place] = number[np.lexsort((number, -members[number], -count))[0]]
    return cluster


def _entities(item: NDArray[np.integer], entity: NDArray[np.integer]) -> list[list[int]]:
    """Return the entities of each document that has some, ascending; documents ascending."""
    order = np.lexsort((entity, item))
    bounds = np.flatnonzero(np.diff(item[order])) + 1
    return [one.tolist() for one in np.split(entity[order], bounds) if len(one)]
