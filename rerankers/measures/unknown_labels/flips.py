r"""What wrong labels do to the order of systems: expected measures by error rate, and the rate at which two swap.

Labels are wrong independently of each other. The confusion matrix at rate r is M(r) = I + (r / e)(D - I): D says how
labels go wrong (a row a true group, a column what is read), e is its overall error \sum_g p_g (1 - D_gg), p_g being the
shares of the labels, so r is the expected share of wrong labels. By default D moves every label to a uniformly drawn
other group, e = 1. Expected measures (`Moments`) are polynomials of degree two in r, so the rates of swaps are roots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.unknown_labels.confusion import check_confusion
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.moments import Moments

HIGHEST = 0.5
"""Highest error rate of a sweep."""


@dataclass(frozen=True, slots=True, eq=False)
class FlipPath:
    """How labels go wrong, at every error rate.

    Attributes
    ----------
    direction
        float64 (G, G), the matrix D; rows sum to 1.
    overall
        its overall error e, above 0.
    """

    direction: NDArray[np.float64]
    overall: float

    @classmethod
    def uniform(cls, groups: int) -> FlipPath:
        """Return the path on which every wrong label is a uniformly drawn other group.

        Raises
        ------
        InputError
            for fewer than two groups, among which no label can be wrong.
        """
        if groups < 2:
            raise InputError.one("groups", f"{groups} of known labels", "two or more, among which labels can be wrong")
        return cls((1.0 - np.eye(groups)) / (groups - 1), 1.0)

    @classmethod
    def along(cls, matrix: NDArray[np.float64], labels: NDArray[np.float64]) -> FlipPath:
        """Return the path towards a confusion matrix.

        Parameters
        ----------
        matrix
            float64 (G, G), rows (true groups) sum to 1.
        labels
            float64 (G,), how many labels there are of each group.

        Raises
        ------
        InputError
            for a matrix that is none, or that gets no label wrong.
        """
        check_confusion(matrix, len(labels))
        total = float(labels.sum())
        overall = float(labels @ (1.0 - np.diag(matrix))) / total if total > 0 else 0.0
        if not overall > 0:
            raise InputError.one("matrix", "a confusion matrix without errors of the labels", "some")
        return cls(np.array(matrix, dtype=np.float64), overall)

    @property
    def highest(self) -> float:
        """Highest rate at which every entry is a probability."""
        return self.overall / float(np.max(1.0 - np.diag(self.direction)))

    def at(self, rate: float) -> NDArray[np.float64]:
        """Return M(rate), float64 (G, G); rates above `highest` only where it is a polynomial that is wanted."""
        eye = np.eye(len(self.direction))
        return eye + (rate / self.overall) * (self.direction - eye)


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Expected measures by error rate.

    Attributes
    ----------
    rates
        float64 (R,).
    expected
        system -> float64 (R,), the expected mean over queries.
    swaps
        (first, second) -> the lowest rate in (0, `HIGHEST`] at which their expected order changes, None where it does
        not; 0 where they are level with the labels as they are.
    """

    rates: NDArray[np.float64]
    expected: Mapping[str, NDArray[np.float64]]
    swaps: Mapping[tuple[str, str], float | None]

    @property
    def first_swap(self) -> float | None:
        """The lowest rate at which any two systems swap, None where none do."""
        found = [rate for rate in self.swaps.values() if rate is not None]
        return min(found) if found else None


def flip_sweep(systems: Mapping[str, Moments], path: FlipPath, rates: Sequence[float]) -> Sweep:
    """Return what each system's measure is expected to be when labels are wrong at each of some rates.

    Parameters
    ----------
    systems
        name -> `Moments`, over the same labels.
    path
        how labels go wrong.
    rates
        from 0 to the lower of `HIGHEST` and `FlipPath.highest`.

    Raises
    ------
    InputError
        for other rates, or none.
    """
    check_rates(rates, path)
    limit = min(HIGHEST, path.highest)
    curve = {name: _polynomial(moments, path, limit) for name, moments in systems.items()}
    grid = np.array(rates, dtype=np.float64)
    expected = {name: np.array([_mean(moments, path, rate) for rate in rates]) for name, moments in systems.items()}
    swaps = {(one, two): swap_rate(curve[one] - curve[two], limit) for one, two in combinations(systems, 2)}
    return Sweep(grid, expected, swaps)


def swap_rate(difference: NDArray[np.float64], limit: float) -> float | None:
    """Return the lowest root in (0, limit] at which c0 + c1 r + c2 r^2 changes its sign; 0 where c0 is 0."""
    constant, slope, bend = difference.tolist()
    if constant == 0:
        return 0.0
    roots: list[float] = []
    if bend == 0:
        roots = [-constant / slope] if slope else []
    elif (square := slope * slope - 4 * bend * constant) > 0:
        # The product of the roots gives the one that would cancel.
        half = -(slope + math.copysign(math.sqrt(square), slope)) / 2
        roots = [half / bend, constant / half]
    inside = [root for root in roots if 0 < root <= limit]
    return min(inside) if inside else None


def check_rates(rates: Sequence[float], path: FlipPath) -> None:
    """Raise `InputError` for no rates, or one at which the path is no confusion matrix."""
    highest = min(HIGHEST, path.highest)
    if not rates or not all(0 <= rate <= highest * (1 + 1e-12) for rate in rates):
        raise InputError.one("rates", f"{list(rates)}", f"error rates from 0 to {highest:.4g}")


def _mean(moments: Moments, path: FlipPath, rate: float) -> float:
    return exact_mean(moments.under(path.at(rate))) or 0.0  # there is at least one query


def _polynomial(moments: Moments, path: FlipPath, limit: float) -> NDArray[np.float64]:
    """Return the coefficients of the expected mean in the rate: it is of degree two, so three values tell them."""
    start, middle, end = (_mean(moments, path, rate) for rate in (0.0, limit / 2, limit))
    bend = 2 * (start - 2 * middle + end) / (limit * limit)
    slope = (4 * middle - 3 * start - end) / limit
    return np.array([start, slope, bend])
