"""The families of features that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rerankers._base.errors import ConfigError
from rerankers.features.base import Family
from rerankers.features.given import FirstStage, Given
from rerankers.features.lengths import Lengths
from rerankers.features.lucene_scores import Bm25, QueryLikelihood
from rerankers.features.metadata import AuthorStatistics, Metadata
from rerankers.features.overlap import Overlap
from rerankers.features.peers import Peers
from rerankers.features.style import Style

if TYPE_CHECKING:
    from rerankers.features.context import FeatureContext

FAMILIES: Final[Mapping[str, Family]] = {
    family.name: family
    for family in (
        FirstStage(),
        Given(),
        Bm25(),
        QueryLikelihood(),
        Lengths(),
        Overlap(),
        Style(),
        Metadata(),
        AuthorStatistics(),
        Peers(),
    )
}
"""Name -> family, in the order of their columns."""
WITH_JAVA: Final = (Bm25.name, QueryLikelihood.name)


def choose_families(names: Sequence[str] | None, context: FeatureContext) -> tuple[list[Family], dict[str, int]]:
    """Return the families of some names; of None all that can be had, and counts of those that cannot.

    Raises
    ------
    ConfigError
        for a family of ``names`` that the collection lacks something for.
    """
    chosen: list[Family] = []
    left_out: dict[str, int] = {}
    for name, family in FAMILIES.items():
        if names is not None and name not in names:
            continue
        lacks = family.lacks(context)
        if lacks is None:
            chosen.append(family)
        elif names is None:
            left_out[f"family_{name}_left_out"] = 1
        else:
            raise ConfigError(f"features.families: found {name}; the collection lacks {lacks}")
    return chosen, left_out
