"""The words of a collection's documents, counted once and kept: for tf-idf vectors, feedback terms and random terms."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.cache import StageCache
from rerankers._base.errors import ConfigError
from rerankers.features.words import words_of
from rerankers.queries.normalise import STOP_WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from rerankers.values import Collection, DocumentStore

    Matrix = Any  # scipy.sparse.csr_matrix, which has no types

VERSION: Final = "query-terms-1"
_COUNTS, _WORDS = "counts.npz", "words.txt"


@dataclass(frozen=True, eq=False)
class CorpusTerms:
    """How often each word stands in each document.

    Attributes
    ----------
    words
        the V distinct words, ascending; runs of letters and digits in lower case, without stop words.
    counts
        sparse (D, V), rows by document code; documents without text have none.
    """

    words: tuple[str, ...]
    counts: Matrix

    @cached_property
    def code(self) -> dict[str, int]:
        """Word -> column."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def having(self) -> NDArray[np.int64]:
        """int64 (V,), the number of documents that have each word."""
        return np.bincount(self.counts.indices, minlength=len(self.words)).astype(np.int64)

    @cached_property
    def documents(self) -> int:
        """Number of documents with at least one word."""
        return int(np.count_nonzero(np.diff(self.counts.indptr)))

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """float64 (V,), log(1 + N / n), above 0 even for a word that all documents have."""
        return np.log1p(self.documents / np.maximum(self.having, 1.0))

    @cached_property
    def weighted(self) -> Matrix:
        """Sparse (D, V) of length 1 by row: (1 + log tf) log(1 + N / n), in the manner of Salton & Buckley (1988)."""
        from scipy import sparse

        data = (1.0 + np.log(self.counts.data)) * self.idf[self.counts.indices]
        row = np.repeat(np.arange(self.counts.shape[0]), np.diff(self.counts.indptr))
        length = np.sqrt(np.bincount(row, data * data, minlength=self.counts.shape[0]))
        return sparse.csr_matrix((data / length[row], self.counts.indices, self.counts.indptr), self.counts.shape)

    def usable(self, least: int = 1) -> NDArray[np.int64]:
        """Return the columns of words that may be added to a query, ascending: letters only, two or more of them.

        Parameters
        ----------
        least
            documents that must have the word.
        """
        fits = np.array([len(word) > 1 and word.isalpha() for word in self.words], dtype=bool)
        return np.flatnonzero(fits & (self.having >= least))


def content_words(text: str) -> list[str]:
    """Return the words of a text in their order, without stop words."""
    return [word for word in words_of(text) if word not in STOP_WORDS]


def corpus_terms(collection: Collection, cache: Path) -> CorpusTerms:
    """Count the words of all text fields; what was counted before is found again by content.

    Raises
    ------
    ConfigError
        when the collection has no texts.
    """
    store = collection.documents
    if store is None or not store.fields:
        raise ConfigError(
            f"collection: {collection.name!r} has no document texts, which tf-idf, word vectors and new terms are made "
            "of; name their keys in collection.text_fields, or take relevance=id and generator=list"
        )
    inputs = {"documents": store.fingerprint, "fields": list(store.fields), "docs": collection.docs.fingerprint}
    entry, _ = StageCache(cache).get_or_make(VERSION, inputs, lambda folder: _write(folder, _count(collection, store)))
    return _read(entry)


def _count(collection: Collection, store: DocumentStore) -> CorpusTerms:
    from scipy import sparse

    known: dict[str, int] = {}
    names: list[str] = []
    flat, ends = array("q"), array("q", [0])
    for docno, text in store.texts(list(store.fields)):
        names.append(docno)
        flat.extend([known.setdefault(word, len(known)) for word in content_words(text)])
        ends.append(len(flat))
    ordered = sorted(known)
    place = np.empty(len(ordered), dtype=np.int64)
    place[[known[word] for word in ordered]] = np.arange(len(ordered))
    row = np.repeat(collection.docs.codes(names), np.diff(np.array(ends, dtype=np.int64)).astype(np.int64))
    column = place[np.array(flat, dtype=np.int64)] if len(flat) else np.empty(0, dtype=np.int64)
    kept = row >= 0
    shape = (len(collection.docs), len(ordered))
    counts = sparse.coo_matrix((np.ones(int(kept.sum())), (row[kept], column[kept])), shape).tocsr()
    counts.sort_indices()
    return CorpusTerms(tuple(ordered), counts)


def _write(folder: Path, terms: CorpusTerms) -> None:
    from scipy import sparse

    sparse.save_npz(folder / _COUNTS, terms.counts, compressed=False)
    (folder / _WORDS).write_text("\n".join(terms.words), encoding="utf-8")


def _read(folder: Path) -> CorpusTerms:
    from scipy import sparse

    text = (folder / _WORDS).read_text(encoding="utf-8")
    return CorpusTerms(tuple(text.split("\n")) if text else (), sparse.csr_matrix(sparse.load_npz(folder / _COUNTS)))
