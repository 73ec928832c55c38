"""Compiled loops: one pass over the nodes of a row where ranks have weights, by roots of unity (see `marginals`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.arrival_loops import (
    DENSITY,
    FAR,
    GONE,
    MOVED,
    REST,
    arrive,
    bent,
    start,
    stretched,
    unstretched,
    window,
)
from rerankers.exposure.closed_form.nodes import COARSE, FIRST, NEGLIGIBLE
from rerankers.exposure.closed_form.roots_terms_loops import (
    BLOCK,
    add_exposure,
    add_gradient,
    add_pull,
    circle,
    faded,
    products,
    shares,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOST = math.exp(NEGLIGIBLE)


@compiled
def sweep(
    first: float,
    apart: float,
    places: tuple[float, float, float],
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    until: NDArray[np.int64],
    pull: NDArray[np.float64],
    furthest: float,
    total: NDArray[np.float64],
) -> None:
    """Add the integrand of one row at nodes from ``first`` on, up to where nothing is added any more.

    Parameters
    ----------
    first, apart
        the y of the first node, and the distance of the others.
    places
        the v of the last node, of a cutoff, and how uncertain that is (see `cutoff_time`).
    logit, continuation
        float64 (n,), n at least 2; the weights e^logit sum to 1.
    weight, until
        float64 (n,), of ranks, and int64 (n,), the last rank up to which the weight stays the same.
    pull
        float64 (n,) for a gradient; empty for exposure.
    furthest
        a rank that nobody passes, because of the continuations.
    total
        float64 (n,), what is added to.
    """
    n = len(logit)
    right, centre, width = places
    end = stretched(right, centre, width) + COARSE
    base, state, sums = np.empty(n), np.empty((4, n)), np.empty(n)
    y, v, scaled_at = first, FIRST, -np.inf
    while y <= end:
        v, slope = unstretched(y, v, v + apart, centre, width)
        x, bend = bent(v)
        if x - scaled_at > FAR:
            start(logit, x, base)
            scaled_at = x
        mean, variance, least = arrive(base, math.exp(x - scaled_at), continuation, state)
        ranks = window(mean, variance, n, furthest, 1 if len(pull) == 0 else 2)
        if least < GONE or (weight[ranks[0]] == 0.0 and until[ranks[0]] == n - 1):
            return
        if not _node(continuation, weight, until, pull, ranks, least, slope * bend, state, sums, total):
            return
        y += apart


@compiled
def _node(
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    until: NDArray[np.int64],
    pull: NDArray[np.float64],
    ranks: tuple[int, int],
    least: float,
    measure: float,
    state: NDArray[np.float64],
    sums: NDArray[np.float64],
    total: NDArray[np.float64],
) -> bool:
    """Add one node to ``total``, unless no document has a chance to be reached: then say so."""
    n = len(continuation)
    low, high = ranks
    count = (high - low + 1) | 1
    if until[low] >= high:
        if weight[low] == 0.0:
            return True
        count = 1  # the same weight for all ranks that matter: a single sum of all coefficients
    elif count > n:
        low, high, count = 0, n - 1, n | 1
    half = count // 2 + 1
    for d in range(n):
        sums[d] = 0.0
    for first in range(0, half, BLOCK):
        size = min(BLOCK, half - first)
        block = circle(first, size, count)
        products(state[REST], state[MOVED], block)
        if first == 0 and block[2, 0] < _LOST * least:
            return False
        shares(weight, first, low, count, size, block)
        if len(pull):
            add_pull(state, pull, block)
            add_gradient(state, continuation, pull, block, sums)
        else:
            add_exposure(state[REST], state[MOVED], block, sums)
        if first + size < half and faded(state, block, size - 1, n if len(pull) else 1):
            break
    for d in range(n):
        total[d] += measure * (sums[d] if len(pull) else sums[d] * state[DENSITY, d])
    return True
