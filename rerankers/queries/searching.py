"""Documents of queries that are no topics of the collection: searched in batches, each kept by its content."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.fingerprint import fingerprint
from rerankers.values import Judgments, Topics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.retrieval import Retriever
    from rerankers.values import Collection

BATCH: Final = 2000
"""Queries that are searched, and kept, at a time: what a killed job loses at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The first documents of one query.

    Attributes
    ----------
    docs
        int32 (m,), document codes, best first; empty where nothing is found.
    scores
        float64 (m,).
    """

    docs: NDArray[np.int32]
    scores: NDArray[np.float64]


class Searcher:
    """A first stage that answers any text.

    Parameters
    ----------
    retriever
        of the job; one that searches texts, such as BM25.
    collection
        whose documents are searched; its topics are left aside.
    cache
        folder of indexes and results.
    depth
        how many documents a query are kept, at least 1.

    Raises
    ------
    ConfigError
        for a first stage that only knows the topics that its file has.
    """

    def __init__(self, retriever: Retriever, collection: Collection, cache: Path, depth: int) -> None:
        fixed = next((name for name in ("run", "path") if hasattr(retriever, name)), None)
        if fixed is not None:
            raise ConfigError(
                f"retriever: {type(retriever).__name__} has the lists of the collection's topics only; expected one "
                "that searches any query, such as retriever=bm25"
            )
        self.depth = depth
        self._retriever = _with_depth(retriever, depth)
        self._collection, self._cache = collection, cache
        self._found: dict[str, Hits] = {}
        self.searched = 0

    def search(self, texts: Iterable[str]) -> None:
        """Search texts that were not searched before; what is found does not depend on what stands beside."""
        wanted = sorted({text for text in texts if text not in self._found})
        for start in range(0, len(wanted), BATCH):
            self._batch(wanted[start : start + BATCH])

    def hits(self, text: str) -> Hits:
        """Return the documents of a text; it is searched now if it was not before."""
        if text not in self._found:
            self.search([text])
        return self._found[text]

    def _batch(self, texts: Sequence[str]) -> None:
        ids = [fingerprint("query", text) for text in texts]
        replaced = dataclasses.replace(
            self._collection, topics=Topics.of(ids, texts), judgments=Judgments.empty(), truth={}
        )
        retrieved = self._retriever.retrieve(replaced, self._cache)
        if retrieved.docs.fingerprint != self._collection.docs.fingerprint:
            raise ConfigError("retriever: it names documents that the collection does not have; expected one over it")
        candidates = retrieved.candidates
        for row, code in enumerate(candidates.query.tolist()):
            part = candidates.row(row)
            docs, scores = candidates.doc[part], candidates.score[part]
            self._found[texts[code]] = Hits(docs[: self.depth].copy(), scores[: self.depth].copy())
        self.searched += len(texts)


def _with_depth(retriever: Any, depth: int) -> Any:
    """Return the retriever with no more candidates than are looked at: the first ones are the same."""
    if dataclasses.is_dataclass(retriever) and not isinstance(retriever, type) and hasattr(retriever, "k"):
        return dataclasses.replace(retriever, k=min(depth, retriever.k))
    return retriever
