"""Neighbours of a query's words among word vectors (as in BalancedQR, ECML-PKDD 2023)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerankers._base.errors import choose
from rerankers.queries.generators.base import appended, distinct, own_words
from rerankers.queries.learnt_vectors import Learning, learn_vectors
from rerankers.queries.scored import Candidate
from rerankers.queries.vectors_file import read_vectors

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Query
    from rerankers.queries.vectors import WordVectors

MODES = ("append", "replace", "word")


@dataclass(frozen=True, slots=True)
class Embedding:
    """The words nearest to each content word of the query, by cosine.

    Parameters
    ----------
    mode
        ``append``: the query with the neighbour behind it; ``replace``: the word's place is taken by its neighbour;
        ``word``: the neighbour alone, as we read the published method.
    vectors
        a file (`read_vectors`); None learns vectors from the collection's texts (`learn_vectors`).
    all_words
        of a file: also words that no document of the collection has.
    dimensions, least_documents, most_share, most_words
        of learnt vectors, see `Learning`.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    name: ClassVar[str] = "embedding"
    mode: str = "append"
    vectors: str | None = None
    all_words: bool = False
    dimensions: int = 100
    least_documents: int = 3
    most_share: float = 0.5
    most_words: int = 30_000

    def __post_init__(self) -> None:
        choose("generator.embedding.mode", self.mode, MODES)
        self._learning()

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Read or learn the vectors.

        Raises
        ------
        FairRerankersError
            as `read_vectors` and `learn_vectors`.
        """
        found = self.load(context)
        own = [own_words(query.text) for query in queries]
        context.notes[self.name] = {"vectors": found.source, "words": len(found.words), "size": found.matrix.shape[1]}
        context.count(
            self.name,
            query_words=sum(len(words) for words in own),
            query_words_without_vector=sum(word not in found.code for words in own for word in words),
        )

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return candidates by the cosine of their neighbour; see `Generator`."""
        near = neighbours(self.load(context), query, budget + len(own_words(query.text)))
        if not near:
            context.count(self.name, queries_without_neighbours=1)
        return distinct(self._made(query, near), query, budget)

    def load(self, context: Context) -> WordVectors:
        """Return the vectors; kept in the context once they are there."""
        key = f"{self.name} vectors {self.vectors} {self.all_words} {self._learning()}"
        if key not in context.loaded:
            context.loaded[key] = self._load(context)
        found: WordVectors = context.loaded[key]
        return found

    def _load(self, context: Context) -> WordVectors:
        if self.vectors is None:
            return learn_vectors(context.terms, self._learning(), context.cache)
        if not Path(self.vectors).expanduser().is_file() or self.all_words:
            return read_vectors(self.vectors)  # which says what is wrong
        wanted = {*context.terms.words, *(word for query in context.topics for word in own_words(query.text))}
        return read_vectors(self.vectors, wanted)

    def _learning(self) -> Learning:
        return Learning(self.dimensions, self.least_documents, self.most_share, self.most_words)

    def _made(self, query: Query, near: Sequence[tuple[str, str]]) -> Iterator[Candidate]:
        for word, neighbour in near:
            if self.mode == "word":
                text = neighbour
            elif self.mode == "append":
                text = appended(query, neighbour)
            else:
                text = replaced(query.text, word, neighbour)
            yield Candidate(text, (self.name,), (query.text, word, neighbour))


def neighbours(vectors: WordVectors, query: Query, n: int) -> list[tuple[str, str]]:
    """Return (word of the query, neighbour) pairs, the nearest first; a neighbour stands with its nearest word."""
    own = own_words(query.text)
    near = [
        (cosine, place, word, other) for place, word in enumerate(own) for other, cosine in vectors.nearest(word, n)
    ]
    best: dict[str, str] = {}
    for _, _, word, other in sorted(near, key=lambda one: (-one[0], one[1], one[3])):
        if other not in own:
            best.setdefault(other, word)
    return [(word, other) for other, word in best.items()][:n]


def replaced(text: str, word: str, other: str) -> str:
    """Return a query with each occurrence of a word, in whatever case, replaced."""
    from rerankers.features.words import WORD, words_of

    return WORD.sub(lambda found: other if words_of(found[0]) == [word] else found[0], text)
