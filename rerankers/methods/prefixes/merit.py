r"""Rank probabilities where merit is random, and the best ones that are fair to it up to a factor.

Documents are relevant independently of each other, document d with probability \rho_d. Merit ranks all relevant
documents before all others, ties at random: the ranking that Thompson sampling draws. M_d(k) is the probability that
it has d among the first k.

A policy is \phi-fair (Singh, Kempe & Joachims, NeurIPS 2021) if it has d among the first k with probability F_d(k) of
at least \phi M_d(k), for all d and k. No linear program is needed for the best one. For a single k, utility is
\sum_d \rho_d F_d(k) over numbers in [\phi M_d(k), 1] that sum to k: a knapsack, filled by giving every document its
\phi M_d(k) and what is left, (1 - \phi) k, to the documents of the highest \rho until each has 1. What these still
need falls with k as their own guarantees grow, and what is left grows, so that no F_d(k) ever falls with k: the
solutions for all k are the prefixes of one doubly stochastic matrix. It is best for every k, and so for all position
weights that do not increase, at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def merit_prefixes(rho: NDArray[np.float64], ranks: int) -> NDArray[np.float64]:
    """Return the probability that merit ranks a document among the first 1..ranks.

    Parameters
    ----------
    rho
        float64 (n,) in [0, 1].
    ranks
        at most n.

    Returns
    -------
    float64 (n, ranks). Of order n^2.
    """
    n = len(rho)
    others = _others(rho)
    number = np.arange(n)
    # a relevant document with s relevant others has any of the ranks 0..s, another one any of s..n - 1
    if_relevant = np.cumsum((others / (number + 1.0))[:, ::-1], axis=1)[:, ::-1]
    if_other = np.cumsum(others / (n - number), axis=1)
    at_rank = rho[:, None] * if_relevant + (1.0 - rho)[:, None] * if_other
    first: NDArray[np.float64] = np.minimum(np.cumsum(at_rank, axis=1)[:, :ranks], 1.0)
    return first


def _others(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chances that 0..n - 1 of the other documents are relevant: float64 (n, n).

    The distribution of all is divided by that of one: from below where it is probably not relevant, else from above.
    Either way an error is multiplied by a factor below 1 from step to step.
    """
    n = len(rho)
    whole = np.zeros(n + 1)
    whole[0] = 1.0
    for count, chance in enumerate(rho.tolist(), 1):
        whole[1 : count + 1] = whole[1 : count + 1] * (1.0 - chance) + whole[:count] * chance
        whole[0] *= 1.0 - chance
    others = np.empty((n, n))
    for below, some in ((True, np.flatnonzero(rho < 0.5)), (False, np.flatnonzero(rho >= 0.5))):
        own, other = (rho[some], 1.0 - rho[some]) if below else (1.0 - rho[some], rho[some])
        terms = whole if below else whole[::-1]
        divided = np.empty((n, len(some)))
        before = np.zeros(len(some))
        for number in range(n):
            before = np.maximum(terms[number] - own * before, 0.0) / other
            divided[number] = before
        others[some] = divided.T if below else divided[::-1].T
    return others


def fair_prefixes(rho: NDArray[np.float64], merit: NDArray[np.float64], phi: float) -> NDArray[np.float64]:
    """Return the prefix probabilities of the best phi-fair policy.

    Parameters
    ----------
    rho
        float64 (n,), descending: what a document is worth.
    merit
        float64 (n, K), of `merit_prefixes`, in the same order.
    phi
        in [0, 1].

    Returns
    -------
    float64 (n, K), in [0, 1], not decreasing along the ranks; column k sums to k + 1.
    """
    granted = phi * merit
    need = np.maximum(1.0 - granted, 0.0)
    free = np.arange(1, merit.shape[1] + 1) - granted.sum(axis=0)
    given = np.clip(free - (np.cumsum(need, axis=0) - need), 0.0, need)
    return np.minimum(np.maximum.accumulate(granted + given, axis=1), 1.0)
