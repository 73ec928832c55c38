"""A distribution over cells averaged with the shares of groups in the world, wherever a group is known.

The TREC Fair Ranking tracks of 2021 and 2022 aim half at the groups of the relevant pages and half at those of the
world (population of regions, genders). The world says nothing about "unknown" and nothing about dimensions without a
background, so each combination of known and unknown keeps its mass, and the other dimensions, the tail, keep the
distribution they have beside the cell (2022).

Such a target is dense, since the world reaches every cell, but simple: where no relevant page is found it is a product
of a number per combination of averaged groups and one distribution over the tail. `Mixed` keeps it that way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.cells import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A distribution over H · T cells: sparse in some heads, a product in the others.

    A head is a combination of groups of the first dimensions (H of them), a tail one of the remaining dimensions (T);
    the code of a cell is head · T + tail.

    Attributes
    ----------
    sizes
        number of groups of each dimension.
    cell, value
        int64 (m,) ascending, float64 (m,): the sparse part.
    spread
        float64 (H,): cell (h, t) of the product part holds spread[h] · tail[t]. 0 in every head of the sparse part.
    tail
        float64 (T,).
    """

    sizes: tuple[int, ...]
    cell: NDArray[np.int64]
    value: NDArray[np.float64]
    spread: NDArray[np.float64]
    tail: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Cells) -> Mixed:
        """Return a sparse distribution as it is, without a product part."""
        splits = [(math.prod(cells.sizes[:k]), math.prod(cells.sizes[k:])) for k in range(len(cells.sizes) + 1)]
        heads, tails = min(splits, key=sum)
        return cls(cells.sizes, cells.cell, cells.value, np.zeros(heads), np.zeros(tails))

    @property
    def total(self) -> float:
        """Sum over all cells."""
        return float(self.value.sum() + self.spread.sum() * self.tail.sum())

    def scaled(self, factor: float) -> Mixed:
        """Return every cell times a factor."""
        return replace(self, value=self.value * factor, spread=self.spread * factor)

    def at(self, cell: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of cells, float64 like ``cell``."""
        head, tail = np.divmod(cell, len(self.tail))
        value = self.spread[head] * self.tail[tail]
        place = np.searchsorted(self.cell, cell)
        found = place < len(self.cell)
        found[found] = self.cell[place[found]] == cell[found]
        value[found] = self.value[place[found]]
        return value

    def beyond(self, cell: NDArray[np.int64], power: int = 1) -> float:
        """Return the sum over all cells but those given (ascending, each once) of their values to a power.

        Cells are left out, never subtracted, so that nothing cancels.
        """
        place = np.minimum(np.searchsorted(cell, self.cell), max(len(cell) - 1, 0))
        apart = cell[place] != self.cell if len(cell) else np.ones(len(self.cell), dtype=bool)
        total = float(np.sum(self.value[apart] ** power))
        head, tail = np.divmod(cell, len(self.tail))
        free, shape = self.spread**power, self.tail**power
        named, start = np.unique(head, return_index=True)
        for one, of_head in zip(named.tolist(), np.split(tail, start[1:]), strict=False):
            if free[one] > 0:
                left = shape.copy()
                left[of_head] = 0
                total += float(free[one] * left.sum())
        free[named] = 0
        return total + float(free.sum() * shape.sum())


def mix_background(cells: Cells, backgrounds: Sequence[NDArray[np.float64]], share: float = 0.5) -> Mixed:
    """Average a distribution with a background in each combination of known and unknown groups.

    With M_c the mass of combination c (which of the averaged dimensions are known), b the product of the backgrounds
    of its known dimensions and τ_h the distribution over the tail beside head h (or over all heads, where h is empty),
    cell (h, t) of c becomes (1 - share) · value + share · b(h) · τ_h(t) · M_c. The combination in which nothing is
    known stays as it is. Follows Ekstrand et al. (2021, 2022).

    Parameters
    ----------
    cells
        a distribution; the first dimensions are the averaged ones, and the first group of each of those is "unknown".
    backgrounds
        for each averaged dimension float64 (size - 1,), the shares of its known groups in the world; may be none.
    share
        how much of the result is background, from 0 to 1.

    Returns
    -------
    Mixed
        of the same total as ``cells``; where ``backgrounds`` sum to 1 each combination keeps its mass.

    Raises
    ------
    InputError
        for backgrounds that do not fit the sizes, a share outside of [0, 1], or cells that hold nothing.
    """
    sizes = cells.sizes[: len(backgrounds)]
    found = tuple(len(background) + 1 for background in backgrounds)
    if found != sizes:
        expected = f"one for each known group of the dimensions of sizes {sizes}"
        raise InputError.one("backgrounds", f"{[size - 1 for size in found]} shares", expected)
    if not 0 <= share <= 1:
        raise InputError.one("share", str(share), "a number from 0 to 1")
    total = cells.total
    if not total > 0:
        raise InputError.one("cells", "no weight on any cell", "a distribution")
    if not sizes:
        return Mixed.of(cells)
    heads, tails = math.prod(sizes), math.prod(cells.sizes[len(sizes) :])
    head, tail = np.divmod(cells.cell, tails)
    mass = np.bincount(head, weights=cells.value, minlength=heads).astype(np.float64, copy=False)
    aim = share * _background_mass(sizes, backgrounds, mass)
    factor = np.full(heads, 1.0 - share)
    factor[0] = 1.0  # nothing is known
    np.add(factor, np.divide(aim, mass, out=np.zeros(heads), where=mass > 0), out=factor)
    spread = np.where(mass > 0, 0.0, aim)
    marginal = np.bincount(tail, weights=cells.value, minlength=tails) / total
    return Mixed(cells.sizes, cells.cell, cells.value * factor[head], spread, marginal)


def background_alone(sizes: Sequence[int], backgrounds: Sequence[NDArray[np.float64]]) -> Mixed:
    """Return the distribution in which every averaged group is known and follows its background.

    The tail, if there is any, is uniform.

    Parameters
    ----------
    sizes
        of all dimensions, the averaged ones first.
    backgrounds
        for each averaged dimension float64 (size - 1,).
    """
    known = [np.concatenate([[0.0], background]) for background in backgrounds]
    tails = math.prod(sizes[len(known) :])
    empty = np.zeros(0)
    return Mixed(tuple(sizes), empty.astype(np.int64), empty, _product(known), np.full(tails, 1 / tails))


def _background_mass(
    sizes: Sequence[int], backgrounds: Sequence[NDArray[np.float64]], mass: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return b(h) · M_c of every head, float64 (H,), 0 where nothing is known."""
    shares = _product([np.concatenate([[1.0], background]) for background in backgrounds])
    case = np.zeros(len(mass), dtype=np.int64)
    place = np.arange(len(mass))
    for size in reversed(sizes):
        place, group = np.divmod(place, size)
        case = case * 2 + (group > 0)
    held = np.bincount(case, weights=mass, minlength=1 << len(sizes))
    held[0] = 0
    product: NDArray[np.float64] = shares * held[case]
    return product


def _product(vectors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return reduce(lambda left, right: np.multiply.outer(left, right).ravel(), vectors, np.ones(1))
