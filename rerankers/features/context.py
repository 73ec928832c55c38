"""What families of features look at, with what several of them need made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.features.texts import Frequencies, Texts, count_documents, read_texts
from rerankers.values import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.feature_set import FeatureSet
    from rerankers.values import Candidates, Collection, DocumentStore


@dataclass(frozen=True, eq=False)
class FeatureContext:
    """Candidates and the collection without its judgments, groups and truth: no feature can leak them.

    Attributes
    ----------
    collection, candidates
        coded alike.
    options
        the feature set.
    cache
        the folder for indexes and results.
    """

    collection: Collection
    candidates: Candidates
    options: FeatureSet
    cache: Path

    @classmethod
    def of(cls, collection: Collection, candidates: Candidates, options: FeatureSet, cache: Path) -> FeatureContext:
        """Take away what features must not see.

        Raises
        ------
        InputError
            for candidates of documents or queries that the collection does not have.
        """
        for what, codes, known in (
            ("documents", candidates.doc, len(collection.docs)),
            ("queries", candidates.query, len(collection.topics)),
        ):
            if codes.min(initial=0) < 0 or codes.max(initial=-1) >= known:
                found = f"{what} with codes up to {int(codes.max(initial=-1))}"
                raise InputError.one("candidates", found, f"codes of the collection's {known} {what}")
        bare = replace(collection, judgments=Judgments.empty(), groups={}, truth={})
        return cls(bare, candidates, options, cache)

    @property
    def store(self) -> DocumentStore | None:
        """The store of texts; None where there is none, or one without text fields."""
        store = self.collection.documents
        return store if store is not None and store.fields else None

    @cached_property
    def fields(self) -> list[str]:
        """The text fields to look at.

        Raises
        ------
        ConfigError
            for a field that the collection does not have.
        """
        known = () if self.store is None else self.store.fields
        if self.options.fields is None:
            return list(known)
        if not known:
            raise ConfigError(f"features.fields: found {self.options.fields}; the collection has no texts")
        return [choose("features.fields", name, known) for name in self.options.fields]

    @cached_property
    def query_texts(self) -> Sequence[str]:
        """The text of each row's query."""
        return [self.collection.topics.text[code] for code in self.candidates.query]

    @cached_property
    def _wanted(self) -> NDArray[np.bool_]:
        wanted = np.zeros(len(self.collection.docs), dtype=bool)
        wanted[self.candidates.doc] = True
        return wanted

    @cached_property
    def texts(self) -> Texts:
        """The words of candidates and queries."""
        return read_texts(self._needed_store, self.fields, self.collection.docs, self._wanted, self.query_texts)

    @cached_property
    def frequencies(self) -> Mapping[str, Frequencies]:
        """In how many documents of the collection the words occur, by field."""
        return count_documents(self._needed_store, self.fields, self.collection.docs, self._wanted, self.texts)

    @property
    def _needed_store(self) -> DocumentStore:
        if self.store is None:
            raise ConfigError(f"features: the collection {self.collection.name!r} has no texts")
        return self.store

    def fields_of(self, name: str) -> list[str]:
        """Return the text fields behind a name of `Texts.fields`: itself, or all of them."""
        return [name] if name in self.fields else self.fields

    def sources_of(self, name: str) -> tuple[str, ...]:
        """Return the facts behind a column that compares the query with a field of `Texts.fields`."""
        return ("query", *(f"text:{each}" for each in self.fields_of(name)))

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Bool (nnz,), whether the query of a pair has a word."""
        filled = np.diff(self.texts.queries.indptr) > 0
        return np.repeat(filled, self.candidates.lengths)
