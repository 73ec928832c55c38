"""What generators of candidate queries share: the query, what is known around it, and the rules of their lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rerankers._base.errors import ConfigError
from rerankers.queries.corpus_terms import CorpusTerms, content_words, corpus_terms
from rerankers.queries.normalise import normalise
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.llm.base import Session
    from rerankers.queries.searching import Searcher
    from rerankers.values import Collection

ORIGINAL: Final = "original"
"""The generator that the query itself is told to be of."""


@dataclass(frozen=True, slots=True)
class Query:
    """The query that others are sought for.

    Attributes
    ----------
    id
        of its topic; of a query that was typed, ``query-1`` and so on.
    text
        as it is asked.
    """

    id: str
    text: str

    @property
    def key(self) -> str:
        """What draws depend on: the text without case and doubled blanks, so not its place or its id."""
        return same(self.text)


@dataclass(eq=False)
class Context:
    """What generators may look at.

    Attributes
    ----------
    collection
        documents and texts.
    searcher
        the first stage; ``searcher.hits(query.text)`` are the documents of the original query.
    cache
        folder for what is learnt.
    llm
        a session with a language model, None where the job has none.
    topics
        ids of all queries of the job, for files that name topics.
    counts
        generator -> what it met (``name: number``), for results.
    notes
        generator -> what its results depend on: fingerprints of vectors, prompts, files.
    loaded
        what generators keep between queries.
    """

    collection: Collection
    searcher: Searcher
    cache: Path
    llm: Session | None = None
    topics: Sequence[Query] = ()
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    loaded: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def terms(self) -> CorpusTerms:
        """The words of the collection."""
        return corpus_terms(self.collection, self.cache)

    def session(self, generator: str) -> Session:
        """Return the language model.

        Raises
        ------
        ConfigError
            when the job has none.
        """
        if self.llm is None:
            raise ConfigError(f"llm: none, which generator={generator} asks; expected one, for instance llm=scripted")
        return self.llm

    def count(self, generator: str, **found: int) -> None:
        """Add to what a generator met."""
        own = self.counts.setdefault(generator, {})
        for name, number in found.items():
            if number:
                own[name] = own.get(name, 0) + number


class Generator(Protocol):
    """Makes candidates; its dataclass fields are the options of ``conf/generator/<name>.yaml``."""

    name: str

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Look at all queries at once, before any `generate`: read files, ask a language model in one go."""
        ...

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return candidates for one query, the most promising first.

        Parameters
        ----------
        query
            whose documents are in ``context.searcher``.
        context
            what may be looked at.
        budget
            how many at most; the original, and texts that only differ from it or from each other in case and blanks,
            are never among them.
        seed
            of what is drawn; the draws depend on it and on the query's text alone.
        """
        ...


def same(text: str) -> str:
    """Return what is compared to tell whether two texts are one query: without case and doubled blanks."""
    return normalise(text, "case+space")


def distinct(candidates: Iterable[Candidate], query: Query, budget: int) -> list[Candidate]:
    """Return the first candidates, each once, without empty ones and the query itself."""
    seen, kept = {"", same(query.text)}, list[Candidate]()
    for candidate in candidates:
        if len(kept) >= budget:
            break
        key = same(candidate.text)
        if key not in seen:
            seen.add(key)
            kept.append(candidate)
    return kept


def appended(query: Query, term: str) -> str:
    """Return the query with a term behind it."""
    return f"{query.text} {term}"


def own_words(text: str) -> list[str]:
    """Return the distinct content words of a query, in their order."""
    return list(dict.fromkeys(content_words(text)))
