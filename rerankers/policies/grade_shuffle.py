"""Shuffle within levels: the ideal policy, the worst-first one and the uniform one are of this kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.checks import float_array
from rerankers.exposure.targets import shuffle_exposure
from rerankers.policies._rotation import scheduled_levels
from rerankers.policies.base import check_rankings, check_rows, draw, smallest, tiles
from rerankers.values.exposure import Exposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import Browsing
    from rerankers.policies.base import Sampler
    from rerankers.values.ragged import Ragged
    from rerankers.values.rankings import Rankings

_BELOW_ONE = 1.0 - 2.0**-20  # so that rounding never carries a key into the next level


@dataclass(frozen=True, slots=True, eq=False)
class GradeShuffle:
    """Rank the higher level first and shuffle each level uniformly.

    With grades as levels it is the ideal policy, with negated grades the worst-first one, with one level for all
    documents the uniform one.

    Attributes
    ----------
    over
        the rows.
    level
        (nnz,), finite.
    stream
        uint64 (B, 2), digests of the queries.
    """

    over: Ragged
    level: NDArray[np.number]
    stream: NDArray[np.uint64]

    def __post_init__(self) -> None:
        checked, level = float_array("level", self.level), np.asarray(self.level)
        object.__setattr__(self, "level", level if level.dtype.kind in "biuf" else checked)
        check_rows(self.over, self.stream, "level", self.level)
        if not np.all(np.isfinite(checked)):
            raise InputError.one("level", "a level that is not finite", "finite levels")

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        """Draw n independent rankings a row, labelled first, first + 1, …; see `PlackettLuce.sample`."""

        def sampler(row: int) -> Sampler:
            codes = _codes(self.level[self.over.row(row)])
            key = stream_key(seed, self.stream[row], "grade_shuffle")

            def some(start: int, draws: int, k: int) -> NDArray[np.integer]:
                order = np.empty((draws, k), dtype=np.int32)
                for tile in tiles(draws, len(codes)):
                    noise = uniforms(key, start + tile.start, tile.stop - tile.start, len(codes))
                    noise *= _BELOW_ONE
                    noise += codes
                    order[tile] = smallest(noise, k)
                return order

            return some

        return draw(self, n, seed, first, depth, sampler)

    def schedule(self, n: int, seed: int, depth: int | None = None) -> Rankings:
        """Return n rankings a row to publish; see `Policy.schedule`.

        A level of m <= n documents is rotated, so that in m rankings each of its documents has each of its ranks once:
        where m divides n and all its documents have one continuation, the exposure is that of the policy. Larger
        levels are ordered by stratified noise.
        """

        def sampler(row: int) -> Sampler:
            codes = _codes(self.level[self.over.row(row)])
            key = stream_key(seed, self.stream[row], "grade_shuffle_schedule")
            return lambda _, draws, k: scheduled_levels(codes, key, draws)[:, :k]

        return draw(self, n, seed, 0, depth, sampler)

    def exposure(self, browsing: Browsing) -> Exposure:
        """Return the exact expected exposure."""
        return Exposure(self.over, shuffle_exposure(self.over.indptr, self.level, browsing))

    def log_prob(self, rankings: Rankings) -> NDArray[np.float64]:
        """Return the log probability of each ranking, float64 (R,); of a short one, that a draw begins with it.

        Raises
        ------
        ValueError
            for rankings over other rows, or with a document twice or outside its row.
        """
        check_rankings(self.over, rankings)
        code, chance = np.empty(self.over.nnz, dtype=np.int64), np.empty(self.over.nnz)
        by_rank = np.empty(self.over.nnz, dtype=np.int64)
        for row in range(len(self.over)):
            part = self.over.row(row)
            code[part] = _codes(self.level[part])
            by_rank[part] = np.sort(code[part])
            end = np.searchsorted(by_rank[part], by_rank[part], side="right")
            chance[part] = -np.log(end - np.arange(len(end)))  # one of those left in the level
        at = self.over.indptr[rankings.row_of_ranking][rankings.ranking_of_item] + rankings.rank
        steps = np.where(code[rankings.flat] == by_rank[at], chance[at], -np.inf)
        return np.bincount(rankings.ranking_of_item, weights=steps, minlength=len(rankings)).astype(np.float64)


def _codes(level: NDArray[np.number]) -> NDArray[np.int64]:
    """Return 0 for the highest level, 1 for the next, …: int64 (n,)."""
    distinct, code = np.unique(level, return_inverse=True)
    highest_first: NDArray[np.int64] = (len(distinct) - 1 - code).astype(np.int64)
    return highest_first
