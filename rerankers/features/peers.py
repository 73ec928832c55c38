"""How a candidate relates to the other candidates of its query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rerankers.features.base import Columns
from rerankers.features.gather import bounds_of, row_chunks, spread, sums
from rerankers.features.matches import unit_weights
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext
    from rerankers.features.texts import FieldTexts
    from rerankers.values import Authors, Candidates

_ENTRIES_A_STEP: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Peers:
    """Similarity to the query's other candidates, which a short query that many documents match says nothing about.

    - ``peers.text``: cosine of the text's tf-idf vector, (1 + log tf) · idf over all fields joined, with the sum of
      the others' unit vectors (Rocchio's centroid, 1971); missing where either has no word;
    - ``peers.authors``: share of the other candidates with known authors that have an author of this one; missing
      where there are none, or this one's are not known.
    """

    name: ClassVar[str] = "peers"

    def lacks(self, context: FeatureContext) -> str | None:
        """See `Family`."""
        nothing = context.store is None and context.collection.authors is None
        return "document texts or author lists" if nothing else None

    def columns(self, context: FeatureContext) -> Columns:
        """See `Family`."""
        values: dict[str, NDArray[np.float64]] = {}
        sources: dict[str, tuple[str, ...]] = {}
        if context.store is not None:
            field, texts = list(context.texts.fields.items())[-1]
            values["peers.text"] = text_similarity(context.candidates, texts, context.frequencies[field].idf)
            sources["peers.text"] = ("candidates", *(f"text:{each}" for each in context.fields_of(field)))
        if context.collection.authors is not None:
            values["peers.authors"] = shared_authors(context.candidates, context.collection.authors)
            sources["peers.authors"] = ("candidates", "authors")
        counts = {f"pairs_without_{name}": int(np.isnan(column).sum()) for name, column in values.items()}
        return Columns(values, sources, counts=met(**counts))


def text_similarity(over: Candidates, texts: FieldTexts, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``peers.text``, float64 (nnz,), in [0, 1]."""
    out = np.full(over.nnz, np.nan)
    place, row = texts.find(over.doc), over.row_index
    words = texts.words.distinct
    item, weight = words.item, unit_weights(words, idf)
    work = np.append(np.diff(words.indptr), 0)[place]
    for first, last in row_chunks(over.indptr, work, _ENTRIES_A_STEP):
        pairs = np.arange(over.indptr[first], over.indptr[last])
        pairs = pairs[place[pairs] >= 0]
        pair, entry = spread(words.indptr, place[pairs])
        indptr = bounds_of(pair, len(pairs))
        # S, the sum of the unit vectors v of a query's candidates: entry by entry in the candidates' order.
        own = row[pairs] - first
        key = own[pair] * len(idf) + item[entry]
        distinct, inverse = np.unique(key, return_inverse=True)
        total = np.bincount(inverse, weights=weight[entry], minlength=len(distinct))
        square = np.bincount(distinct // len(idf), weights=total * total, minlength=last - first)[own]
        dot = sums(weight[entry] * total[inverse], indptr)
        # v · (S - v) and |S - v|², which is at least the number of the others: no entry of v is negative.
        others = np.bincount(own, minlength=last - first)[own] - 1
        length = np.sqrt(np.maximum(square - 2.0 * dot + 1.0, others))
        known = others > 0
        out[pairs[known]] = np.clip((dot - 1.0)[known] / length[known], 0.0, 1.0)
    return out


def shared_authors(over: Candidates, authors: Authors) -> NDArray[np.float64]:
    """Return ``peers.authors``, float64 (nnz,), in [0, 1]."""
    from scipy.sparse import csr_array

    out = np.full(over.nnz, np.nan)
    doc, row = over.doc.astype(np.int64), over.row_index
    work = np.diff(authors.indptr)[doc] * np.repeat(over.lengths, over.lengths)
    for first, last in row_chunks(over.indptr, work, _ENTRIES_A_STEP):
        start, stop = int(over.indptr[first]), int(over.indptr[last])
        pair, place = spread(authors.indptr, doc[start:stop])
        author = authors.author[place].astype(np.int64)
        known = author >= 0
        width = max(len(authors.ids), 1)
        written = np.unique(pair[known] * width + author[known])
        owner = written // width
        key = row[start + owner] * width + written % width  # an author of a query
        distinct, column = np.unique(key, return_inverse=True)
        shape = (stop - start, len(distinct))
        by_author = csr_array((np.ones(len(column), np.int32), (owner, column)), shape=shape)
        together = np.diff((by_author @ by_author.T).indptr)  # itself too
        has = np.diff(by_author.indptr) > 0
        own = row[start:stop] - first
        others = np.bincount(own, weights=has, minlength=last - first)[own] - 1
        fits = np.flatnonzero(has & (others > 0))
        out[start + fits] = (together[fits] - 1) / others[fits]
    return out
