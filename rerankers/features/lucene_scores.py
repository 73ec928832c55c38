"""Scores of the first stage's models, of every text field and of all of them joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.features.base import Columns
from rerankers.retrieval.bm25 import BM25
from rerankers.values import Candidates
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext


@dataclass(frozen=True, slots=True)
class Bm25:
    """``bm25.FIELD``: Okapi BM25 of the query and the field, as Lucene computes it, with its analysis of English.

    0 for a text without a term of the query; missing where the document has no word in the field or the query none.
    """

    name: ClassVar[str] = "bm25"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.store is not None else "document texts"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        return _scored(context, self.name)


@dataclass(frozen=True, slots=True)
class QueryLikelihood:
    """``ql.FIELD``: log likelihood of the query under the text's Dirichlet-smoothed language model.

    Zhai and Lafferty (2001), in the form of Lucene (`rerankers.retrieval.lucene.LuceneIndex.score`): terms that the
    text does not have add nothing, so that it is 0 where BM25 is 0. Missing as BM25 is.
    """

    name: ClassVar[str] = "query_likelihood"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        return None if context.store is not None else "document texts"

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        return _scored(context, "ql")


def _scored(context: FeatureContext, prefix: str) -> Columns:
    values: dict[str, NDArray[np.float64]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    counts: dict[str, int] = {}
    options, given = context.options, context.candidates
    for field, texts in context.texts.fields.items():
        known = (texts.find(given.doc) >= 0) & context.asked
        indptr = np.concatenate([[0], np.cumsum(known)])[given.indptr]
        pairs = Candidates(given.query, indptr, given.doc[known])
        model = BM25(
            k1=options.k1, b=options.b, fields=context.fields_of(field), threads=options.threads, heap=options.heap
        )
        column = np.full(given.nnz, np.nan)
        if pairs.nnz and prefix == "bm25":
            column[known] = model.scores(context.collection, pairs, context.cache)
        elif pairs.nnz:
            column[known] = model.likelihoods(context.collection, pairs, context.cache, options.mu)
        name = f"{prefix}.{field}"
        values[name], sources[name] = column, context.sources_of(field)
        counts[f"pairs_without_{name}"] = int(np.sum(~known))
    return Columns(values, sources, counts=met(**counts))
