"""Rewrites of the query by a language model, alone or told which words are near, or which the documents speak of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from rerankers._base.errors import ConfigError, choose
from rerankers.llm.lines import parse_lines
from rerankers.llm.prompts import Prompt
from rerankers.queries.generators.base import distinct, same
from rerankers.queries.generators.embedding import Embedding, neighbours
from rerankers.queries.generators.keywords import document_keywords
from rerankers.queries.generators.topic_lines import lines_of, topic_lines
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.llm.base import Request
    from rerankers.queries.generators.base import Context, Query

NAMES: Final = {"none": "llm", "neighbours": "neighbours_llm", "keywords": "keywords_llm"}
"""What the model is told besides the query -> name of the generator."""
PROMPTS: Final = Path(__file__).parent.parent / "prompts"
PLACES: Final = ("query", "number", "words")

Completions = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Rewrites:
    """Rewrites from a language model (``llm=…``), one a line of its replies.

    Parameters
    ----------
    words
        ``none``; ``neighbours``: the words nearest to those of the query; ``keywords``: keywords of its documents, or
        of its topic (``path``).
    prompt
        YAML file with ``{{query}}``, and perhaps ``{{number}}`` and ``{{words}}``; None takes the one that comes with
        the package for ``words``.
    completions
        S, how often each query is asked, at least 1; how much they differ is told in the results.
    number
        rewrites that are asked for in each completion, and taken from it, at least 1.
    told
        how many words the model is told, at least 1.
    vectors
        word vectors for ``neighbours``; None learns them from the collection.
    documents, path
        for ``keywords``, as of `Keywords`.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    words: str = "none"
    prompt: str | None = None
    completions: int = 5
    number: int = 10
    told: int = 10
    vectors: str | None = None
    documents: int = 10
    path: str | None = None

    def __post_init__(self) -> None:
        choose("generator.llm.words", self.words, NAMES)
        for key in ("completions", "number", "told", "documents"):
            if getattr(self, key) < 1:
                raise ConfigError(f"generator.{self.name}.{key}: found {getattr(self, key)}; expected at least 1")

    @property
    def name(self) -> str:
        """Its name in results: ``llm``, ``neighbours_llm`` or ``keywords_llm``."""
        return NAMES[self.words]

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Ask for all completions of all queries at once; what was asked before is in the replay cache.

        Raises
        ------
        FairRerankersError
            for a job without a language model, a prompt that cannot be read, and as the session.
        """
        self._ask(queries, context, budget)
        prompt = self._prompt()
        asked = [self._said(query, context) for query in context.topics if self._key(query) in context.loaded]
        context.notes[self.name] = {
            "model": context.session(self.name).name,
            "prompt": prompt.name,
            "prompt_fingerprint": prompt.fingerprint,
            "completions": self.completions,
            "jaccard_of_completions": _jaccard(asked),
        }
        if self.words == "neighbours":
            context.notes[self.name]["vectors"] = Embedding(vectors=self.vectors).load(context).source

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return the rewrites, the first of each completion first; see `Generator`."""
        if self._key(query) not in context.loaded:
            self._ask([query], context, budget)
        return distinct(self._made(query, self._said(query, context)), query, budget)

    def _said(self, query: Query, context: Context) -> Completions:
        said: Completions = context.loaded[self._key(query)]
        return said

    def _key(self, query: Query) -> str:
        return f"{self.name} {query.id} {query.text}"

    def _prompt(self) -> Prompt:
        usual = "rewrites.yaml" if self.words == "none" else "rewrites_from_words.yaml"
        return Prompt.read(self.prompt or PROMPTS / usual, PLACES, ("query",))

    def _ask(self, queries: Sequence[Query], context: Context, budget: int) -> None:
        prompt, session = self._prompt(), context.session(self.name)
        new = [query for query in queries if self._key(query) not in context.loaded]
        requests: list[Request] = []
        for query in new:
            values = self._values(query, context)
            requests += [prompt.request(values, query.id, sample) for sample in range(self.completions)]
        replies = iter(session.ask(requests))
        for query in new:
            parsed = [parse_lines(next(replies), query.text, self.number) for _ in range(self.completions)]
            context.loaded[self._key(query)] = tuple(one.kept for one in parsed)
            for one in parsed:
                lost = {f"lines_{reason}": number for reason, number in one.counts.items()}
                failed = {f"replies_{one.reason}": 1} if one.reason else {}
                context.count(self.name, replies=1, **lost, **failed)

    def _values(self, query: Query, context: Context) -> Mapping[str, str]:
        words: Sequence[str] = ()
        if self.words == "neighbours":
            vectors = Embedding(vectors=self.vectors).load(context)
            words = [other for _, other in neighbours(vectors, query, self.told)]
        elif self.words == "keywords" and self.path is None:
            words = document_keywords(query, context, self.documents, self.told)
        elif self.words == "keywords":
            option = f"generator.{self.name}.path"
            words = lines_of(topic_lines(str(self.path), context.topics, option), query)[: self.told]
        if self.words != "none" and not words:
            context.count(self.name, queries_without_words=1)
        return {"query": query.text, "number": str(self.number), "words": ", ".join(words) or "(none)"}

    def _made(self, query: Query, said: Completions) -> Iterator[Candidate]:
        for place, line in enumerate(zip_longest(*said)):
            for text in line:
                if text is not None:
                    yield Candidate(text, (self.name,), (query.text,), int(place == 0))


def _jaccard(asked: Sequence[Completions]) -> float | None:
    """Return how alike completions of one query are: the Jaccard index of two, mean over pairs and queries."""
    values = []
    for said in asked:
        sets = [{same(text) for text in one} for one in said]
        pairs = [len(a & b) / len(a | b) for a, b in combinations(sets, 2) if a | b]
        if pairs:
            values.append(fmean(pairs))
    return fmean(values) if values else None
