"""Schedules of shuffles: within a level, rankings that are rotations of each other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import stream_key, uniforms
from rerankers.policies._points import BELOW_ONE, quasi_uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scheduled_levels(codes: NDArray[np.int64], key: NDArray[np.uint64], n: int) -> NDArray[np.int32]:
    """Return n rankings of documents by level, shuffled within levels.

    Parameters
    ----------
    codes
        int64 (size,), 0 for the level that comes first, 1 for the next, ….
    key
        uint64 (2,), a key of `rerankers._base.streams`.

    Returns
    -------
    int32 (n, size), each ranking uniform among those by level.
    """
    order = np.argsort(codes, kind="stable").astype(np.int32)
    rankings = np.tile(order, (n, 1))
    bounds = [*np.flatnonzero(np.diff(codes[order], prepend=-1)).tolist(), len(codes)]
    for number, (low, high) in enumerate(pairwise(bounds)):
        if high - low > 1:
            own = stream_key(number, key, "level")
            place = _rotated(own, n, high - low) if high - low <= n else np.argsort(quasi_uniforms(own, n, high - low))
            rankings[:, low:high] = order[low:high][place]
    return rankings


def _rotated(key: NDArray[np.uint64], n: int, m: int) -> NDArray[np.int64]:
    """Return n shuffles of m <= n places, int64 (n, m): each m of them are the rotations of one shuffle."""
    groups = -(-n // m)
    shuffle = np.argsort(uniforms(key, 0, groups, m), axis=1)
    offset = uniforms(key, groups, groups, m)[:, 0]
    mixed = uniforms(stream_key(0, key, "mixed"), 0, 1, n)[0]
    number = np.arange(n)
    group, inside = number // m, number % m
    size = np.minimum(m, n - group * m)  # the last group may be smaller: its turns are spread evenly
    turn = (np.minimum((inside + offset[group]) / size, BELOW_ONE) * m).astype(np.int64)
    place = np.take_along_axis(shuffle[group], (turn[:, None] + np.arange(m)) % m, axis=1)
    return place[np.argsort(mixed)]  # levels must not turn together
