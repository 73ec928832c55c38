"""Sets of query variants: several queries for the same topic, from one source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerankers.values.collection import Counts


@dataclass(frozen=True, slots=True, eq=False)
class VariantSet:
    """The variants of one source.

    Attributes
    ----------
    name
        of the source, such as ``human`` or ``gpt_t0``.
    texts
        topic id -> variants as they came, in order, repeats included, empty ones left out and counted.
    counts
        what was met while reading or generating: ``empty``, ``repeated``, ``topics_unknown`` and so on.
    """

    name: str
    texts: Mapping[str, tuple[str, ...]]
    counts: Counts = field(default_factory=dict)

    def distinct(self, topic: str) -> tuple[str, ...]:
        """Return the distinct variants of a topic, in the order in which they first appear."""
        return tuple(dict.fromkeys(self.texts.get(topic, ())))
