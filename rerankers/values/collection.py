"""A collection: documents, topics, judgments and groups, with its texts on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.values.authors import Authors
from rerankers.values.ids import Ids
from rerankers.values.labels import Labels
from rerankers.values.ragged import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counts = Mapping[str, int]
"""What a reader met and how often (for instance ``documents_without_text``): shown, stored, never dropped."""


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """Queries in the order of their file.

    Attributes
    ----------
    ids
        query ids as strings.
    text
        query texts; empty where there is none (a collection without texts reads its candidates from a run).
    topic
        int32 (Q,), variants of one topic share its number.
    stream
        uint64 (Q, 2), digests of the query ids: the root of every random draw.
    """

    ids: Ids
    text: tuple[str, ...]
    topic: NDArray[np.int32]
    stream: NDArray[np.uint64]

    @classmethod
    def of(cls, qids: Sequence[str], text: Sequence[str], topic: Sequence[int] | None = None) -> Topics:
        """Build from ids and texts; without ``topic`` every query is its own topic.

        Raises
        ------
        InputError
            when a query id occurs twice.
        ValueError
            when the lengths differ.
        """
        ids = Ids.of(qids, "query id")
        numbers = np.arange(len(ids)) if topic is None else np.asarray(topic)
        if not len(ids) == len(text) == len(numbers):
            raise ValueError(f"{len(ids)} query ids, {len(text)} texts, {len(numbers)} topics; expected equal lengths")
        return cls(ids, tuple(text), numbers.astype(np.int32), query_streams(qids))

    def __len__(self) -> int:
        return len(self.ids)


class DocumentStore(Protocol):
    """Texts and fields of documents, read when asked for."""

    @property
    def fingerprint(self) -> str:
        """Content fingerprint of everything that can be indexed."""
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the text fields."""
        ...

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields joined by a blank) of every document, docnos ascending by code point."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Everything a job knows before retrieval.

    Attributes
    ----------
    name
        for reports and metadata.
    docs
        sorted document ids: those of the collection and those only judged.
    topics, judgments
        queries; judged pairs, coded by ``docs`` and ``topics``.
    groups
        attribute -> raw labels over ``docs``; a groups config turns them into resolved alignments.
    authors
        the author lists over ``docs``, or None where there are none.
    fields
        name -> float64 (D,), numeric facts about documents such as ``year``; NaN where one is missing.
    documents
        the store of texts, or None where only a run file can supply candidates.
    truth
        what a generated world knows, for instance ``relevance_probability`` of every judged pair; empty elsewhere.
    counts
        what the reader counted.
    fingerprint
        of the content.
    """

    name: str
    docs: Ids
    topics: Topics
    judgments: Judgments
    fingerprint: str
    groups: Mapping[str, Labels] = field(default_factory=dict)
    authors: Authors | None = None
    fields: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    documents: DocumentStore | None = None
    truth: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)

    def over(self, docs: Ids) -> Collection:
        """Return the collection over more documents, which have no authors, no labels and no judgments.

        Parameters
        ----------
        docs
            sorted, with every document of the collection; a run may name others.
        """
        if docs.fingerprint == self.docs.fingerprint:
            return self
        code = self.docs.recoder(docs)
        return replace(
            self,
            docs=docs,
            judgments=self.judgments.recode(code),
            groups={name: labels.over(code, len(docs)) for name, labels in self.groups.items()},
            authors=None if self.authors is None else self.authors.over(code, len(docs)),
            fields={name: _moved(values, code, len(docs)) for name, values in self.fields.items()},
        )


def _moved(values: NDArray[np.float64], code: NDArray[np.int32], rows: int) -> NDArray[np.float64]:
    """Return float64 (rows,): values[d] at code[d], NaN at new documents."""
    out = np.full(rows, np.nan)
    out[code] = values
    return out
