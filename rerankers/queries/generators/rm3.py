"""Terms of pseudo-relevance feedback: RM3 in text form (Abdul-Jaleel et al. 2004, with Anserini's defaults)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.queries.corpus_terms import content_words
from rerankers.queries.generators.base import distinct, own_words
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.corpus_terms import CorpusTerms
    from rerankers.queries.generators.base import Context, Query
    from rerankers.queries.searching import Hits

MOST_SHARE = 0.1  # of the documents may have a feedback term, as in Anserini: others are too usual to tell anything

WEIGHTS = 1000  # words of a weighted query: weights to three digits


def feedback_terms(terms: CorpusTerms, hits: Hits, documents: int, size: int) -> list[tuple[str, float]]:
    """Return the terms of the first documents with their weights in the relevance model, heaviest first.

    RM1 (Lavrenko & Croft 2001): p(w) = Σ_d s_d tf(w, d) / |d| over the first documents, s_d their first-stage scores
    divided by their sum; |d| counts the terms that may be chosen: letters only, 2 to 20 of them, in at most a tenth
    of the collection's documents (where the collection has more than ten).

    Parameters
    ----------
    hits
        of the original query.
    documents, size
        feedback documents; terms to return, whose weights sum to 1.
    """
    docs, score = hits.docs[:documents], np.maximum(hits.scores[:documents], 0.0)
    if not len(docs):
        return []
    share = score / score.sum() if score.sum() > 0 else np.full(len(docs), 1.0 / len(docs))
    rows = terms.counts[docs]
    columns = np.unique(rows.indices)
    rare = terms.having[columns] <= max(MOST_SHARE * terms.documents, 1.0)
    fits = np.array([word.isalpha() and 2 <= len(word) <= 20 for word in (terms.words[c] for c in columns)], dtype=bool)
    columns = columns[fits & rare]
    table = rows[:, columns].toarray()
    length = np.maximum(table.sum(axis=1, keepdims=True), 1.0)
    weight = (share[:, np.newaxis] * table / length).sum(axis=0)
    best = np.lexsort((columns, -weight))[:size]
    best = best[weight[best] > 0]
    total = float(weight[best].sum())
    return [(terms.words[columns[place]], float(weight[place]) / total) for place in best]


def weighted_query(
    terms: CorpusTerms, text: str, hits: Hits, documents: int = 10, size: int = 10, original_weight: float = 0.5
) -> str:
    """Return RM3's weighted query as a text in which a word stands as often as it weighs, `WEIGHTS` words in all.

    First stages count a word that stands twice twice, so this is the query of weighted terms but for rounding: the
    query's own words with ``original_weight`` in all, the feedback terms with the rest (Abdul-Jaleel et al. 2004; the
    defaults are Anserini's). The text itself where its documents have no feedback terms.
    """
    own = content_words(text)
    found = feedback_terms(terms, hits, documents, size)
    if not own or not found:
        return text
    weight = dict.fromkeys(own, 0.0)
    for word in own:
        weight[word] += original_weight / len(own)
    for word, share in found:
        weight[word] = weight.get(word, 0.0) + (1.0 - original_weight) * share
    return " ".join(word for word, share in weight.items() for _ in range(round(WEIGHTS * share)))


@dataclass(frozen=True, slots=True)
class RM3:
    """The query with feedback terms: first all of the best, then each of them alone, then the best few together.

    Parameters
    ----------
    documents
        feedback documents, at least 1.
    terms
        feedback terms that the fullest query gets, at least 1.
    original_weight
        weight of the query's own terms in the interpolated model, 0 to 1. In text form every term counts alike, so it
        only decides which terms of the query stay: with a weight of 0 the feedback terms stand alone.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    name: ClassVar[str] = "rm3"
    documents: int = 10
    terms: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        for key in ("documents", "terms"):
            if getattr(self, key) < 1:
                raise ConfigError(f"generator.rm3.{key}: found {getattr(self, key)}; expected at least 1")
        if not 0 <= self.original_weight <= 1:
            raise ConfigError(f"generator.rm3.original_weight: found {self.original_weight}; expected 0 to 1")

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Count the words of the collection."""
        context.notes[self.name] = {"words": len(context.terms.words)}

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return candidates by the weight of their terms; see `Generator`. A query without documents has none."""
        own = set(own_words(query.text))
        hits = context.searcher.hits(query.text)
        found = feedback_terms(context.terms, hits, self.documents, budget + self.terms + len(own))
        words = [word for word, _ in found if word not in own]
        if not words:
            context.count(self.name, queries_without_feedback_terms=1)
        return distinct(self._made(query, words), query, budget)

    def _made(self, query: Query, words: Sequence[str]) -> Iterator[Candidate]:
        best = words[: self.terms]
        start = [query.text] if self.original_weight > 0 else []
        groups = [best, *([word] for word in words), *(best[:size] for size in range(len(best) - 1, 1, -1))]
        for group in groups:
            if group:
                yield Candidate(" ".join([*start, *group]), (self.name,), (query.text, *group))
