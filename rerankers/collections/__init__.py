"""Readers of collections, the generated world, and where groups come from."""

from rerankers.collections.aligned import Aligned
from rerankers.collections.generated import Generated
from rerankers.collections.group_files import GroupTable, read_groups
from rerankers.collections.group_rows import GroupRows
from rerankers.collections.groups import AuthorField, CollectionGroups, FileGroups, NoGroups
from rerankers.collections.ir_datasets import IrDatasets
from rerankers.collections.jsonl import Jsonl
from rerankers.collections.letor import Letor
from rerankers.collections.lift import lift
from rerankers.collections.memory import collection_of
from rerankers.collections.split import split_collection
from rerankers.collections.svmlight import read_svmlight
from rerankers.collections.trec_fair import Trec2019, Trec2020
from rerankers.collections.world_relevance import draw_grades
from rerankers.collections.write_jsonl import write_jsonl
from rerankers.collections.write_svmlight import write_svmlight

__all__ = [
    "Aligned",
    "AuthorField",
    "CollectionGroups",
    "FileGroups",
    "Generated",
    "GroupRows",
    "GroupTable",
    "IrDatasets",
    "Jsonl",
    "Letor",
    "NoGroups",
    "Trec2019",
    "Trec2020",
    "collection_of",
    "draw_grades",
    "lift",
    "read_groups",
    "read_svmlight",
    "split_collection",
    "write_jsonl",
    "write_svmlight",
]
