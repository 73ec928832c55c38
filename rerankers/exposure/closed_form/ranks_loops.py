"""Compiled loops: one pass over the nodes of a row for the marginals of its first ranks (see `marginals`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.arrival_loops import DENSITY, FAR, MOVED, REST, arrive, bent, start, window
from rerankers.exposure.closed_form.nodes import COARSE
from rerankers.exposure.closed_form.roots_terms_loops import BLOCK, circle, faded, products

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def rank_sweep(
    first: float, apart: float, right: float, logit: NDArray[np.float64], total: NDArray[np.float64]
) -> None:
    """Add the integrand of the marginals at nodes from ``first`` on to ``total`` (k, n), as `roots_loops.sweep`."""
    k, n = total.shape
    base, ones, state = np.empty(n), np.ones(n), np.empty((4, n))
    v, scaled_at = first, -np.inf
    while v <= right + COARSE:
        x, bend = bent(v)
        if x - scaled_at > FAR:
            start(logit, x, base)
            scaled_at = x
        mean, variance, _ = arrive(base, math.exp(x - scaled_at), ones, state)
        low, high = window(mean, variance, n, float(n), 1)
        if low >= k:
            return
        count = (high - low + 1) | 1
        if count > n:
            low, high, count = 0, n - 1, n | 1
        half = count // 2 + 1
        for begin in range(0, half, BLOCK):
            block = circle(begin, min(BLOCK, half - begin), count)
            products(state[REST], state[MOVED], block)
            _add(state, block, (begin, half, count), low, min(high + 1, k), bend, total)
            if begin + BLOCK < half and faded(state, block, BLOCK - 1, 1):
                break
        v += apart


@compiled
def _add(
    state: NDArray[np.float64],
    block: NDArray[np.float64],
    roots: tuple[int, int, int],
    low: int,
    high: int,
    measure: float,
    total: NDArray[np.float64],
) -> None:
    """Add for each document the coefficients of ranks from ``low`` on, by a discrete Fourier transform."""
    begin, half, count = roots
    size, n = block.shape[1], state.shape[1]
    turned_real, turned_imag = _turns(size, begin, half, count, low, high, measure)
    real, imag = np.empty((size, n)), np.empty((size, n))
    for k in range(size):
        _without(state[REST], state[MOVED], state[DENSITY], block[:4, k], real[k], imag[k])
    for r in range(low, high):
        for k in range(size):
            _turn(turned_real[k, r - low], turned_imag[k, r - low], real[k], imag[k], total[r])


@compiled
def _without(
    rest: NDArray[np.float64],
    moved: NDArray[np.float64],
    density: NDArray[np.float64],
    root: NDArray[np.float64],
    real: NDArray[np.float64],
    imag: NDArray[np.float64],
) -> None:
    """Write for each document its density times the product of the factors of all others at one root."""
    cosine, sine, whole, phase = root[0], root[1], root[2], root[3]
    for d in range(len(rest)):
        a, b = rest[d] + moved[d] * cosine, moved[d] * sine
        norm = density[d] / (a * a + b * b)
        real[d], imag[d] = norm * (whole * a + phase * b), norm * (phase * a - whole * b)


@compiled
def _turn(c: float, s: float, real: NDArray[np.float64], imag: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    for d in range(len(total)):
        total[d] += c * real[d] + s * imag[d]


@compiled
def _turns(
    size: int, begin: int, half: int, count: int, low: int, high: int, measure: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the real and the imaginary part at each root add to each rank: (size, ranks)."""
    real, imag = np.empty((size, high - low)), np.empty((size, high - low))
    for k in range(size):
        # The lower half plane gives the conjugates; what fills up the block counts for nothing.
        part = 0.0 if begin + k >= half else measure * (1.0 if begin + k == 0 else 2.0) / count
        for r in range(low, high):
            turn = 2.0 * math.pi * (((begin + k) * r) % count) / count
            real[k, r - low], imag[k, r - low] = part * math.cos(turn), part * math.sin(turn)
    return real, imag
