"""Points for schedules: each is uniform, together they are spread more evenly than independent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

BELOW_ONE = 1.0 - 2.0**-53
TILE = 1 << 16  # numbers worked on together, so that they are sorted in the cache


def quasi_uniforms(key: NDArray[np.uint64], n: int, dims: int) -> NDArray[np.float64]:
    """Return n points of a Latin hypercube (McKay, Beckman & Conover 1979), strictly between 0 and 1: (n, dims).

    In every dimension each of the n intervals [i / n, (i + 1) / n) holds one point, at random; dimensions are
    independent. So each point is uniform on the cube, and a mean over the points keeps no error from what depends on
    one dimension alone. On exposure of races these beat scrambled Sobol' points, see `benchmarks`.

    Parameters
    ----------
    key
        uint64 (2,), a key of `rerankers._base.streams`.
    n, dims
        at least 1.
    """
    points = np.empty((n, dims))
    step = max(1, TILE // n)
    for start in range(0, dims, step):
        noise = uniforms(key, 2 * start, 2 * min(step, dims - start), n)  # a dimension has two rows of numbers
        points[:, start : start + step] = ((np.argsort(noise[::2], axis=1) + noise[1::2]) / n).T
    return np.minimum(points, BELOW_ONE, out=points)


def spread(key: NDArray[np.uint64], n: int) -> NDArray[np.float64]:
    """Return n numbers in [0, 1), each uniform, together a grid of steps 1 / n at a random place.

    They come in van der Corput's order (1935), in which every beginning of the sequence is spread evenly too.
    """
    bits = max(1, (n - 1).bit_length())
    number = np.arange(1 << bits)
    mirrored = np.zeros(1 << bits, dtype=np.int64)
    for bit in range(bits):
        mirrored |= ((number >> bit) & 1) << (bits - 1 - bit)
    numbers: NDArray[np.float64] = (mirrored[mirrored < n] / n + uniforms(key, 0, 1, 1)[0, 0]) % 1.0
    return numbers
