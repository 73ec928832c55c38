r"""Exact Plackett-Luce exposure where the weight of a document depends on its rank, and marginals of ranks.

Given the arrival time of document d (see `_nodes`), the documents before it are counted by the polynomial
\prod_{j \ne d} (q_j + c_j p_j z), q_j = e^{-w_j t}, p_j = 1 - q_j: the coefficient of z^r is the probability of
rank r times the continuation up to there. Its values at the N-th roots of unity give every sum of coefficients (a
discrete Fourier transform), and the value without d is the whole product over d's own factor. N is odd, so that
no factor vanishes. It need not reach n: the number of arrivals is concentrated around its mean, and its probability
outside the window of Bennett's inequality is below rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure._nodes import CLAMP, NEGLIGIBLE, RIGHT, refined, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = 48  # rows up to this length use all ranks and are worked on together
TILE = 1 << 16  # complex entries of one temporary


def weighted_race(
    logit: NDArray[np.float64], continuation: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Integrate rows of equal length where ranks have weights.

    Parameters
    ----------
    logit, continuation
        float64 (R, n), as in `_quadrature.race_exposure`.
    weight
        float64 (R, n), the weight of ranks 0 … n - 1 of each row, at least 0.

    Returns
    -------
    float64 (R, n), the expectation of weight[rank] times the continuations before a document; the error is about
    n times 1e-16 of the largest weight.
    """
    rows, n = logit.shape
    if n == 1:
        return weight.copy()
    exposure = np.empty((rows, n))
    step = max(1, TILE // (n * (n // 2 + 1))) if n <= WHOLE else 1
    for start in range(0, rows, step):
        part = slice(start, start + step)
        race = _Race(np.ascontiguousarray(shifted(logit[part]).T), np.ascontiguousarray(continuation[part].T))
        exposure[part] = refined(_Weighted(race, weight[part]), race.right, weight[part].max(axis=1)).T
    return exposure


def rank_marginals(logit: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the probabilities of ranks 0 … k - 1 of each document: float64 (n, k); logits (n,) are finite."""
    if len(logit) == 1:
        return np.ones((1, k))
    race = _Race(shifted(logit[None]).T, np.ones((len(logit), 1)))
    return refined(_Marginals(race, k), race.right, np.ones(1))[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class _Race:
    """Logits with log W at 0 and continuations of R rows, both (n, R)."""

    logit: NDArray[np.float64]
    continuation: NDArray[np.float64]

    @property
    def right(self) -> NDArray[np.float64]:
        """float64 (R,), where the last node of each row lies."""
        right: NDArray[np.float64] = RIGHT - self.logit.min(axis=0)
        return right

    def at(self, x: float, rows: NDArray[np.int64]) -> _Arrivals:
        """Return the state of some rows when log time is x."""
        time = np.exp(np.minimum(np.take(self.logit, rows, axis=1) + x, CLAMP))
        rest = np.exp(-time)
        return _Arrivals(time * rest, rest, -np.expm1(-time), np.take(self.continuation, rows, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Arrivals:
    """At one time, (n, R): the density of arrivals in x, the chances of not having and of having arrived."""

    density: NDArray[np.float64]
    rest: NDArray[np.float64]
    arrived: NDArray[np.float64]
    continuation: NDArray[np.float64]

    def window(self) -> tuple[int, int]:
        """Return the first rank and the odd number of ranks that matter, up to a probability of e^-40."""
        n = len(self.rest)
        if n <= WHOLE:
            return 0, n | 1
        mean, variance = float(self.arrived.sum()), float((self.arrived * self.rest).sum())
        reach = _bennett(variance)
        low = max(0, int(mean - reach) - 1)
        high = min(n - 1, int(mean + reach) + 2)
        largest = float(self.continuation.max())
        if largest < 1.0:  # nobody goes on for longer
            high = min(high, int(NEGLIGIBLE / math.log(max(largest, 1e-300))) + 1)
        return low, (max(high - low, 0) + 1) | 1

    def exhausted(self) -> bool:
        """Whether no document has a chance above e^-40 of being reached, in any row."""
        factor = np.log(self.rest + self.continuation * self.arrived)
        return bool(np.all(factor.sum(axis=0) - factor.min(axis=0) < NEGLIGIBLE))

    def factors(self, roots: NDArray[np.complex128], docs: slice = slice(None)) -> NDArray[np.complex128]:
        """Return the factors of documents at given points: complex (n, R, points)."""
        factor = (self.continuation[docs] * self.arrived[docs])[:, :, None] * roots
        factor += self.rest[docs, :, None]
        return factor


@dataclass(frozen=True, slots=True, eq=False)
class _Weighted:
    """The integrand of weighted exposure."""

    race: _Race
    weight: NDArray[np.float64]

    def __call__(self, x: float, measure: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        state = self.race.at(x, rows)
        low, count = state.window()
        n = len(state.rest)
        weight = self.weight[rows, low : low + count]
        if n > WHOLE and (not np.any(self.weight[rows, low:]) or state.exhausted()):
            return None
        roots, phase = _roots(low, count)
        share = np.fft.rfft(weight, count, axis=1) * phase
        part = np.zeros(state.rest.shape)
        step = _together(n)
        for first in range(0, len(roots), step):
            some = slice(first, first + step)
            factor = state.factors(roots[some])
            whole = np.multiply.reduce(factor, axis=0)
            whole *= share[:, some]
            part += np.divide(whole, factor, out=factor).real.sum(axis=2)
        return part * state.density * measure


@dataclass(frozen=True, slots=True, eq=False)
class _Marginals:
    """The integrand of the marginals of the first k ranks (one row)."""

    race: _Race
    k: int

    def __call__(self, x: float, measure: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        state = self.race.at(x, rows)
        low, count = state.window()
        if low >= self.k:
            return None
        roots, _ = _roots(low, count)
        step = _together(len(state.rest))
        parts = [np.multiply.reduce(state.factors(roots[at : at + step]), axis=0) for at in range(0, len(roots), step)]
        whole = np.concatenate(parts, axis=1)
        ranks = np.arange(low, min(low + count, self.k))
        part = np.zeros((*state.rest.shape, self.k))
        step = _together(len(roots))
        for at in range(0, len(part), step):
            some = slice(at, at + step)
            values = np.fft.irfft((whole / state.factors(roots, some)).conj(), count, axis=2)
            part[some, :, low : low + len(ranks)] = values[:, :, ranks % count]
        part *= (state.density * measure)[:, :, None]
        return part


def _together(entries: int) -> int:
    return max(16, TILE // entries)


def _roots(low: int, count: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the roots of unity of the upper half plane, and what sums over ranks from ``low`` on are multiplied by."""
    number = np.arange(count // 2 + 1)
    turn = 2j * np.pi / count
    share = np.where(number > 0, 2.0, 1.0) / count  # the lower half plane gives the conjugates
    return np.exp(turn * number), share * np.exp(-turn * ((number * low) % count))


def _bennett(variance: float) -> float:
    """Return how far a sum of independent 0-1 variables strays from its mean, up to a probability of e^-40.

    Bennett's inequality: the probability of straying t is at most exp(-v h(t / v)), h(u) = (1 + u) log(1 + u) - u.
    """
    v = max(variance, 1e-300)
    reach = -NEGLIGIBLE / 3.0 + math.sqrt((NEGLIGIBLE / 3.0) ** 2 - 2.0 * v * NEGLIGIBLE)  # Bernstein's is weaker
    for _ in range(4):  # Newton on a convex function from above: every step stays above
        slope = math.log1p(reach / v)
        reach -= ((v + reach) * slope - reach + NEGLIGIBLE) / slope
    return reach
