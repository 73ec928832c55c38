"""A user's own list of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rerankers._base.errors import ConfigError
from rerankers.queries.generators.base import distinct
from rerankers.queries.generators.topic_lines import lines_of, topic_lines
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Query

OPTION = "generator.list.path"


@dataclass(frozen=True, slots=True)
class ListFile:
    """Candidates from a file.

    Parameters
    ----------
    path
        ``topic``, tab, query, one a line; ``*`` in place of a topic is for all (`topic_lines`).
    """

    name: ClassVar[str] = "list"
    path: str

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError(f"{OPTION}: no value; expected a file with topic, tab, query a line")

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Read the file; raises as `topic_lines`."""
        found = topic_lines(self.path, queries, OPTION)
        context.notes[self.name] = {"file": found.fingerprint}
        context.count(self.name, **found.counts)

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return the candidates in the order of the file; see `Generator`."""
        texts = lines_of(topic_lines(self.path, context.topics or [query], OPTION), query)
        kept = distinct((Candidate(text, (self.name,), (query.text,)) for text in texts), query, len(texts))
        context.count(self.name, beyond_the_budget=max(len(kept) - budget, 0))
        return kept[:budget]
