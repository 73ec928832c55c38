"""Variants of a topic as candidates: what people or a model typed for the same need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerankers._base.errors import ConfigError
from rerankers._base.fingerprint import file_fingerprint
from rerankers.queries.generators.base import distinct
from rerankers.queries.scored import Candidate
from rerankers.queries.topic_names import TopicNames, matched
from rerankers.queries.variant_files import read_variants

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Query
    from rerankers.queries.sets import VariantSet

OPTION = "generator.variants.path"


@dataclass(frozen=True, slots=True)
class Variants:
    """Candidates from a file of query variants, in any of the forms of `read_variants`.

    Parameters
    ----------
    path
        the file.
    source
        take the rows of this source only; None takes all.
    topics_offset
        added to the number at the end of a topic's id, see `TopicNames`; None: UQV100.001 is topic 201.
    """

    name: ClassVar[str] = "variants"
    path: str
    source: str | None = None
    topics_offset: int | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError(f"{OPTION}: no value; expected a file of query variants")

    def prepare(self, queries: Sequence[Query], context: Context, budget: int, seed: int) -> None:
        """Read the file.

        Raises
        ------
        FairRerankersError
            as `read_variants`; InputError where no topic of the file is one of the job.
        """
        found = self._read(queries)
        context.loaded[self._key] = found
        context.notes[self.name] = {"file": file_fingerprint(Path(self.path).expanduser())}
        context.count(self.name, **found.counts)

    def generate(self, query: Query, context: Context, budget: int, seed: int) -> list[Candidate]:
        """Return the distinct variants in the order of the file; see `Generator`."""
        if self._key not in context.loaded:
            context.loaded[self._key] = self._read(context.topics or [query])
        texts = context.loaded[self._key].distinct(query.id)
        kept = distinct((Candidate(text, (self.name,), (query.text,)) for text in texts), query, len(texts))
        context.count(self.name, beyond_the_budget=max(len(kept) - budget, 0))
        return kept[:budget]

    @property
    def _key(self) -> str:
        return f"{self.name} {self.path} {self.source} {self.topics_offset}"

    def _read(self, queries: Sequence[Query]) -> VariantSet:
        file = read_variants(self.name, Path(self.path).expanduser(), source=self.source)
        names = TopicNames({}, self.topics_offset)
        return matched(file, [query.id for query in queries], names, self.path, "the job").variants
