"""Compiled loops over documents and a block of roots of unity: what each root adds to the sums of `roots_loops`.

A block has the rows cosine and sine of the roots, real and imaginary part of the product of all factors, and the same
of the share of the root and of the pull.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled
from rerankers.exposure.closed_form.arrival_loops import DENSITY, MOVED, REST, TIME
from rerankers.exposure.closed_form.nodes import NEGLIGIBLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 32  # roots worked on together; about as many matter, however many documents there are
LANES = 8
_LOST = math.exp(NEGLIGIBLE)
_GROUP = 32  # factors multiplied between looks for numbers so small that arithmetic with them is slow
_TINY = 1e-150
_NEAR = 512  # documents that are taken through all roots while the cache holds them


@compiled
def circle(first: int, size: int, count: int) -> NDArray[np.float64]:
    """Return a block of the roots ``first`` to first + size of ``count``, filled up to a multiple of `LANES`."""
    block = np.empty((8, size if size < 3 else (size + LANES - 1) // LANES * LANES))
    for k in range(block.shape[1]):
        turn = 2.0 * math.pi * ((first + k) % count) / count
        block[0, k], block[1, k] = math.cos(turn), math.sin(turn)
    return block


@compiled
def products(rest: NDArray[np.float64], moved: NDArray[np.float64], block: NDArray[np.float64]) -> None:
    """Fill rows 2 and 3 with the product over documents of rest + moved times the root."""
    cosine, sine, real, imag = block[0], block[1], block[2], block[3]
    for k in range(len(real)):
        real[k], imag[k] = 1.0, 0.0
    for low in range(0, len(rest), _GROUP):
        _multiply(rest[low : low + _GROUP], moved[low : low + _GROUP], cosine, sine, real, imag)
        for k in range(len(real)):
            if abs(real[k]) + abs(imag[k]) < _TINY:
                real[k], imag[k] = 0.0, 0.0


@compiled
def _multiply(
    rest: NDArray[np.float64],
    moved: NDArray[np.float64],
    cosine: NDArray[np.float64],
    sine: NDArray[np.float64],
    real: NDArray[np.float64],
    imag: NDArray[np.float64],
) -> None:
    for d in range(len(rest)):
        q, p = rest[d], moved[d]
        for k in range(len(cosine)):
            a, b = q + p * cosine[k], p * sine[k]
            product = real[k] * a - imag[k] * b
            imag[k] = real[k] * b + imag[k] * a
            real[k] = product


@compiled
def shares(
    weight: NDArray[np.float64], first: int, low: int, count: int, size: int, block: NDArray[np.float64]
) -> None:
    """Fill rows 4 and 5 with the discrete Fourier transform of the weights times the product of all factors."""
    cosine, sine, real, imag = block[0], block[1], block[4], block[5]
    for k in range(len(real)):
        real[k], imag[k] = 0.0, 0.0
    if count == 1:
        real[0] = weight[low]
    else:
        _horner(weight[low : min(low + count, len(weight))], cosine, sine, real, imag)
    for k in range(block.shape[1]):
        # The lower half plane gives the conjugates; what fills up the block counts for nothing.
        part = 0.0 if k >= size else (1.0 if first + k == 0 else 2.0) / count
        turn = 2.0 * math.pi * (((first + k) * low) % count) / count
        c, s = part * math.cos(turn), -part * math.sin(turn)
        a, b = real[k] * c - imag[k] * s, real[k] * s + imag[k] * c
        real[k], imag[k] = a * block[2, k] - b * block[3, k], a * block[3, k] + b * block[2, k]


@compiled
def _horner(
    weight: NDArray[np.float64],
    cosine: NDArray[np.float64],
    sine: NDArray[np.float64],
    real: NDArray[np.float64],
    imag: NDArray[np.float64],
) -> None:
    for r in range(len(weight) - 1, -1, -1):
        w = weight[r]
        for k in range(len(cosine)):
            a = real[k] * cosine[k] + imag[k] * sine[k] + w
            imag[k] = imag[k] * cosine[k] - real[k] * sine[k]
            real[k] = a


@compiled
def add_exposure(
    rest: NDArray[np.float64], moved: NDArray[np.float64], block: NDArray[np.float64], sums: NDArray[np.float64]
) -> None:
    """Add for each document the real part of the share over its own factor."""
    for k in range(block.shape[1]):
        cosine, sine, real, imag = block[0, k], block[1, k], block[4, k], block[5, k]
        for d in range(len(rest)):
            a, b = rest[d] + moved[d] * cosine, moved[d] * sine
            sums[d] += (real * a + imag * b) / (a * a + b * b)


@compiled
def add_pull(state: NDArray[np.float64], pull: NDArray[np.float64], block: NDArray[np.float64]) -> None:
    """Fill rows 6 and 7 with the sum over documents of pull times density over factor."""
    rest, moved, density = state[REST], state[MOVED], state[DENSITY]
    cosine, sine, real, imag = block[0], block[1], block[6], block[7]
    for k in range(len(real)):
        real[k], imag[k] = 0.0, 0.0
    for d in range(len(rest)):
        q, p, g = rest[d], moved[d], pull[d] * density[d]
        for k in range(len(cosine)):
            a, b = q + p * cosine[k], p * sine[k]
            norm = g / (a * a + b * b)
            real[k] += norm * a
            imag[k] -= norm * b


@compiled
def add_gradient(
    state: NDArray[np.float64],
    continuation: NDArray[np.float64],
    pull: NDArray[np.float64],
    block: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Add for each document what its logit changes, by its own arrival and by those it delays."""
    time, rest, moved, density = state[TIME], state[REST], state[MOVED], state[DENSITY]
    for low in range(0, len(sums), _NEAR):
        high = min(low + _NEAR, len(sums))
        for k in range(block.shape[1]):
            _add_slopes(
                time[low:high],
                rest[low:high],
                moved[low:high],
                density[low:high],
                continuation[low:high],
                pull[low:high],
                block[:, k],
                sums[low:high],
            )


@compiled
def _add_slopes(
    time: NDArray[np.float64],
    rest: NDArray[np.float64],
    moved: NDArray[np.float64],
    density: NDArray[np.float64],
    continuation: NDArray[np.float64],
    pull: NDArray[np.float64],
    root: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    cosine, sine, real, imag, pull_real, pull_imag = root[0], root[1], root[4], root[5], root[6], root[7]
    for d in range(len(rest)):
        a, b = rest[d] + moved[d] * cosine, moved[d] * sine
        norm = 1.0 / (a * a + b * b)
        a, b = a * norm, -b * norm
        own = pull[d] * density[d]
        others, phase = pull_real - own * a, pull_imag - own * b
        push, turn = continuation[d] * cosine - 1.0, continuation[d] * sine
        u = density[d] * (others * push - phase * turn) + own * (1.0 - time[d])
        v = density[d] * (others * turn + phase * push)
        sums[d] += real * (u * a - v * b) - imag * (u * b + v * a)


@compiled
def faded(state: NDArray[np.float64], block: NDArray[np.float64], k: int, terms: int) -> bool:
    """Say whether all that follows root k is negligible: no factor grows in modulus over the half circle."""
    largest = 0.0
    for d in range(state.shape[1]):
        real = state[REST, d] + state[MOVED, d] * block[0, k]
        imag = state[MOVED, d] * block[1, k]
        largest = max(largest, state[DENSITY, d] * state[DENSITY, d] / (real * real + imag * imag))
    norm = block[2, k] * block[2, k] + block[3, k] * block[3, k]
    return bool(norm * largest * terms * terms < _LOST * _LOST)
