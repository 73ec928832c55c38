"""Random transpositions: the policy with given exposures under position-based browsing, no decomposition needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure._binding import check_bound
from rerankers.exposure.checks import float_array, whole_array
from rerankers.exposure.optimal.permutahedron import document_array, padded_weights
from rerankers.exposure.optimal.transpositions import check_reachable, find_swaps, level_with, settled
from rerankers.policies.base import check_rankings, check_rows, draw, tiles
from rerankers.values.exposure import Exposure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure import Browsing
    from rerankers.policies.base import Sampler
    from rerankers.values.ragged import Ragged
    from rerankers.values.rankings import Rankings


@dataclass(frozen=True, slots=True, eq=False)
class Transpositions:
    """Rankings by independent random swaps; see `rerankers.exposure.optimal.transpositions`.

    Place i of a row starts with the document ``order[i]`` of the row at rank i; then, one swap after the other, the
    documents of two places exchange their ranks with the probability of the swap.

    Attributes
    ----------
    over
        the rows.
    order
        int32 (nnz,), the document of each place as its position within its row.
    swap_ptr
        int64 (B + 1,), row i has the swaps swap_ptr[i]:swap_ptr[i + 1].
    swaps
        int32 (M, 2), two places within the row each. A swap is the last one of at least one of its places, so a row
        has fewer swaps than documents, and the ranking tells which of them happened.
    chance
        float64 (M,), probabilities.
    stream
        uint64 (B, 2), digests of the queries.

    Raises
    ------
    ValueError
        for arrays that are not of this form.
    """

    over: Ragged
    order: NDArray[np.int32]
    swap_ptr: NDArray[np.int64]
    swaps: NDArray[np.int32]
    chance: NDArray[np.float64]
    stream: NDArray[np.uint64]

    def __post_init__(self) -> None:
        for name, kind in (("order", np.int32), ("swap_ptr", np.int64), ("swaps", np.int32)):
            object.__setattr__(self, name, whole_array(name, getattr(self, name), kind).astype(kind, order="C"))
        object.__setattr__(self, "chance", np.array(float_array("chance", self.chance), order="C"))
        check_rows(self.over, self.stream, "order", self.order)
        _check_swaps(self)

    @classmethod
    def of_exposure(cls, over: Ragged, exposure: ArrayLike, position: ArrayLike, stream: NDArray[np.uint64]) -> Self:
        """Return the policy with given expected exposures.

        Parameters
        ----------
        over
            the rows.
        exposure
            (nnz,), each row in the permutahedron of the weights up to 1e-9 of their sum.
        position
            (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at the length of a row.
        stream
            uint64 (B, 2), digests of the queries.

        Raises
        ------
        ValueError
            for exposures outside the permutahedron (the text names the row and the excess), numbers that are not
            finite, weights that increase, or another shape.
        """
        value = document_array("exposure", exposure, over.nnz)
        weights = padded_weights(position, int(over.lengths.max(initial=0)))
        order, swaps, chance = np.empty(over.nnz, np.int32), [np.empty((0, 2), np.int32)], [np.empty(0)]
        for row in range(len(over)):
            part = over.row(row)
            order[part] = np.argsort(-value[part], kind="stable")
            goal, weight = value[part][order[part]], weights[: part.stop - part.start]
            check_reachable(goal, weight, row)
            found = find_swaps(level_with(goal, weight), weight)
            swaps.append(found[0])
            chance.append(found[1])
        swap_ptr = np.cumsum([len(part) for part in chance])
        return cls(over, order, swap_ptr, np.concatenate(swaps), np.concatenate(chance), stream)

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        """Draw n independent rankings a row, labelled first, first + 1, …; see `PlackettLuce.sample`."""
        from rerankers.policies._transposition_loops import draw_swaps

        def sampler(row: int) -> Sampler:
            def some(start: int, draws: int, k: int) -> NDArray[np.integer]:
                ranked = np.empty((draws, k), np.int32)
                for tile in tiles(draws, width):
                    noise = uniforms(key, start + tile.start, tile.stop - tile.start, width)
                    draw_swaps(noise, order, swaps, chance, ranked[tile])
                return ranked

            order, swaps, chance = self._row(row)
            key = stream_key(seed, self.stream[row], "transpositions")
            width = -(-max(1, len(chance)) // 4) * 4  # as noise comes, so that it is one block of memory
            return some

        return draw(self, n, seed, first, depth, sampler)

    def schedule(self, n: int, seed: int, depth: int | None = None) -> Rankings:
        """Return n rankings a row to publish, by systematic swaps; see `Policy.schedule`.

        Swap by swap, the rankings are sorted by the ranks that the two places hold, and those swapped are picked
        along this order at equal distances from a random start: as many of them as expected, up to one, and evenly
        among better and worse ranks (systematic sampling, Madow & Madow 1944; sorting as in array-RQMC, L'Ecuyer,
        Lécot & Tuffin 2008). The squared error of the mean exposure falls about as 1 / n^2: at n = 100 it is 8 to 80
        times smaller than that of n independent draws, at n = 1000 some 100 to 1000 times.
        """
        from rerankers.policies._transposition_loops import draw_evenly

        def sampler(row: int) -> Sampler:
            def whole(_: int, draws: int, k: int) -> NDArray[np.integer]:
                ranked = np.empty((draws, k), np.int32)
                draw_evenly(uniforms(key, 0, 1, len(chance))[0], order, swaps, chance, ranked)
                return ranked

            order, swaps, chance = self._row(row)
            key = stream_key(seed, self.stream[row], "transpositions_schedule")
            return whole

        return draw(self, n, seed, 0, depth, sampler)

    def exposure(self, browsing: Browsing) -> Exposure | None:
        """Return the exact expected exposure, or None where documents of one row differ in continuation.

        Equal continuations make exposure a weight of ranks, and what the swaps make of weights in expectation takes
        one pass over them.
        """
        from rerankers.exposure.optimal.transposition_loops import swap_weights

        check_bound(browsing, self.over.nnz)
        value = np.empty(self.over.nnz)
        for row in range(len(self.over)):
            part = self.over.row(row)
            order, swaps, chance = self._row(row)
            continuation = browsing.continuation[part]
            if np.any(continuation != continuation[:1]):
                return None
            weight = continuation ** np.arange(len(order))
            if browsing.position is not None:
                weight *= browsing.position[: len(order)]
            swap_weights(swaps, chance, weight)
            value[part.start + order] = weight
        return Exposure(self.over, value)

    def log_prob(self, rankings: Rankings) -> NDArray[np.float64]:
        """Return the log probability of each ranking, float64 (R,); of a short one, that a draw begins with it.

        Raises
        ------
        ValueError
            for rankings over other rows, or with a document twice or outside its row.
        """
        from rerankers.policies._transposition_loops import swap_log_probs

        check_rankings(self.over, rankings)
        out = np.zeros(len(rankings))
        for row in np.flatnonzero(rankings.counts).tolist():
            order, swaps, chance = self._row(row)
            asked = slice(int(rankings.query_ptr[row]), int(rankings.query_ptr[row + 1]))
            item_ptr = np.array(rankings.item_ptr[asked.start : asked.stop + 1], dtype=np.int64)
            item = np.array(rankings.item[item_ptr[0] : item_ptr[-1]], dtype=np.int32)
            place = np.argsort(order, kind="stable").astype(np.int64, copy=False)
            first_settles = settled(swaps, len(order))[:, 0].copy()
            swap_log_probs(item, item_ptr - item_ptr[0], place, swaps, first_settles, chance, out[asked])
        return out

    def _row(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Return order (n,), swaps (m, 2) and their probabilities (m,) of one row."""
        part = slice(int(self.swap_ptr[row]), int(self.swap_ptr[row + 1]))
        return self.order[self.over.row(row)], self.swaps[part], self.chance[part]


def _check_swaps(policy: Transpositions) -> None:
    over, swap_ptr, swaps, chance = policy.over, policy.swap_ptr, policy.swaps, policy.chance
    start = over.indptr[over.row_index]
    if not np.array_equal(np.sort(policy.order + start), np.arange(over.nnz)) or np.any(policy.order < 0):
        raise InputError.one("order", "a document twice or outside its row", "each document of a row once")
    whole = swap_ptr.shape == (len(over) + 1,) and swap_ptr[0] == 0 and np.all(np.diff(swap_ptr) >= 0)
    if not whole or chance.shape != (swap_ptr[-1],) or swaps.shape != (len(chance), 2):
        found = f"swap_ptr, swaps and chance of shapes {swap_ptr.shape}, {swaps.shape} and {chance.shape}"
        raise InputError.one("swaps", found, f"({len(over) + 1},) from 0 to M, not descending, (M, 2) and (M,)")
    row = np.repeat(np.arange(len(over)), np.diff(swap_ptr))
    if np.any((swaps < 0) | (swaps >= over.lengths[row][:, None]) | (swaps[:, :1] == swaps[:, 1:])):
        raise InputError.one("swaps", "a swap of one place, or outside its row", "two places of the row")
    if not np.all((chance >= 0) & (chance <= 1)):
        raise InputError.one("chance", "a number that is no probability", "numbers from 0 to 1")
    if not np.all(settled(swaps + over.indptr[row][:, None], over.nnz).any(axis=1)):
        mend = "Give swaps as `Transpositions.of_exposure` finds them."
        raise InputError.one(
            "swaps", "a swap whose places are both swapped later", "the last of one of them", mend=mend
        )
