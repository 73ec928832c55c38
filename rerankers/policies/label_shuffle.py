r"""Draw a label for every document, rank those that have it first, and shuffle both parts: Thompson sampling.

With labels that say what may be relevant it is the policy of Singh, Kempe & Joachims (2021). A document with the label
arrives at a time in (0, 1), another one in (1, 2); with \rho_j the chance of the label, the chance that j has come
before time t of the first interval is \rho_j t, before time 1 + t it is \rho_j + (1 - \rho_j) t, independently of the
others. So the exposure under continuations c is a polynomial integrated over t,

    E_d = \rho_d \int_0^1 \prod_{j \ne d} f_j(\rho_j t) dt + (1 - \rho_d) \int_0^1 \prod_{j \ne d} f_j(\rho_j + (1 -
    \rho_j) t) dt,    f_j(p) = 1 - p + c_j p,

which a Gauss-Legendre rule of n / 2 nodes does exactly; with weights of ranks, f_j(p) = 1 - p + c_j p z counts ranks by
powers of z. Given that a document has the label, the product of the case that none has is taken off the second
integral, term by term, so that nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure._binding import check_bound
from rerankers.exposure.checks import float_array
from rerankers.policies._points import quasi_uniforms
from rerankers.policies.base import check_rankings, check_rows, draw, smallest, tiles
from rerankers.values.exposure import Exposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import Browsing
    from rerankers.policies.base import Sampler
    from rerankers.values.ragged import Ragged
    from rerankers.values.rankings import Rankings

_RARE = 2.0**-600
FEW = 16  # nodes, and four times the root of the documents, are enough for long rows


@dataclass(frozen=True, slots=True, eq=False)
class LabelShuffle:
    """Rank documents with a label first; labels are drawn anew for each ranking, both parts are shuffled.

    Attributes
    ----------
    over
        the rows.
    chance
        float64 (nnz,) in [0, 1], the chance that a document has the label, independently of the others.
    stream
        uint64 (B, 2), digests of the queries.
    at_least_one
        draw only labels of which there is at least one in the row. Rows whose chances are all 0 are shuffled.

    Raises
    ------
    ValueError
        for chances outside [0, 1] or arrays of another shape.
    """

    over: Ragged
    chance: NDArray[np.float64]
    stream: NDArray[np.uint64]
    at_least_one: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "chance", float_array("chance", self.chance))
        check_rows(self.over, self.stream, "chance", self.chance)
        if not np.all((self.chance >= 0) & (self.chance <= 1)):
            raise InputError.one("chance", "a number that is no probability", "numbers from 0 to 1")

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        """Draw n independent rankings a row, labelled first, first + 1, …; see `PlackettLuce.sample`."""

        def sampler(row: int) -> Sampler:
            chance, key = self.chance[self.over.row(row)], stream_key(seed, self.stream[row], "label_shuffle")

            def some(start: int, draws: int, k: int) -> NDArray[np.integer]:
                order = np.empty((draws, k), dtype=np.int32)
                for tile in tiles(draws, len(chance)):
                    noise = uniforms(key, start + tile.start, tile.stop - tile.start, len(chance))
                    order[tile] = smallest(self._times(chance, noise), k)
                return order

            return some

        return draw(self, n, seed, first, depth, sampler)

    def schedule(self, n: int, seed: int, depth: int | None = None) -> Rankings:
        """Return n rankings a row to publish, by times that are stratified; see `Policy.schedule`."""

        def sampler(row: int) -> Sampler:
            chance = self.chance[self.over.row(row)]
            key = stream_key(seed, self.stream[row], "label_shuffle_schedule")
            return lambda _, draws, k: smallest(self._times(chance, quasi_uniforms(key, draws, len(chance))), k)

        return draw(self, n, seed, 0, depth, sampler)

    def _times(self, chance: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn uniform numbers (draws, n) into arrival times: those below the chance are in (0, 1)."""
        level = np.broadcast_to(chance, noise.shape)
        if self.at_least_one:
            level = levels(chance, noise)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            times: NDArray[np.float64] = np.where(noise < level, noise / level, 1.0 + (noise - level) / (1.0 - level))
        return times

    def exposure(self, browsing: Browsing) -> Exposure:
        """Return the exact expected exposure.

        It is exact to some 1e-14 for rows of up to a few hundred documents, 1e-11 for thousands. Time is of order n^2
        a row, n^2 k where the first k ranks have weights of their own.
        """
        from rerankers.policies._label_shuffle_loops import label_exposure

        check_bound(browsing, self.over.nnz)
        value = np.zeros(self.over.nnz)
        for row in range(len(self.over)):
            part = self.over.row(row)
            chance = np.array(self.chance[part], dtype=np.float64)
            if not len(chance):
                continue
            if self.at_least_one:
                chance = _not_too_small(chance)
            weight = np.ones(1) if browsing.position is None else _until_none(browsing.position[: len(chance)])
            possible = self._possible(chance)
            arrays = (chance, np.array(browsing.continuation[part], dtype=np.float64), weight)
            label_exposure(*arrays, browsing.position is None, *_quadrature(len(chance)), possible < 1.0, value[part])
            value[part] /= possible
        return Exposure(self.over, value)

    def log_prob(self, rankings: Rankings) -> NDArray[np.float64]:
        """Return the log probability of each ranking, float64 (R,); of a short one, that a draw begins with it.

        Raises
        ------
        ValueError
            for rankings over other rows, or with a document twice or outside its row.
        """
        check_rankings(self.over, rankings)
        out = np.zeros(len(rankings))
        for ranking, row in enumerate(rankings.row_of_ranking.tolist()):
            chance = self.chance[self.over.row(row)]
            head = rankings.item[rankings.item_ptr[ranking] : rankings.item_ptr[ranking + 1]]
            if len(head):
                possible = self._possible(chance)
                out[ranking] = _log_prob(chance, head, possible < 1.0) - np.log(possible)
        return out

    def _possible(self, chance: NDArray[np.float64]) -> float:
        """Return the chance of the labels that are drawn from, 1 where these are all."""
        if not self.at_least_one or not np.any(chance > 0):
            return 1.0
        with np.errstate(divide="ignore"):
            return float(-np.expm1(np.log1p(-chance).sum()))


def levels(chance: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the chance of each label given those before it in the row and that there is at least one.

    It is \rho_d / (1 - \prod_{j >= d} (1 - \rho_j)) while there is none yet, so that labels are drawn one after the
    other without rejection, and 0 where all chances from d on are 0.

    Parameters
    ----------
    chance
        float64 (n,) in [0, 1].
    noise
        float64 (draws, n), uniform: a document has the label where its number lies below the returned (draws, n).
    """
    with np.errstate(divide="ignore"):
        left = -np.expm1(np.cumsum(np.log1p(-chance)[::-1])[::-1])
    first = np.minimum(chance / np.where(left > 0, left, 1.0), 1.0)
    level = np.empty(noise.shape)
    none = np.ones(len(noise), dtype=np.bool_)
    for d in range(len(chance)):
        level[:, d] = np.where(none, first[d], chance[d])
        none &= noise[:, d] >= level[:, d]
    return level


def _not_too_small(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chances whose products are no denormal numbers, for where at least one label is drawn.

    Below 2^-600 there is never a second label: only their ratios count.
    """
    largest = float(chance.max())
    if not 0.0 < largest < _RARE:
        return chance
    raised: NDArray[np.float64] = np.ldexp(chance, int(np.frexp(_RARE)[1] - np.frexp(largest)[1]))
    return raised


@lru_cache(maxsize=256)
def _quadrature(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes and weights on (0, 1) for products over the others of ``size`` documents."""
    node, weight = np.polynomial.legendre.leggauss(max(1, min(-(-size // 2), FEW + int(4.0 * size**0.5))))
    return (node + 1.0) / 2.0, weight / 2.0


def _until_none(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of ranks up to the last that is not 0, at least one."""
    return np.array(position[: max(1, np.count_nonzero(position))], dtype=np.float64)


def _log_prob(chance: NDArray[np.float64], head: NDArray[np.int32], known: bool) -> float:
    """Return the log probability of a beginning, with that of at least one label where ``known``.

    Of the documents with the label, m are in the beginning and fill its first m ranks: for m below its length the
    others have none, for all of it any number of the others may have it too.
    """
    from rerankers.policies._label_shuffle_loops import numbers_of_labels

    n, size = len(chance), len(head)
    rest = np.delete(chance, head)
    with np.errstate(divide="ignore"):
        with_label = np.concatenate([[0.0], np.cumsum(np.log(chance[head]))])
        without = np.log1p(-chance[head])[::-1].cumsum()[::-1] + np.log1p(-rest).sum()
        mass = np.empty(len(rest) + 1)
        numbers_of_labels(np.array(rest, dtype=np.float64), mass)
        more = np.log(mass)
    m = np.arange(int(known), size)
    fewer = with_label[m] + without[m] - gammaln(m + 1) + gammaln(n - size + 1) - gammaln(n - m + 1)
    extra = np.arange(len(mass))
    whole = with_label[size] + more + gammaln(extra + 1) - gammaln(size + extra + 1)
    return float(np.logaddexp.reduce(np.concatenate([fewer, whole])))
