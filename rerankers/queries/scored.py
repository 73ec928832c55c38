"""Candidate queries, and what is known of each once its documents were retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELEVANCE = "relevance"
"""The first objective: how near the documents of a candidate are to those of the original query."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that might be asked instead.

    Attributes
    ----------
    text
        as it would be typed.
    generators
        all that came up with it, in order; ``original`` for the query itself.
    parents
        the queries or words that it was made from.
    calls
        calls of a language model that it cost.
    """

    text: str
    generators: tuple[str, ...]
    parents: tuple[str, ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A candidate with its documents and objectives.

    Attributes
    ----------
    candidate
        the query.
    docs
        int32 (m,), codes of its first documents, best first; empty where it retrieves nothing.
    objectives
        `RELEVANCE` first, then one an axis, each in [0, 1] and maximised; None where it is not defined.
    reasons
        objective -> why it is not defined.
    distribution
        axis -> group -> share of the known weight; None where no weight is known.
    unknown_share
        axis -> share of the weight that documents without a label hold.
    judged
        measures against the judgments of the original topic, such as ``nDCG@10``; None where they have no value.
    """

    candidate: Candidate
    docs: NDArray[np.int32]
    objectives: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    distribution: Mapping[str, Mapping[str, float] | None] = field(default_factory=dict)
    unknown_share: Mapping[str, float] = field(default_factory=dict)
    judged: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def point(self) -> tuple[float, ...] | None:
        """The objectives in their order, None where one of them is not defined."""
        values = tuple(value for value in self.objectives.values() if value is not None)
        return values if len(values) == len(self.objectives) else None
