"""Fusion that shifts from one ranking to another over the impressions: MacEwan's runs at TREC Fair Ranking 2020."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import choose
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.checks import check_rank
from rerankers.methods.fusion.columns import MINMAX, Sources, scaled
from rerankers.methods.tilting.greedy import ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

MERGES = ("base", "norm")


@dataclass(frozen=True, slots=True)
class MacewanFusion:
    """Fuse two rankings with a weight that moves from the first to the second, equal places drawn anew each time.

    The group's runs ``MacEwan-base`` and ``MacEwan-norm`` at TREC Fair Ranking 2020 shifted from BM25 of titles to
    BM25 of abstracts; impression t of T has the weights 1 - w and w with w = t / (T - 1).

    Attributes
    ----------
    merge
        ``base``: by the weighted sum of ranks, equal scores sharing a rank; ``norm``: by that of scores, scaled to
        [0, 1] within the query.
    columns
        what is fused, as for `rerankers.methods.rrf.Rrf`; with more than two the weight moves from each to the next.
    impressions
        T, the rankings of each query: the policy is their mixture, in order.

    Notes
    -----
    A document that a column does not have has the rank after its last one, and the score 0. With one column nothing
    moves but documents of equal scores.
    """

    merge: str = "base"
    columns: list[str] | None = None
    impressions: int = 150
    tier: ClassVar[str] = "blind"

    def __post_init__(self) -> None:
        choose("method.merge", self.merge, MERGES)
        check_rank("method.impressions", self.impressions, optional=False)

    def policy(self, block: Block) -> Mixture:
        """Return the mixture of the rankings of all impressions; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and how many ``documents_missing`` from columns were met.

        Raises
        ------
        ConfigError
            for a column that the candidates do not have.
        """
        sources = Sources.of(block, self.columns, None)
        indptr = block.candidates.indptr
        place = _places if self.merge == "base" else _distances
        key = np.array([place(indptr, value) for value in sources.value])
        weight = shifting(self.impressions, len(sources.names))

        def order(row: int, docs: slice, _: NDArray[np.int64]) -> NDArray[np.int64]:
            total = np.zeros((self.impressions, docs.stop - docs.start))
            for heed, own in zip(weight.T, key[:, docs], strict=True):  # in order: the same bits whatever the machine
                total += heed[:, None] * own
            stream = stream_key(block.seed, block.stream[row], "macewan_fusion")
            drawn = uniforms(stream, 0, self.impressions, total.shape[1])
            return np.lexsort((drawn, np.round(total, 12)), axis=1).astype(np.int64)

        return ranked(block, -key[0], order, self.impressions), {"documents_missing": sources.missing}


def shifting(impressions: int, columns: int) -> NDArray[np.float64]:
    """Return the weight of each column at each impression, float64 (T, C): rows sum to 1, from the first to the last.

    With two columns these are 1 - w and w for w = t / (T - 1); a single impression has the first column alone.
    """
    at = np.linspace(0.0, columns - 1.0, impressions) if impressions > 1 else np.zeros(1)
    weight: NDArray[np.float64] = np.maximum(0.0, 1.0 - np.abs(at[:, None] - np.arange(columns)))
    return weight


def _places(indptr: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 1 by value descending, equal values sharing one, the next following; missing ones last."""
    found = np.empty(len(value))
    for start, stop in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        own = np.where(np.isnan(value[start:stop]), -np.inf, value[start:stop])
        found[start:stop] = np.unique(-own, return_inverse=True)[1] + 1.0
    return found


def _distances(indptr: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the value scaled to [0, 1] within rows, 0 where there is none."""
    return -np.where(np.isnan(value), 0.0, scaled(indptr, value, MINMAX))
