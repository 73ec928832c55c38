"""First stages: BM25 by Lucene, or a run that another system made. Only here is Java known."""

from rerankers.retrieval.base import Retrieved, Retriever
from rerankers.retrieval.bm25 import BM25
from rerankers.retrieval.run_file import RunFile

__all__ = ["BM25", "Retrieved", "Retriever", "RunFile"]
