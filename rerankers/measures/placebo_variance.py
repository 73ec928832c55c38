r"""How much a squared measure of groups varies if the labels are shuffled: exact, from power sums.

With K = A A^T the value is Z = \sum_{i != j} x_i x_j K_{p(i)p(j)} + \sum_i x_i^2 K_{p(i)p(i)} for a uniform shuffle p.
E[Z^2] is a sum over which of the indices coincide; each part is a sum over distinct documents of products of x, times
the mean of the same products of K (Mantel 1967; here with a diagonal, which soft and several groups have).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.measures.placebo import Bilinear

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DENSE = 1 << 22  # cells of (query, group, group) up to which they are counted in one array
_NOISE = 1e-13


class _Kernel(NamedTuple):
    """Sums over one query's K, float64 (B,) each: k its diagonal, r its rows and all of it without the diagonal."""

    k: NDArray[np.float64]
    kk: NDArray[np.float64]
    r: NDArray[np.float64]
    rr: NDArray[np.float64]
    rk: NDArray[np.float64]
    squares: NDArray[np.float64]


def shuffled_variance(value: Bilinear) -> NDArray[np.float64] | None:
    """Return the variance over all ways to give the documents of a query its labels, float64 (B,).

    None where x and y differ. The exposures are taken as they are: noise of draws is no part of it.
    """
    if value.x is not value.y:
        return None
    row, rows = value.row, len(value.indptr) - 1
    p1, p2, p3, p4 = (_sums(row, value.x**power, rows) for power in (1, 2, 3, 4))
    kernel = _kernel(value)
    n = np.diff(value.indptr).astype(np.float64)
    of2, of3, of4 = _falling(n, 2), _falling(n, 3), _falling(n, 4)
    two = p2 * p2 - p4
    three = p2 * p1 * p1 - 2 * p3 * p1 - p2 * p2 + 2 * p4
    four = p1**4 - 6 * p2 * p1 * p1 + 3 * p2 * p2 + 8 * p3 * p1 - 6 * p4
    sharing = kernel.rr - kernel.squares
    apart = kernel.r**2 - 4 * sharing - 2 * kernel.squares
    outer = 2 * two * kernel.squares * of2 + 4 * three * sharing * of3 + four * apart * of4
    mixed = 2 * (p3 * p1 - p4) * kernel.rk * of2 + three * (kernel.r * kernel.k - 2 * kernel.rk) * of3
    inner = p4 * kernel.kk * _falling(n, 1) + two * (kernel.k**2 - kernel.kk) * of2
    mean = p2 * kernel.k * _falling(n, 1) + (p1 * p1 - p2) * kernel.r * of2
    second = outer + 2 * mixed + inner
    variance = second - mean * mean
    # what rounding leaves of a difference of equal numbers is no variance
    return np.where(variance > _NOISE * np.abs(second), variance, 0.0)


def _falling(n: NDArray[np.float64], terms: int) -> NDArray[np.float64]:
    """Return 1 / (n (n - 1) …), 0 where there are fewer documents than terms."""
    product = np.prod([n - step for step in range(terms)], axis=0)
    return np.where(n >= terms, 1.0 / np.where(n >= terms, product, 1.0), 0.0)


def _kernel(value: Bilinear) -> _Kernel:
    row, rows, width = value.row, len(value.indptr) - 1, len(value.alignment.groups)
    item, group, weight = value.entries()
    of_group = _sums(row[item] * width + group, weight, rows * width)
    k = _sums(item, weight * weight, len(row))
    r = _sums(item, weight * of_group[row[item] * width + group], len(row)) - k
    kk = _sums(row, k * k, rows)
    return _Kernel(
        k=_sums(row, k, rows),
        kk=kk,
        r=_sums(row, r, rows),
        rr=_sums(row, r * r, rows),
        rk=_sums(row, r * k, rows),
        squares=_square_of_products(row[item], item, group, weight, rows, width) - kk,
    )


def _square_of_products(
    row: NDArray[np.int64],
    item: NDArray[np.int64],
    group: NDArray[np.int64],
    weight: NDArray[np.float64],
    rows: int,
    width: int,
) -> NDArray[np.float64]:
    """Return the squared norm of A^T A, which is that of A A^T, by query; only groups that documents share count."""
    counts = np.bincount(item, minlength=int(item.max(initial=-1)) + 1)
    start = np.cumsum(counts) - counts
    times = counts[item]
    left = np.repeat(np.arange(len(item)), times)
    right = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times) + start[item[left]]
    cell = (row[left] * width + group[left]) * width + group[right]
    product = weight[left] * weight[right]
    if rows * width * width <= _DENSE:
        total = _sums(cell, product, rows * width * width)
        squares: NDArray[np.float64] = np.sum((total * total).reshape(rows, width * width), axis=1)
        return squares
    cells, place = np.unique(cell, return_inverse=True)
    total = _sums(place, product, len(cells))
    return _sums(cells // (width * width), total * total, rows)


def _sums(place: NDArray[np.integer], value: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(place, weights=value, minlength=size).astype(np.float64, copy=False)
