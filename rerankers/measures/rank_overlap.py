r"""Rank-biased overlap of two rankings (Webber, Moffat & Zobel, TOIS 2010), with ties (Corsi & Urbano, SIGIR 2024).

With the agreement A_d of the first d ranks it is (1 - p) / p \sum_d A_d p^d: a reader goes on from rank to rank with
probability p and looks at both rankings. Rankings end somewhere, so that the sum has bounds (``min``, ``max``, their
difference ``res``) and an extrapolation (``ext``), which takes the agreement to stay as it is.

An item whose tie group spans the ranks t to u has arrived by depth d to the part c = (d - t + 1) / (u - t + 1), at
most 1: its expected arrival when ties are broken at random. The overlap X_d = \sum_e c_S(e, d) c_L(e, d) needs no
loop: at a depth every item is before, inside or behind the current tie group of either ranking, and all four counts
of items that matter are numbers of items whose later event comes no later than d. Time is linear in the ranks.
Rankings without ties, the most of them, take one compiled walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures._ranked_lists import RankedList, both_codes, codes_from_0, read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIES = ("a", "b", "w")
KINDS = ("ext", "min", "max", "res")


def rbo(a: Iterable[Any], b: Iterable[Any], p: float, ties: str = "a", kind: str = "ext") -> float:
    """Return the rank-biased overlap of two rankings.

    Parameters
    ----------
    a, b
        rankings, best first, of any lengths of at least 1: hashable items, or an integer array. An item that is a
        list is a tie group. The measure is symmetric.
    p
        strictly between 0 and 1, the persistence. There is no default: the larger, the deeper it looks.
    ties
        ``a``: the expectation over ties broken at random; ``b``: the same, corrected so that a ranking agrees with
        itself; ``w``: ties are equality. Without ties they are the same.
    kind
        ``ext``, ``min``, ``max``, or ``res``, which is max - min.

    Returns
    -------
    float, from 0 to 1.

    Raises
    ------
    InputError
        for a p outside of (0, 1), an empty ranking or tie group, and an item twice in one ranking.
    ConfigError
        for another word.
    """
    choose("ties", ties, TIES)
    choose("kind", kind, KINDS)
    check_persistence(p)
    of_kind = _of_kind(a, b, p, ties)
    if kind == "res":
        return max(_inside(of_kind("max")) - _inside(of_kind("min")), 0.0)
    return _inside(of_kind(kind))


def _of_kind(a: Iterable[Any], b: Iterable[Any], p: float, ties: str) -> Callable[[str], float]:
    """Return the function from a kind to the overlap of two rankings."""
    from rerankers.measures.rank_overlap_loops import of_places  # compiled code: only where it is needed

    codes = both_codes(a, b)
    if codes is not None:
        return partial(_of_codes, *codes, p)
    read = read_pair(a, b)
    if not read.tied:
        return lambda kind: of_places(read.place, len(read.lists[0]), float(p), KINDS.index(kind))
    overlap = _Overlap.of(*read.by_length(), ties)
    return lambda kind: {"ext": overlap.extrapolated, "min": overlap.least, "max": overlap.most}[kind](p)


def _of_codes(a: NDArray[np.int64], b: NDArray[np.int64], p: float, kind: str) -> float:
    """Return the overlap of two rankings of codes, none empty, once no code comes twice in one."""
    from rerankers.measures.rank_overlap_loops import FINE, REPEATED_IN_ONE, SPARSE, of_codes

    found, value = of_codes(a, b, float(p), KINDS.index(kind))
    if found == SPARSE:
        found, value = of_codes(*codes_from_0(a, b), float(p), KINDS.index(kind))
    if found != FINE:
        raise InputError.one("a" if found == REPEATED_IN_ONE else "b", "an item more than once", "each item once")
    return value


def _inside(value: float) -> float:
    """Return a value that rounding may have carried out of 0 to 1."""
    return min(max(float(value), 0.0), 1.0)


def check_persistence(p: float) -> None:
    """Raise `InputError` unless p is strictly between 0 and 1."""
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 < p < 1:
        raise InputError.one("p", repr(p), "a number strictly between 0 and 1")


@dataclass(frozen=True, slots=True, eq=False)
class _Overlap:
    """Overlap and agreement of two lists of s <= l items at depths 1 … l, float64 (l,) each.

    ``scale`` is what the overlap is divided by; ``part`` how much of the longer list's current group has arrived;
    ``before`` and ``inside`` how many items found only in the longer list are before and in that group.
    """

    short: int
    overlap: NDArray[np.float64]
    scale: NDArray[np.float64]
    part: NDArray[np.float64]
    before: NDArray[np.int64]
    inside: NDArray[np.int64]

    @classmethod
    def of(
        cls, short: RankedList, long: RankedList, common: tuple[NDArray[np.int64], NDArray[np.int64]], ties: str
    ) -> _Overlap:
        s, n = len(short), len(long)
        depth, whole = np.arange(1, n + 1), ties == "w"

        def upto(one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
            """Return how many common items have had both events by each depth."""
            when = np.maximum(one, two)
            return np.cumsum(np.bincount(when[when <= n] - 1, minlength=n))

        begun = (short.first[common[0]], long.first[common[1]])
        f_short, f_long = short.part(n, whole), long.part(n, whole)
        overlap = upto(*begun).astype(np.float64)
        if not whole:
            ended = (short.last[common[0]] + 1, long.last[common[1]] + 1)
            none, left, right = upto(*ended), upto(begun[0], ended[1]), upto(ended[0], begun[1])
            both = f_short * f_long * (overlap - left - right + none)
            overlap = none + (f_short * (left - none) + f_long * (right - none)) + both  # the same bits for b, a
        if ties == "a":
            scale = depth.astype(np.float64)
        elif ties == "w":
            started = depth.astype(np.float64)  # behind its end the short list counts as continued
            started[:s] = short.last
            scale = (started + long.last) / 2.0
        else:
            norm = depth.astype(np.float64)
            norm[:s] = short.first - 1 + np.square(f_short[:s]) * (short.last - short.first + 1)
            scale = np.sqrt(norm * (long.first - 1 + np.square(f_long) * (long.last - long.first + 1)))
        only = np.ones(n, dtype=np.int64)
        only[common[1]] = 0
        total = np.concatenate([[0], np.cumsum(only)])
        before = total[long.first - 1]
        return cls(s, overlap, scale, f_long, before, total[long.last] - before)

    @property
    def beyond(self) -> NDArray[np.int64]:
        """int64 (l - s,), the depths minus 1 that only the longer list reaches."""
        return np.arange(self.short, len(self.overlap))

    @property
    def rest(self) -> NDArray[np.int64]:
        """int64 (l - s,), how many items the short list would have more at those depths."""
        return np.arange(1, len(self.overlap) - self.short + 1)

    def extrapolated(self, p: float) -> float:
        """Return the overlap if agreement stays as it is: the unseen items of the short list agree as its others do."""
        far = self.beyond
        last = float(self.overlap[self.short - 1] / self.scale[self.short - 1])
        begun = self.before[far] + np.where(self.part[far] > 0, self.inside[far], 0)
        arrived = self.before[far] + self.part[far] * self.inside[far]
        mean = np.divide(arrived, begun, out=np.zeros(len(far)), where=begun > 0)
        overlap = self.overlap.copy()
        overlap[far] += self.rest * last * mean
        size = len(overlap)
        tail = (float(self.overlap[-1]) + (size - self.short) * last) / size
        return self._sum(overlap, p) + tail * float(p) ** size

    def least(self, p: float) -> float:
        """Return the overlap if nothing unseen is shared."""
        from rerankers.measures.rank_overlap_loops import unseen

        left = unseen(float(p), len(self.overlap))
        return self._sum(self.overlap, p) + (1.0 - p) * float(self.overlap[-1]) * left

    def most(self, p: float) -> float:
        """Return the overlap if all is shared that can be."""
        far, size = self.beyond, len(self.overlap)
        overlap = self.overlap.copy()
        first = np.minimum(self.rest, self.before[far])
        overlap[far] += first + self.part[far] * np.clip(self.rest - self.before[far], 0, self.inside[far])
        shared = float(self.overlap[-1])
        until = round(size + self.short - shared)
        depth = np.arange(size + 1, until + 1)
        tail = float(np.sum((2 * depth - size - self.short + shared) / depth * float(p) ** (depth - 1.0)))
        return self._sum(overlap, p) + (1.0 - p) * tail + float(p) ** until

    def _sum(self, overlap: NDArray[np.float64], p: float) -> float:
        return (1.0 - float(p)) * float(np.sum(overlap / self.scale * self._powers(p)))

    def _powers(self, p: float) -> NDArray[np.float64]:
        powers: NDArray[np.float64] = np.power(float(p), np.arange(len(self.overlap), dtype=np.float64))
        return powers
