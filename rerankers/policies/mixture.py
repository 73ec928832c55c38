"""A finite set of weighted rankings a row; a static ranking is the mixture of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.rows import row_sums
from rerankers.policies._points import spread
from rerankers.policies.base import check_draws, check_rankings, score_array
from rerankers.values.exposure import Exposure
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure import Browsing
    from rerankers.values.ragged import Ragged

_SUM = 1e-9  # by how much the weights of a row may miss 1


def _no_streams() -> NDArray[np.uint64]:
    return np.empty((0, 2), dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Draw one of the given rankings of a row, with the probabilities that are their weights.

    Attributes
    ----------
    rankings
        at least one a row; the weights of a row are at least 0 and sum to 1.
    stream
        uint64 (B, 2), digests of the queries; may be left out where every row has one ranking.

    Raises
    ------
    ValueError
        for a row without rankings, weights that are no probabilities, or several rankings without streams.
    """

    rankings: Rankings
    stream: NDArray[np.uint64] = field(default_factory=_no_streams)

    def __post_init__(self) -> None:
        counts, weight = self.rankings.counts, self.rankings.weight
        if np.any(counts == 0):
            raise InputError.one("rankings", f"none in row {int(np.argmin(counts))}", "at least one a row")
        total = row_sums(weight, self.rankings.query_ptr)
        if not np.all(weight >= 0) or np.any(np.abs(total - 1.0) > _SUM):
            raise InputError.one("rankings", "weights that are no probabilities", "weights >= 0 with sum 1 a row")
        if not len(self.stream) and np.all(counts == 1):
            object.__setattr__(self, "stream", np.zeros((len(counts), 2), dtype=np.uint64))
        if self.stream.shape != (len(counts), 2):
            expected = f"({len(counts)}, 2), one digest a row, where a row has several rankings"
            raise InputError.one("stream", f"shape {self.stream.shape}", expected)

    @property
    def over(self) -> Ragged:
        """The rows whose documents are ranked."""
        return self.rankings.over

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        """Draw n independent rankings a row, labelled first, first + 1, …; see `PlackettLuce.sample`."""

        def noise(row: int, start: int, draws: int) -> NDArray[np.float64]:
            return uniforms(stream_key(seed, self.stream[row], "mixture"), start, draws, 1)[:, 0]

        return self._chosen(check_draws(n, seed, first, depth), noise)

    def schedule(self, n: int, seed: int, depth: int | None = None) -> Rankings:
        """Return n rankings a row to publish; see `Policy.schedule`.

        A ranking of weight w occurs n w times, rounded down or up (systematic sampling), evenly spread over the n.
        """

        def even(row: int, _: int, draws: int) -> NDArray[np.float64]:
            return spread(stream_key(seed, self.stream[row], "mixture_schedule"), draws)

        return self._chosen(check_draws(n, seed, 0, depth), even)

    def _chosen(
        self, asked: tuple[int, int, int | None], numbers: Callable[[int, int, int], NDArray[np.float64]]
    ) -> Rankings:
        """Return rankings chosen by numbers (row, first, n) -> (n,) in [0, 1)."""
        n, first, depth = asked
        given, rows = self.rankings, len(self.over)
        chosen = np.repeat(given.query_ptr[:-1], n).reshape(rows, n)
        for row in np.flatnonzero(given.counts > 1) if n else ():
            upto = np.cumsum(given.weight[given.query_ptr[row] : given.query_ptr[row + 1]])
            chosen[row] += np.searchsorted(upto, numbers(int(row), first, n) * upto[-1], side="right")
        start = given.item_ptr[chosen.ravel()]
        lengths = given.item_ptr[chosen.ravel() + 1] - start
        if depth is not None:
            lengths = np.minimum(lengths, depth)
        item_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        pick = np.repeat(start - item_ptr[:-1], lengths) + np.arange(item_ptr[-1])
        label = np.tile(np.arange(first, first + n, dtype=np.int32), rows)
        query_ptr = np.arange(rows + 1, dtype=np.int64) * n
        return Rankings(self.over, query_ptr, item_ptr, given.item[pick], np.full(rows * n, 1.0 / max(n, 1)), label)

    def exposure(self, browsing: Browsing) -> Exposure:
        """Return the exact expected exposure: the weighted mean over the rankings."""
        return Exposure(self.over, exposure_of(self.rankings, browsing).value)

    def log_prob(self, rankings: Rankings) -> NDArray[np.float64]:
        """Return the log probability of each ranking, float64 (R,); of a short one, that a draw begins with it.

        Raises
        ------
        ValueError
            for rankings over other rows, or with a document twice or outside its row.
        """
        check_rankings(self.over, rankings)
        chance = np.zeros(len(rankings))
        for row in range(len(self.over)):
            known: dict[bytes, float] = {}
            asked = [_items(rankings, place) for place in range(rankings.query_ptr[row], rankings.query_ptr[row + 1])]
            for length in {len(items) for items in asked}:
                for place in range(self.rankings.query_ptr[row], self.rankings.query_ptr[row + 1]):
                    items = _items(self.rankings, place)
                    if len(items) >= length:
                        begin = items[:length]
                        known[begin] = known.get(begin, 0.0) + float(self.rankings.weight[place])
            low = int(rankings.query_ptr[row])
            chance[low : low + len(asked)] = [known.get(items, 0.0) for items in asked]
        with np.errstate(divide="ignore"):
            return np.log(chance)


def static(over: Ragged, score: ArrayLike | None = None, stream: NDArray[np.uint64] | None = None) -> Mixture:
    """Return the policy that always ranks by score descending, ties as the row stands; without scores, as it stands.

    Parameters
    ----------
    over
        the rows.
    score
        float64 (nnz,), not a number nowhere.
    stream
        uint64 (B, 2), digests of the queries, which no draw needs.
    """
    place = np.arange(over.nnz) - over.indptr[over.row_index]
    if score is not None:
        place = place[np.lexsort((-score_array(over, score), over.row_index))]
    count = len(over)
    rows = np.arange(count + 1, dtype=np.int64)
    label = np.zeros(count, dtype=np.int32)
    rankings = Rankings(over, rows, over.indptr, place.astype(np.int32), np.ones(count), label)
    return Mixture(rankings) if stream is None else Mixture(rankings, stream)


def _items(rankings: Rankings, place: int) -> bytes:
    """Return the items of one ranking, four bytes each."""
    return rankings.item[rankings.item_ptr[place] : rankings.item_ptr[place + 1]].astype("<i4").tobytes()
