"""Random terms: the floor that any other generator has to stand above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.streams import query_streams, stream_key, uniforms
from rerankers.queries.generators.base import appended, distinct, own_words
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Query


@dataclass(frozen=True, slots=True)
class RandomTerms:
    """The query with one word of the collection behind it, each as likely as any other.

    Parameters
    ----------
    least_documents
        that must have the word, at least 1.

    Raises
    ------
    ConfigError
        for less.
    """

    name: ClassVar[str] = "random"
    least_documents: int = 2

    def __post_init__(self) -> None:
        if self.least_documents < 1:
            raise ConfigError(f"generator.random.least_documents: found {self.least_documents}; expected at least 1")

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Count the words of the collection."""
        words = len(context.terms.usable(self.least_documents))
        context.notes[self.name] = {"words": words}
        if not words:
            raise ConfigError(
                f"generator.random.least_documents: no word is in {self.least_documents} documents; expected fewer"
            )

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return candidates in random order, by the seed and the query's text; see `Generator`."""
        terms = context.terms
        columns = terms.usable(self.least_documents)
        stream = query_streams([query.key])[0]
        draw = uniforms(stream_key(seed, stream, "random_terms"), 0, 1, len(columns))[0]
        own = set(own_words(query.text))
        words = (terms.words[code] for code in columns[np.argsort(draw, kind="stable")])
        made = (Candidate(appended(query, word), (self.name,), (query.text,)) for word in words if word not in own)
        return distinct(made, query, budget)
