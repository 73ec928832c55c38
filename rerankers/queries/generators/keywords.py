"""Keywords of the documents that the query finds, or of its topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.queries.generators.base import appended, distinct, own_words
from rerankers.queries.generators.topic_lines import lines_of, topic_lines
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Query

MODES = ("append", "word")


def document_keywords(query: Query, context: Context, documents: int, n: int) -> list[str]:
    """Return the n words with the largest mean tf-idf over the first documents of the query, without its own words."""
    docs = context.searcher.hits(query.text).docs[:documents]
    terms, own = context.terms, set(own_words(query.text))
    if not len(docs):
        return []
    weight = np.asarray(terms.weighted[docs].sum(axis=0)).ravel()
    columns = np.flatnonzero(weight > 0)
    order = columns[np.lexsort((columns, -weight[columns]))]
    words = (terms.words[code] for code in order.tolist())
    fitting = (word for word in words if len(word) > 1 and word.isalpha() and word not in own)
    return [word for word, _ in zip(fitting, range(n), strict=False)]


@dataclass(frozen=True, slots=True)
class Keywords:
    """The query with one keyword behind it, or the keyword alone.

    Parameters
    ----------
    documents
        the keywords are those of the first so many documents of the query (tf-idf), at least 1.
    mode
        ``append``: behind the query; ``word``: alone.
    path
        a file with keywords of topics: ``topic``, tab, keyword, one a line; None takes those of the documents.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    name: ClassVar[str] = "keywords"
    documents: int = 10
    mode: str = "append"
    path: str | None = None

    def __post_init__(self) -> None:
        choose("generator.keywords.mode", self.mode, MODES)
        if self.documents < 1:
            raise ConfigError(f"generator.keywords.documents: found {self.documents}; expected at least 1")

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Read the keywords of topics, or count the words of the collection.

        Raises
        ------
        InputError
            as `topic_lines`.
        """
        if self.path is None:
            context.notes[self.name] = {"words": len(context.terms.words)}
            return
        found = topic_lines(self.path, queries, "generator.keywords.path")
        context.notes[self.name] = {"file": found.fingerprint}
        context.count(self.name, **found.counts)

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return candidates by the weight of their keyword, or in the order of the file; see `Generator`."""
        own = set(own_words(query.text))
        if self.path is None:
            words = document_keywords(query, context, self.documents, budget)
        else:
            words = lines_of(topic_lines(self.path, context.topics, "generator.keywords.path"), query)
        if not words:
            context.count(self.name, queries_without_keywords=1)
        new = [word for word in words if not set(own_words(word)) <= own or self.mode == "word"]
        made = (
            Candidate(word if self.mode == "word" else appended(query, word), (self.name,), (query.text, word))
            for word in new
        )
        return distinct(made, query, budget)
