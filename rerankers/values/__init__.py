"""The typed, immutable values that travel between stages. See each module for its invariants."""

from rerankers.values.authors import Authors
from rerankers.values.block import Block
from rerankers.values.collection import Collection, Counts, DocumentStore, Topics
from rerankers.values.exposure import Exposure
from rerankers.values.groups import GroupAlignment
from rerankers.values.ids import Ids
from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import QrelsTable, read_qrels
from rerankers.values.ragged import Candidates, Join, Judgments, Ragged, outer_join
from rerankers.values.rankings import Rankings
from rerankers.values.relevance import Relevance

__all__ = [
    "NO_LABEL",
    "Authors",
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
    "Labels",
    "QrelsTable",
    "Ragged",
    "Rankings",
    "Relevance",
    "Topics",
    "outer_join",
    "read_qrels",
]
