"""The formulas that compare queries with texts, each over many pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rerankers.features.gather import Occurrences, bounds_of, spread, sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.word_lists import Words


def unit_weights(words: Occurrences, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return tf-idf weights, (1 + log tf) · idf, of the distinct words of texts, each text's vector of length 1.

    Parameters
    ----------
    words
        the distinct words of T texts.
    idf
        float64 (V,), above 0.

    Returns
    -------
    ndarray
        float64 (entries,).
    """
    weight = (1.0 + np.log(words.times)) * idf[words.item]
    norm = np.sqrt(sums(weight * weight, words.indptr))
    unit: NDArray[np.float64] = weight / np.repeat(norm, np.diff(words.indptr))
    return unit


@dataclass(frozen=True, eq=False)
class Comparison:
    """The queries and the texts of one field.

    Attributes
    ----------
    queries, texts
        their words.
    idf
        float64 (V,), of the field.
    """

    queries: Words
    texts: Words
    idf: NDArray[np.float64]

    @cached_property
    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The tf-idf weights of the distinct words of queries and of texts, each vector of length 1."""
        return unit_weights(self.queries.distinct, self.idf), unit_weights(self.texts.distinct, self.idf)

    @cached_property
    def text_idf(self) -> NDArray[np.float64]:
        """float64 (T,), the sum of the idf of the distinct words of each text."""
        distinct = self.texts.distinct
        return sums(self.idf[distinct.item], distinct.indptr)

    @cached_property
    def neighbours(self) -> tuple[Occurrences, Occurrences]:
        """The distinct neighbours of queries, and of texts where a query has them too, by their number."""
        (ends, asked), (text_ends, there) = self.queries.neighbours, self.texts.neighbours
        known = np.unique(asked)
        code = np.searchsorted(known, there)
        kept = np.append(known, -1)[code] == there
        kept_ends = np.concatenate([[0], np.cumsum(kept)])[text_ends]
        width = len(known) + 1
        return Occurrences.of(ends, np.searchsorted(known, asked), width), Occurrences.of(kept_ends, code[kept], width)


@dataclass(frozen=True, eq=False)
class Matches:
    """P pairs of a query and a text that both have words.

    Attributes
    ----------
    of
        the queries and texts.
    query, text
        int64 (P,), which of them a pair is of; queries ascend.
    """

    of: Comparison
    query: NDArray[np.int64]
    text: NDArray[np.int64]

    @cached_property
    def asked(self) -> Lookup:
        """The distinct words of the query of each pair, and where its text has them."""
        return Lookup.of(self.of.queries.distinct, self.of.texts.distinct, self)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The distinct items of the query of every pair, one pair after the other.

    Attributes
    ----------
    indptr
        int64 (P + 1,).
    entry, item, place
        int64 (entries,): where the item is among the queries' occurrences, the item, and where the pair's text has it
        among its occurrences, -1 where it does not.
    """

    indptr: NDArray[np.int64]
    entry: NDArray[np.int64]
    item: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, wanted: Occurrences, there: Occurrences, pairs: Matches) -> Lookup:
        """Look the items of queries up in texts."""
        owner, entry = spread(wanted.indptr, pairs.query)
        item = wanted.item[entry]
        return cls(bounds_of(owner, len(pairs.query)), entry, item, there.find(pairs.text[owner], item))

    @property
    def number(self) -> NDArray[np.float64]:
        """float64 (P,), items of the query."""
        return np.diff(self.indptr).astype(np.float64)

    @property
    def matched(self) -> NDArray[np.float64]:
        """float64 (P,), those of them that the text has."""
        return sums((self.place >= 0).astype(np.float64), self.indptr)


def _coverage(pairs: Matches) -> NDArray[np.float64]:
    return pairs.asked.matched / pairs.asked.number


def _idf_coverage(pairs: Matches) -> NDArray[np.float64]:
    asked, weight = pairs.asked, pairs.of.idf[pairs.asked.item]
    return sums(np.where(asked.place >= 0, weight, 0.0), asked.indptr) / sums(weight, asked.indptr)


def _idf_precision(pairs: Matches) -> NDArray[np.float64]:
    asked = pairs.asked
    both = sums(np.where(asked.place >= 0, pairs.of.idf[asked.item], 0.0), asked.indptr)
    # The two sums add in different orders: where a text has nothing but words of the query they may differ by rounding.
    return np.minimum(both / pairs.of.text_idf[pairs.text], 1.0)


def _cosine(pairs: Matches) -> NDArray[np.float64]:
    asked, (query, text) = pairs.asked, pairs.of.weights
    products = query[asked.entry] * np.append(text, 0.0)[asked.place]
    return np.minimum(sums(products, asked.indptr), 1.0)


def _jaccard(pairs: Matches) -> NDArray[np.float64]:
    both = pairs.asked.matched
    distinct = np.diff(pairs.of.texts.distinct.indptr)[pairs.text]
    jaccard: NDArray[np.float64] = both / (pairs.asked.number + distinct - both)
    return jaccard


def _density(pairs: Matches) -> NDArray[np.float64]:
    times = np.append(pairs.of.texts.distinct.times, 0)[pairs.asked.place].astype(np.float64)
    density: NDArray[np.float64] = sums(times, pairs.asked.indptr) / np.diff(pairs.of.texts.indptr)[pairs.text]
    return density


def _first_match(pairs: Matches) -> NDArray[np.float64]:
    texts = pairs.of.texts
    end = len(texts.word)
    first = np.minimum.reduceat(np.append(texts.distinct.first, end)[pairs.asked.place], pairs.asked.indptr[:-1])
    before = first - texts.indptr[:-1][pairs.text]
    return np.where(first < end, 1.0 / (1.0 + before), 0.0)


def _phrase(pairs: Matches) -> NDArray[np.float64]:
    queries, texts = pairs.of.queries, pairs.of.texts
    out = np.zeros(len(pairs.query))
    able = np.flatnonzero(pairs.asked.matched == pairs.asked.number)
    owner, place = spread(texts.indptr, pairs.text[able])
    pair = able[owner]
    begin, length = queries.indptr[:-1][pairs.query], np.diff(queries.indptr)[pairs.query]
    fits = place + length[pair] <= texts.indptr[1:][pairs.text[pair]]
    pair, place, step = pair[fits], place[fits], 0
    while len(pair):
        same = texts.word[place + step] == queries.word[begin[pair] + step]
        pair, place, step = pair[same], place[same], step + 1
        done = length[pair] == step
        out[pair[done]] = 1.0
        pair, place = pair[~done], place[~done]
    return out


def _bigrams(pairs: Matches) -> NDArray[np.float64]:
    lookup = Lookup.of(*pairs.of.neighbours, pairs)
    number = lookup.number
    return np.where(number > 0, lookup.matched / np.maximum(number, 1.0), np.nan)


def _trigrams(pairs: Matches) -> NDArray[np.float64]:
    queries, texts = pairs.of.queries.distinct_triples, pairs.of.texts.distinct_triples
    # A table of the queries' triples: texts have several times as many, but each is one look into a small table.
    low, high = int(pairs.query[0]), int(pairs.query[-1]) + 1
    asked = np.zeros((high - low, queries.width), dtype=bool)
    asked.reshape(-1)[queries.key[queries.indptr[low] : queries.indptr[high]] - low * queries.width] = True
    owner, entry = spread(texts.indptr, pairs.text)
    found = asked[(pairs.query - low)[owner], texts.item[entry]]
    number = [np.diff(each.indptr)[place] for each, place in ((queries, pairs.query), (texts, pairs.text))]
    both = np.add.reduceat(found, bounds_of(owner, len(pairs.query))[:-1], dtype=np.int64)
    dice: NDArray[np.float64] = 2.0 * both / (number[0] + number[1])
    return dice


FORMULAS: Mapping[str, Callable[[Matches], NDArray[np.float64]]] = {
    "coverage": _coverage,
    "idf_coverage": _idf_coverage,
    "idf_precision": _idf_precision,
    "cosine": _cosine,
    "jaccard": _jaccard,
    "density": _density,
    "first_match": _first_match,
    "phrase": _phrase,
    "bigrams": _bigrams,
    "trigrams": _trigrams,
}
"""Name -> float64 (P,) of P pairs."""
