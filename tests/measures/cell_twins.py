"""Plain dense twins of the sparse cells: every cell is written out."""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np

from rerankers.measures.cells import Memberships


def memberships(rows: list[list[float]]) -> Memberships:
    matrix = np.array(rows, dtype=float)
    page, group = np.nonzero(matrix)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(matrix)))]).astype(np.int64)
    return Memberships(matrix.shape[1], indptr, group.astype(np.int32), matrix[page, group])


def dense_cells(matrices, page, weight):
    total = np.zeros([len(m[0]) for m in matrices])
    for p, w in zip(page, weight, strict=True):
        total += w * reduce(np.multiply.outer, [np.array(m[p], dtype=float) for m in matrices])
    return total


def dense_of(cells):
    out = np.zeros(int(np.prod(cells.sizes)))
    out[cells.cell] = cells.value
    return out


def dense_of_mixed(mixed):
    out = np.multiply.outer(mixed.spread, mixed.tail).ravel()
    out[mixed.cell] = mixed.value
    return out


def dense_mix(values, backgrounds, share=0.5):
    """Average with the background, one combination of known and unknown after another, on the full array."""
    values = np.array(values, dtype=float)
    heads = len(backgrounds)
    tail_axes = tuple(range(heads, values.ndim))
    mass = values.sum(axis=tail_axes, keepdims=True)
    marginal = values.sum(axis=tuple(range(heads)), keepdims=True)
    filled = np.where(mass > 0, values, marginal)
    tail = filled / filled.sum(axis=tail_axes, keepdims=True)
    out = values.copy()
    for known in product([True, False], repeat=heads):
        if not any(known):
            continue
        where = tuple(slice(1, None) if k else slice(0, 1) for k in known)
        world = reduce(
            np.multiply.outer, [np.array(b) if k else np.ones(1) for k, b in zip(known, backgrounds, strict=True)]
        )
        world = world.reshape(world.shape + (1,) * len(tail_axes))
        out[where] = (1 - share) * values[where] + share * world * tail[where] * values[where].sum()
    return out


def dense_js(p, q):
    p, q = np.ravel(p) / np.sum(p), np.ravel(q) / np.sum(q)
    return sum(0.5 * x * np.log(2 * x / (a + b)) for a, b in zip(p, q, strict=True) for x in (a, b) if x > 0)
