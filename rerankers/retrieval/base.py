"""What every first stage returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rerankers.values import Candidates, Collection, Ids


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """Candidates and how they came about.

    Attributes
    ----------
    docs
        the ids that ``candidates`` is coded by: the collection's, extended where a run names further documents.
    candidates
        one row a topic, in the topics' order; a query without a hit has an empty row.
    counts
        what was met on the way.
    seconds
        wall time by step (``index``, ``search``); a step that was found in the cache has none.
    """

    docs: Ids
    candidates: Candidates
    counts: Mapping[str, int]
    seconds: Mapping[str, float] = field(default_factory=dict)


class Retriever(Protocol):
    """A first stage; its dataclass fields are the options of ``conf/retriever/<name>.yaml``."""

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        """Return the candidates of every topic of the collection. ``cache`` is the folder for indexes and results."""
        ...
