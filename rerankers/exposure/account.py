r"""Where the exposure of documents comes from: the ranks they take, and the looks that stop before them.

A document d has the exposure E_d = \sum_r P(rank_d = r) w_d(r), with w_d(r) the mean weight of rank r given that d is
there: the weight of the rank times the chance that nobody stops above it. Under browsing in which no look satisfies,
w_d(r) is the same for all documents. So E_d is what its ranks alone would give it, less what looks that end above it
take (Diaz et al. 2020 for the browsing model; the split is the definition of a difference, nothing is estimated).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure._binding import Browsing, BrowsingModel
from rerankers.exposure.checks import logit_array, whole_number
from rerankers.exposure.gradients import plackett_luce_gradient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Exposing = Callable[[Browsing], NDArray[np.float64]]

SINGLE = 50  # rows of up to so many documents have every rank for itself
_FIRST = 10  # ranks for themselves in longer rows
_STEPS = (20, 50, 100)  # and the ends of ranges of ranks that follow, repeated for every power of ten


@dataclass(frozen=True, slots=True, eq=False)
class RankAccount:
    """The exposure of the n documents of one row by ranges of ranks.

    Attributes
    ----------
    ends
        int64 (K,), ascending: range k holds the 1-based ranks ends[k - 1] + 1 to ends[k], the first begins at 1.
    probability
        float64 (n, K), the chance that a document is ranked in a range. A document that not every ranking has misses
        the rest to 1.
    part
        float64 (n, K), what a range brings: the sum of P(rank) times the mean weight there. The parts of a document
        add up to its exposure.
    """

    ends: NDArray[np.int64]
    probability: NDArray[np.float64]
    part: NDArray[np.float64]

    def within(self, rank: int) -> NDArray[np.float64]:
        """Return the chance of a rank of at most ``rank``, one of ``ends`` or beyond the last: float64 (n,)."""
        chance: NDArray[np.float64] = self.probability[:, self.ends <= rank].sum(axis=1)
        return np.minimum(chance, 1.0)

    def median(self, place: int) -> tuple[int, int] | None:
        """Return the range (first, last rank) that holds the median rank of a document, None where it has none.

        It has none where it is left out of at least half of the rankings.
        """
        chance = np.cumsum(self.probability[place])
        reached = np.flatnonzero(chance >= 0.5 - 1e-12)
        if not len(reached):
            return None
        k = int(reached[0])
        return (1 if k == 0 else int(self.ends[k - 1]) + 1), int(self.ends[k])


def rank_ends(n: int) -> NDArray[np.int64]:
    """Return the ends of ranges of ranks for a row of n documents: int64 (K,), the last one n.

    Up to 50 documents every rank stands for itself; beyond, ranks 1 to 10 do, and 11-20, 21-50, 51-100, 101-200, …
    follow.
    """
    n = whole_number("n", n, 0)
    if n <= SINGLE:
        return np.arange(1, n + 1, dtype=np.int64)
    ends, scale = list(range(1, _FIRST + 1)), 1
    while ends[-1] < n:
        ends += [scale * step for step in _STEPS]
        scale *= 10
    return np.array([*(end for end in ends if end < n), n], dtype=np.int64)


def by_ranks(exposing: Exposing, browsing: Browsing, ends: NDArray[np.int64]) -> RankAccount:
    """Divide the exposures of a row by ranges of ranks.

    Parameters
    ----------
    exposing
        gives the exposures of the n documents of the row, float64 (n,), under any browsing that is bound to it.
    browsing
        the model, bound to the row.
    ends
        int64 (K,), as of `rank_ends`.

    Returns
    -------
    RankAccount
        exact where ``exposing`` is: a range is the difference of two exposures with browsing cut behind its ends.
    """
    ones = np.ones(len(browsing.continuation))
    counted = Browsing(None, ones, browsing.satisfaction)
    return RankAccount(ends, _parts(exposing, counted, ends), _parts(exposing, browsing, ends))


def _parts(exposing: Exposing, browsing: Browsing, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    n = len(browsing.continuation)
    before, parts = np.zeros(n), np.empty((n, len(ends)))
    for k, end in enumerate(ends.tolist()):
        value = exposing(browsing if end >= n else _cut(browsing, end))
        parts[:, k] = np.maximum(value - before, 0.0)  # below 0 by rounding only
        before = value
    return parts


def _cut(browsing: Browsing, end: int) -> Browsing:
    weight = np.ones(len(browsing.continuation)) if browsing.position is None else browsing.position.copy()
    weight[end:] = 0.0
    return Browsing(weight, browsing.continuation, browsing.satisfaction)


def unsatisfied(model: BrowsingModel, size: int) -> Browsing:
    """Return a model bound to a row of ``size`` documents of which none satisfies anybody: what patience alone does."""
    return model.bind(np.zeros(size), np.array([0, size], dtype=np.int64))


def plackett_luce_pressure(scores: ArrayLike, browsing: Browsing, doc: int) -> NDArray[np.float64]:
    """Return by how much one document's exposure changes with the logit of each document, float64 (n,).

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity.
    browsing
        the model, bound to the row.
    doc
        the document, 0 to n - 1.

    Returns
    -------
    Exposure a nat of logit: at least 0 for the document itself under browsing without satisfaction, at most 0 for one
    that takes exposure from it; they add up to 0. A document that ends few looks may also have a positive one: more of
    it in front means less of another that ends more.
    """
    logit = logit_array(scores)
    pull = np.zeros(len(logit))
    pull[doc] = 1.0
    return plackett_luce_gradient(np.array([0, len(logit)], dtype=np.int64), logit, browsing, pull)


def plackett_luce_above(scores: ArrayLike, doc: int) -> NDArray[np.float64]:
    """Return the chance that each document is ranked above one, float64 (n,), 0 for itself (Plackett 1975; Luce 1959).

    It is exp(s_j) / (exp(s_j) + exp(s_d)), one half between two documents at minus infinity.
    """
    logit = logit_array(scores)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = logit - logit[doc]
        chance = 0.5 * (1.0 + np.tanh(0.5 * gap))
    chance = np.where(np.isnan(gap), 0.5, chance)  # both at minus infinity
    chance[doc] = 0.0
    return chance
