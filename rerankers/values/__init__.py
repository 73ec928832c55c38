"""The typed, immutable values that travel between stages. See each module for its invariants."""

from rerankers.values.block import Block
from rerankers.values.collection import Collection, Counts, DocumentStore, Topics
from rerankers.values.exposure import Exposure
from rerankers.values.groups import GroupAlignment
from rerankers.values.ids import Ids
from rerankers.values.ragged import Candidates, Join, Judgments, Ragged, outer_join
from rerankers.values.rankings import Rankings

__all__ = [
    "Block",
    "Candidates",
    "Collection",
    "Counts",
    "DocumentStore",
    "Exposure",
    "GroupAlignment",
    "Ids",
    "Join",
    "Judgments",
    "Ragged",
    "Rankings",
    "Topics",
    "outer_join",
]
