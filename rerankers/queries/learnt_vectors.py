"""Word vectors learnt from a collection's own texts: positive pointwise mutual information, reduced by an SVD.

Two words count together once for each document that has both (Levy & Goldberg 2014 for the matrix and its link to
word2vec; Bullinaria & Levy 2012 for the reduction). Good on a collection of some thousand documents; on a few hundred
short ones the neighbours are poor, and a vector file is the better source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.cache import StageCache
from rerankers._base.errors import ConfigError
from rerankers._base.fingerprint import fingerprint
from rerankers.queries.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.queries.corpus_terms import CorpusTerms

VERSION: Final = "query-vectors-1"
_MATRIX, _WORDS = "vectors.npy", "words.txt"


@dataclass(frozen=True, slots=True)
class Learning:
    """How vectors are learnt.

    Attributes
    ----------
    dimensions
        of the vectors; fewer where there are fewer words.
    least_documents
        that must have a word; rarer ones have no vector.
    most_share
        of the documents that may have a word; more usual ones have no vector.
    most_words
        that have a vector: those in most documents; it bounds memory.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    dimensions: int = 100
    least_documents: int = 3
    most_share: float = 0.5
    most_words: int = 30_000

    def __post_init__(self) -> None:
        whole = {"dimensions": 1, "least_documents": 1, "most_words": 2}
        for name, least in whole.items():
            if getattr(self, name) < least:
                raise ConfigError(f"generator.embedding.{name}: found {getattr(self, name)}; expected at least {least}")
        if not 0 < self.most_share <= 1:
            raise ConfigError(f"generator.embedding.most_share: found {self.most_share}; expected above 0, at most 1")


def learn_vectors(terms: CorpusTerms, options: Learning, cache: Path) -> WordVectors:
    """Learn vectors, or find those that were learnt from the same texts; the same bits every time on a machine.

    Raises
    ------
    ConfigError
        when fewer than two words are left.
    """
    name = fingerprint(terms.words, terms.counts.indptr, terms.counts.indices, terms.counts.data)
    inputs = {"terms": name, **{key: getattr(options, key) for key in options.__slots__}}

    def make(folder: Path) -> None:
        words, matrix = _learn(terms, options)
        np.save(folder / _MATRIX, matrix, allow_pickle=False)
        (folder / _WORDS).write_text("\n".join(words), encoding="utf-8")

    entry, _ = StageCache(cache).get_or_make(VERSION, inputs, make)
    words = (entry / _WORDS).read_text(encoding="utf-8").split("\n")
    return WordVectors.of(words, np.load(entry / _MATRIX, allow_pickle=False), f"learnt:{fingerprint(name, options)}")


def _learn(terms: CorpusTerms, options: Learning) -> tuple[list[str], Any]:
    from scipy.sparse.linalg import svds

    usual = terms.having <= options.most_share * terms.documents
    kept = np.array([code for code in terms.usable(options.least_documents) if usual[code]], dtype=np.int64)
    if len(kept) < 2:
        raise ConfigError(
            f"generator.embedding: {len(kept)} words of the collection are in at least {options.least_documents} "
            f"documents and at most {options.most_share:g} of all; expected two or more. Name a file in "
            "generator.embedding.vectors, or lower generator.embedding.least_documents"
        )
    if len(kept) > options.most_words:
        usual_first = np.argsort(-terms.having[kept], kind="stable")
        kept = np.sort(kept[usual_first[: options.most_words]])
    matrix = _ppmi(terms.counts[:, kept])
    words = [terms.words[code] for code in kept]
    size = min(options.dimensions, len(kept) - 1)
    # A start vector of our own: otherwise ARPACK begins with numpy's unseeded numbers.
    left, value, _ = svds(matrix, k=size, v0=np.linspace(1.0, 2.0, len(kept)), solver="arpack")
    order = np.argsort(-value, kind="stable")
    return words, left[:, order] * np.sqrt(value[order])


def _ppmi(counts: Any) -> Any:
    """Return sparse (V, V): max(0, log(n_ij N / (n_i n_j))), n documents with both or with one, 0 on the diagonal."""
    from scipy import sparse

    has = counts.copy()
    has.data = np.ones_like(has.data)
    both = sparse.coo_matrix(has.T @ has)
    off = both.row != both.col
    row, column, seen = both.row[off], both.col[off], both.data[off]
    number = np.asarray(has.sum(axis=0)).ravel()
    documents = max(int(np.count_nonzero(np.diff(counts.indptr))), 1)
    value = np.maximum(np.log(seen * documents / (number[row] * number[column])), 0.0)
    kept = value > 0
    size = counts.shape[1]
    matrix = sparse.coo_matrix((value[kept], (row[kept], column[kept])), (size, size)).tocsr()
    matrix.sort_indices()
    return matrix
