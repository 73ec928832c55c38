"""Maximal marginal relevance (Carbonell & Goldstein 1998): relevant, and unlike what has been shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers.exposure.checks import check_rank
from rerankers.methods.fusion.columns import ZSCORE, Sources, scaled
from rerankers.methods.fusion.memberships import memberships
from rerankers.methods.targets.base import aligned, all_but_unknown
from rerankers.methods.tilting.aims import attributes_of, check_between
from rerankers.methods.tilting.greedy import minmax, ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

SIMILARITIES = ("groups", "columns")


@dataclass(frozen=True, slots=True)
class Mmr:
    """Choose the document of greatest (1 - w) relevance - w max similarity to what stands above it.

    Carbonell & Goldstein (SIGIR 1998, "The use of MMR, diversity-based reranking"), relevance scaled to [0, 1] within
    the query, and similarity the cosine of two documents' descriptions, not below 0.

    Attributes
    ----------
    diversity_weight
        w in [0, 1]: 0 ranks by relevance alone.
    similarity
        what documents are described by: ``groups`` (their weights in all known groups), or ``columns`` of the
        candidates (features, z-scored within the query), for which no groups are needed.
    attributes
        whose groups describe documents; None takes all.
    columns
        that describe documents; None as for `rerankers.methods.rrf.Rrf`.
    cutoff
        the ranks that are chosen so; the others follow by relevance. None: all.

    Notes
    -----
    Ties go to the document that comes first by relevance. A document without groups is like no other. The group
    "unknown" is none: that nothing is known about two documents does not make them alike, whatever ``groups.unknown``
    does with them elsewhere.
    """

    diversity_weight: float = 0.5
    similarity: str = "groups"
    attributes: list[str] | None = None
    columns: list[str] | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_between("diversity_weight", self.diversity_weight)
        choose("method.similarity", self.similarity, SIMILARITIES)
        check_rank("method.cutoff", self.cutoff)

    @property
    def tier(self) -> str:
        """``given_groups`` where groups describe documents, else ``metadata``, which features may be made from."""
        return "given_groups" if self.similarity == "groups" else "metadata"

    def policy(self, block: Block) -> Mixture:
        """Return the policy that always shows the diversified ranking.

        Raises
        ------
        ConfigError
            where the block has no groups or not the named ones, or the candidates not the named columns.
        """
        relevance = minmax(block.candidates.indptr, block.relevance.value)
        describe = self._describer(block)

        def order(_: int, docs: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
            upto = len(by_score) if self.cutoff is None else min(self.cutoff, len(by_score))
            vector = _unit(describe(docs)[by_score])
            return by_score[diverse(relevance[docs][by_score], vector, self.diversity_weight, upto)]

        return ranked(block, block.relevance.value, order)

    def _describer(self, block: Block) -> Callable[[slice], NDArray[np.float64]]:
        """Return what gives the vectors of a row's documents, float64 (n, D)."""
        candidates = block.candidates
        if self.similarity == "columns":
            found = Sources.of(block, self.columns, None)
            table = np.stack([scaled(candidates.indptr, value, ZSCORE) for value in found.value], axis=1)
            return lambda docs: table[docs]
        kept = [aligned(block, name) for name in attributes_of(block, self.attributes, "mmr")]
        known = [all_but_unknown(one.groups) for one in kept]

        def weights(docs: slice) -> NDArray[np.float64]:
            codes = candidates.doc[docs]
            found = [memberships(one, codes, about)[1] for one, about in zip(kept, known, strict=True)]
            return np.concatenate(found, axis=1)

        return weights


def diverse(
    relevance: NDArray[np.float64], vector: NDArray[np.float64], weight: float, ranks: int
) -> NDArray[np.int64]:
    """Return the places of the first ranks, int64 (ranks,); ``vector`` (n, D) of length 1 or 0."""
    closest, gain = np.zeros(len(relevance)), (1.0 - weight) * relevance
    order = np.empty(ranks, np.int64)
    for rank in range(ranks):
        order[rank] = at = int(np.argmax(gain - weight * closest))
        gain[at] = -np.inf
        np.maximum(closest, np.round(vector @ vector[at], 12), out=closest)
    return order


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    return vector / np.where(length > 0.0, length, 1.0)
