"""Which method integrates which rows: one choice for exposure and for gradients, made for each row alone.

The limits are where the methods take equally long, measured at 10 to 10,000 documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers.exposure.browsing import DCG
from rerankers.exposure.closed_form.chain import chain_exposure, chain_gradient
from rerankers.exposure.closed_form.geometric import geometric_exposure, geometric_gradient, geometric_mixture
from rerankers.exposure.closed_form.marginals import weighted_gradient, weighted_race
from rerankers.exposure.closed_form.nodes import NEGLIGIBLE
from rerankers.exposure.closed_form.quadrature import race_exposure, race_gradient
from rerankers.exposure.rows import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.closed_form.levels import Levels

LEAST, MOST, PART = 32, 120, 0.75  # ranks that polynomials are taken to: always, at most, and of the documents


class Solver(Protocol):
    """A method for rows of equal length, with the weights of their ranks."""

    def exposure(self, logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return expected exposure: float64 (R, n), of finite logits and of continuations, both (R, n)."""
        ...

    def gradient(
        self, logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the derivatives of the sum of pull (R, n) times exposure by the logits: float64 (R, n)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """Every rank that can be reached weighs the same: ``weight`` (R, 1)."""

    weight: NDArray[np.float64]

    def exposure(self, logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.weight * race_exposure(logit, continuation)

    def gradient(
        self, logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return race_gradient(logit, continuation, self.weight * pull)


@dataclass(frozen=True, slots=True, eq=False)
class _First:
    """Only the first ranks weigh anything: ``weight`` (R, k)."""

    weight: NDArray[np.float64]

    def exposure(self, logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        return chain_exposure(logit, continuation, self.weight)

    def gradient(
        self, logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return chain_gradient(logit, continuation, self.weight, pull)


@dataclass(frozen=True, slots=True, eq=False)
class _Mixed:
    """Weights are a mixture of geometric sequences of ``ratio`` (M,), the same for all rows: ``share`` (M,)."""

    share: NDArray[np.float64]
    ratio: NDArray[np.float64]

    def exposure(self, logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        return geometric_exposure(logit, continuation, self._shares(logit), self.ratio)

    def gradient(
        self, logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return geometric_gradient(logit, continuation, self._shares(logit), self.ratio, pull)

    def _shares(self, logit: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tile(self.share, (len(logit), 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Any:
    """Any weights of ranks (R, n), by roots of unity."""

    weight: NDArray[np.float64]

    def exposure(self, logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
        return weighted_race(logit, continuation, self.weight)

    def gradient(
        self, logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return weighted_gradient(logit, continuation, self.weight, pull)


def routed(
    levels: Levels,
    continuation: NDArray[np.float64],
    position: NDArray[np.float64] | None,
    chosen: NDArray[np.bool_] | None = None,
) -> Iterator[tuple[NDArray[np.int64], Solver]]:
    """Yield levels of equal length with the method that suits them, until each is done.

    Parameters
    ----------
    levels
        where the rows are cut.
    continuation
        float64 (nnz,), in the order of the levels.
    position
        float64 (K,), the weights of ranks, or None.
    chosen
        bool (S,), the levels that are wanted.

    Yields
    ------
    int64 (R, n), where the documents of R levels lie in the order of the levels, and the method.
    """
    sizes = levels.size if chosen is None else np.where(chosen, levels.size, 0)
    for length, same in buckets(sizes):
        place = levels.indptr[same][:, None] + np.arange(length)
        if position is None:
            yield place, _Flat(np.ones((len(same), 1)))
            continue
        rank = levels.rank[same]
        weight = position[rank[:, None] + np.arange(length)]
        for rows, solver in _choices(weight, continuation[place], rank):
            yield place[rows], solver


def _choices(
    weight: NDArray[np.float64], continuation: NDArray[np.float64], rank: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], Solver]]:
    """Yield some of the rows (R, n) with a method, until each is done; rows of equal ``rank`` have equal weights."""
    n = weight.shape[1]
    flat = _flat(weight, continuation)
    weighing = _weighing(weight, continuation)
    # So few ranks that polynomials of that degree are faster than roots of unity, however many documents there are.
    first = (weighing <= LEAST) | ((weighing <= MOST) & (weighing <= PART * n))
    kind = np.where(flat, -1, np.where(first, weighing, n + 1 + rank))
    for one in np.unique(kind).tolist():
        rows = np.flatnonzero(kind == one)
        if one < 0:
            yield rows, _Flat(weight[rows, :1])
        elif one <= n:
            yield rows, _First(weight[rows, :one])
        else:
            mixture = _mixture(weight[rows[0]], one - n - 1)
            yield rows, _Any(weight[rows]) if mixture is None else _Mixed(*mixture)


def _weighing(weight: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many ranks (R, n) can be reached and weigh anything: int64 (R,), at least 1."""
    n = weight.shape[1]
    last = n - np.argmax(weight[:, ::-1] != 0, axis=1)
    with np.errstate(divide="ignore"):
        steps = np.floor(NEGLIGIBLE / np.log(continuation.max(axis=1))) + 1.0
    reached = np.where(steps > 0.0, np.minimum(steps, float(n)), float(n)).astype(np.int64)
    ranks: NDArray[np.int64] = np.minimum(last, reached)
    return ranks


def _mixture(weight: NDArray[np.float64], rank: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Write the weights of ranks from ``rank`` on (n,) as a mixture; DCG's as that of more ranks, which is kept."""
    end = rank + len(weight)
    more = _dcg(1 << (end - 1).bit_length())
    if not np.array_equal(more[rank:end], weight):
        return geometric_mixture(weight)
    mixture = geometric_mixture(more)
    return None if mixture is None else (mixture[0] * mixture[1] ** rank, mixture[1])


@lru_cache(maxsize=32)
def _dcg(ranks: int) -> NDArray[np.float64]:
    return np.asarray(DCG().bind(None, np.array([0, ranks])).position, dtype=np.float64)


def _flat(weight: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which rows (R, n) keep their first weight at all ranks that can be reached: bool (R,)."""
    other = weight != weight[:, :1]
    rank = np.where(np.any(other, axis=1), np.argmax(other, axis=1), weight.shape[1])
    with np.errstate(divide="ignore"):
        furthest = np.log(continuation.max(axis=1)) * rank  # a bound on the log of the chance of getting there
    flat: NDArray[np.bool_] = (rank == weight.shape[1]) | (furthest < NEGLIGIBLE)
    return flat
