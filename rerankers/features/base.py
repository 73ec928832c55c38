"""What a family of features is, and the table that features come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Candidates, Collection


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
        the information that they take: ``blind`` or ``metadata``.
    counts
        what was met, for instance ``pairs_without_year``.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    tier: str
    counts: Mapping[str, int] = field(default_factory=dict)


class Family(Protocol):
    """Features of one kind; ``fields_used`` names the facts about documents and authors that they look at."""

    name: ClassVar[str]
    tier: ClassVar[str]

    def columns(self, collection: Collection, candidates: Candidates, cache: Path) -> Mapping[str, NDArray[np.float64]]:
        """Return name -> float64 (nnz,), NaN where missing, in a fixed order of names."""
        ...
