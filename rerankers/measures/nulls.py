"""What chance alone makes of the mean of a measure of groups: its value under draws of shuffled labels.

Labels are shuffled inside each query, independently over queries, so that the mean over queries has as null
distribution the means of the draws. The p-value counts the draws that are at least as far out as the real labels, these
among them, which makes it valid for any number of draws (Phipson & Smyth 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.stats.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EQUAL = 1e-9  # relative difference of values that are equal but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class Null:
    """Sums over the queries that have a value, of one system and measure; those of blocks add up.

    Attributes
    ----------
    queries
        how many.
    sums
        of the columns real value minus placebo, placebo, squared standard error of the placebo (0 where it is exact),
        exact variance under shuffled labels (0 where there is no closed form), and, for each of the R draws of labels,
        value minus placebo: in twice the precision, so that blocks of any size give the same bits.
    closed
        whether the variance is known in closed form.
    exact
        whether placebos are in closed form.
    undefined
        draws of a query under whose labels the measure has no value; they count as its placebo.
    """

    queries: int
    sums: Sums
    closed: bool
    exact: bool
    undefined: int = 0

    @classmethod
    def of(
        cls,
        value: NDArray[np.float64],
        placebo: NDArray[np.float64],
        draws: NDArray[np.float64],
        *,
        error: NDArray[np.float64] | None = None,
        variance: NDArray[np.float64] | None = None,
    ) -> Null:
        """Add up one block.

        Parameters
        ----------
        value, placebo
            float64 (B,), NaN where there is no value: such queries are left out.
        draws
            float64 (B, R), the value under each draw; NaN where it has none.
        error
            float64 (B,), standard errors of placebos from draws; None where they are exact.
        variance
            float64 (B,), exact variances, or None.
        """
        kept = ~np.isnan(value) & ~np.isnan(placebo)
        change = draws[kept] - placebo[kept, None]
        lost = np.isnan(change)
        none = np.zeros(int(kept.sum()))
        columns = [
            value[kept] - placebo[kept],
            placebo[kept],
            none if error is None else error[kept] ** 2,
            none if variance is None else variance[kept],
            np.where(lost, 0.0, change),
        ]
        return cls(len(none), Sums.of(np.column_stack(columns)), variance is not None, error is None, int(lost.sum()))

    @property
    def excess(self) -> float:
        """Sum of the real values minus their placebos."""
        return float(self.sums.high[0])

    @property
    def placebo(self) -> float:
        """Sum of the placebos."""
        return float(self.sums.high[1])

    @property
    def error(self) -> float:
        """Sum of the squared standard errors of the placebos, 0 where they are exact."""
        return float(self.sums.high[2])

    @property
    def variance(self) -> float | None:
        """Sum of the exact variances under shuffled labels; None where there is no closed form."""
        return float(self.sums.high[3]) if self.closed else None

    @property
    def draws(self) -> NDArray[np.float64]:
        """float64 (R,): for each draw of labels, the sum of the values minus their placebos."""
        return self.sums.high[4:]

    def __add__(self, other: Null) -> Null:
        return Null(
            self.queries + other.queries,
            self.sums + other.sums,
            self.closed and other.closed,
            self.exact and other.exact,
            self.undefined + other.undefined,
        )

    def test(self) -> dict[str, Any] | None:
        """Return the tests of the mean excess, None where no query has a value.

        Returns
        -------
        dict
            ``p`` (two-sided), ``p_greater`` (the measure is larger than with shuffled labels), ``p_less``: from the
            draws, None without any; ``null_sd``: standard deviation of the mean under shuffled labels, exact where
            there is a closed form, else of the draws; ``z``: mean excess over it, and ``p_normal``, two-sided, under
            the normal distribution: for p-values smaller than the draws can tell; ``permutations``; ``placebo``:
            ``closed_form`` or ``permutations``; ``placebo_standard_error`` of the mean placebo; ``queries``;
            ``undefined_draws``.
        """
        if not self.queries:
            return None
        observed, null = self.excess / self.queries, self.draws / self.queries
        tolerance = _EQUAL * max(abs(self.placebo) / self.queries, abs(observed))
        sd = self._deviation(null, tolerance)
        z = None if sd is None else 0.0 if abs(observed) <= tolerance else observed / sd if sd else None
        return {
            **_p_values(observed, null, self.exact, tolerance),
            "null_sd": sd,
            "z": z,
            "p_normal": None if z is None else math.erfc(abs(z) / math.sqrt(2)),
            "permutations": len(null),
            "placebo": "closed_form" if self.exact else "permutations",
            "placebo_standard_error": math.sqrt(self.error) / self.queries,
            "queries": self.queries,
            "undefined_draws": self.undefined,
        }

    def _deviation(self, null: NDArray[np.float64], tolerance: float) -> float | None:
        if self.variance is not None:
            return math.sqrt(self.variance) / self.queries
        if len(null) < 2:
            return None
        sd = float(np.std(null, ddof=1))
        return sd if sd > tolerance else 0.0


def _p_values(observed: float, null: NDArray[np.float64], exact: bool, tolerance: float) -> dict[str, float | None]:
    if not len(null):
        return dict.fromkeys(("p", "p_greater", "p_less"))
    # Where the placebo comes from the same draws, the centre treats real labels and draws alike.
    centre = 0.0 if exact else (observed + float(null.sum())) / (len(null) + 1)
    out = {
        "p": np.abs(null - centre) >= abs(observed - centre) - tolerance,
        "p_greater": null >= observed - tolerance,
        "p_less": null <= observed + tolerance,
    }
    return {name: float((1 + np.sum(far)) / (len(null) + 1)) for name, far in out.items()}


def total(parts: Iterable[Null]) -> Null:
    """Return the sum over blocks, of which there is at least one."""
    return reduce(Null.__add__, parts)


def standard_errors(draws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the mean over the draws that have a value, its standard error, and how many those are, by query.

    Parameters
    ----------
    draws
        float64 (B, R), NaN where a draw has no value.

    Returns
    -------
    mean, error, count
        (B,) each; the mean is NaN without a value, the error 0 with fewer than two.
    """
    count = np.sum(~np.isnan(draws), axis=1)
    filled = np.where(np.isnan(draws), 0.0, draws)
    mean = np.where(count > 0, filled.sum(axis=1) / np.maximum(count, 1), np.nan)
    apart = np.where(np.isnan(draws), 0.0, draws - np.where(count > 0, mean, 0.0)[:, None])
    spread = np.sum(apart * apart, axis=1) / np.maximum(count - 1, 1)
    return mean, np.where(count > 1, np.sqrt(spread / np.maximum(count, 1)), 0.0), count


def names_of(units: Sequence[str], kept: NDArray[np.bool_]) -> list[str]:
    """Return the units where ``kept`` holds."""
    return [unit for unit, keep in zip(units, kept.tolist(), strict=True) if keep]
