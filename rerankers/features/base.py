"""What a family of features is, and the table that features come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext

BLIND, METADATA = "blind", "metadata"
_BLIND_SOURCES = ("query", "candidates", "score")


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features of the pairs of some candidates.

    Attributes
    ----------
    values
        float64 (nnz, F); NaN where a value is missing, never infinite.
    names
        the F names, unique, such as ``bm25.title`` or ``bm25.title.rank``.
    tier
        the information that they take: ``blind`` (texts and first-stage scores) or ``metadata``.
    counts
        what was met, for instance ``pairs_without_document.year``.
    sources
        name -> the facts that the column was made from: ``query``, ``candidates``, ``score``, ``text:title``,
        ``document:year``, ``authors`` (who wrote what), ``author:h_index``, ``given:f7``, ``file:PATH:COLUMN``,
        ``function:mine:novelty``.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    tier: str
    counts: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some features of all pairs.

    Attributes
    ----------
    values
        name -> float64 (nnz,), finite, NaN where missing, in a fixed order of names.
    sources
        name -> see `FeatureTable`.
    per_query
        names of those that are equal for all candidates of a query, so that no order within it can be had from them.
    counts
        what was met.
    """

    values: Mapping[str, NDArray[np.float64]]
    sources: Mapping[str, tuple[str, ...]]
    per_query: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)


class Family(Protocol):
    """Features of one kind."""

    name: ClassVar[str]

    def lacks(self, context: FeatureContext) -> str | None:
        """Return what the collection or the candidates would need to have for these features; None if all is there."""
        ...

    def columns(self, context: FeatureContext) -> Columns:
        """Return the features. The bits of a row depend on that row and the documents, not on other rows."""
        ...


def tier_of(sources: Iterable[tuple[str, ...]]) -> str:
    """Return the tier of columns that were made from some facts.

    Facts of unknown origin (files, functions, features that came with the data) count as metadata.
    """
    facts = {fact for each in sources for fact in each}
    blind = all(fact in _BLIND_SOURCES or fact.startswith("text:") for fact in facts)
    return BLIND if blind else METADATA
