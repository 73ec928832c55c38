r"""How much a squared measure of groups varies if the labels are shuffled: exact, from power sums.

With K = A A^T the value is Z = \sum_{i != j} x_i x_j K_{p(i)p(j)} + \sum_i x_i^2 K_{p(i)p(i)} for a uniform shuffle p.
With x = m + d, d adding up to 0, it is a constant plus 2 m \sum_i d_i b_{p(i)}, b the row sums of K, plus Z of d: no
digits are lost where x hardly differs between documents. E[Z^2] is a sum over which of the indices coincide; each part
is a sum over distinct documents of products of d, times the mean of the same products of K (Mantel 1967; here with a
diagonal, which soft and several groups have).
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
    """Sums over one query's K, float64 (B,) each: k its diagonal, r its rows and all of it without the diagonal.

    And b the sums of whole rows, less their mean.
    """

    k: NDArray[np.float64]
    kk: NDArray[np.float64]
    r: NDArray[np.float64]
    rr: NDArray[np.float64]
    rk: NDArray[np.float64]
    squares: NDArray[np.float64]
    bb: NDArray[np.float64]
    bk: NDArray[np.float64]
    br: NDArray[np.float64]


def shuffled_variance(value: Bilinear) -> NDArray[np.float64] | None:
    """Return the variance over all ways to give the documents of a query its labels, float64 (B,).

    None where x and y differ. The exposures are taken as they are: noise of draws is no part of it.
    """
    if value.x is not value.y:
        return None
    row, rows = value.row, len(value.indptr) - 1
    n = np.diff(value.indptr).astype(np.float64)
    middle = _sums(row, value.x, rows) / np.maximum(n, 1.0)
    rest = _centred(value.x, row, rows, n)
    p2, p3, p4 = (_sums(row, rest**power, rows) for power in (2, 3, 4))
    kernel = _kernel(value)
    linear = 4.0 * np.square(middle) * p2 * kernel.bb * _over(n - 1.0)
    mixed = 4.0 * middle * p3 * (kernel.bk - 2.0 * kernel.br * _over(n - 2.0)) * _over(n - 1.0)
    variance = linear + mixed + _of_centred(kernel, n, p2, p3, p4)
    return np.maximum(variance, 0.0)


def _of_centred(
    kernel: _Kernel,
    n: NDArray[np.float64],
    p2: NDArray[np.float64],
    p3: NDArray[np.float64],
    p4: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the variance for x that add up to 0, given their power sums: float64 (B,)."""
    of2, of3, of4 = _falling(n, 2), _falling(n, 3), _falling(n, 4)
    two, three, four = p2 * p2 - p4, 2 * p4 - p2 * p2, 3 * p2 * p2 - 6 * p4
    sharing = kernel.rr - kernel.squares
    apart = kernel.r**2 - 4 * sharing - 2 * kernel.squares
    outer = 2 * two * kernel.squares * of2 + 4 * three * sharing * of3 + four * apart * of4
    mixed = -2 * p4 * kernel.rk * of2 + three * (kernel.r * kernel.k - 2 * kernel.rk) * of3
    inner = p4 * kernel.kk * _falling(n, 1) + two * (kernel.k**2 - kernel.kk) * of2
    mean = p2 * (kernel.k * _falling(n, 1) - kernel.r * of2)
    second = outer + 2 * mixed + inner
    variance = second - mean * mean
    # what rounding leaves of a difference of equal numbers is no variance
    size = p2 * (kernel.k * _falling(n, 1) + kernel.r * of2)
    return np.where(variance > _NOISE * size * size, variance, 0.0)


def _centred(
    value: NDArray[np.float64], row: NDArray[np.int64], rows: int, n: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return values less the mean of their row, 0 where that is rounding only."""
    count = np.maximum(n, 1.0)
    first = np.zeros(rows)
    first[row[::-1]] = value[::-1]  # taken off first, so that equal values leave 0
    moved = value - first[row]
    rest = moved - (_sums(row, moved, rows) / count)[row]
    noise = _NOISE * np.sqrt(_sums(row, value * value, rows) / count)
    return np.where(np.abs(rest) > noise[row], rest, 0.0)


def _over(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / n, 0 where n is not above 0."""
    return np.where(n > 0, 1.0 / np.where(n > 0, n, 1.0), 0.0)


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
    b = _centred(r + k, row, rows, np.diff(value.indptr).astype(np.float64))
    return _Kernel(
        k=_sums(row, k, rows),
        kk=kk,
        r=_sums(row, r, rows),
        rr=_sums(row, r * r, rows),
        rk=_sums(row, r * k, rows),
        squares=_square_of_products(row[item], item, group, weight, rows, width) - kk,
        bb=_sums(row, b * b, rows),
        bk=_sums(row, b * k, rows),
        br=_sums(row, b * r, rows),
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
