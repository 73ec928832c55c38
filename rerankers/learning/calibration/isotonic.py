"""Isotonic calibration: the best step function that never falls (Zadrozny and Elkan 2002), with open ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import choose
from rerankers.learning.calibration.base import Calibrator, Pooled, finite_scores, fitted, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

INTERPOLATIONS = ("linear", "step")


@dataclass(frozen=True, slots=True)
class Isotonic:
    """Fit observed rates by a function of the score that never falls, with the least squared error.

    Equal scores are pooled first, so each score has one probability. Blocks of scores without a relevant pair at the
    lower end, or with relevant pairs only at the upper, get (k + 1)/(m + 2) of their m pairs, k of them relevant
    (Laplace's rule), in place of 0 and 1: no number of pairs shows that relevance is impossible, and policies take
    logarithms. Where that lifts a block above the next one, the two are pooled as any others.

    Parameters
    ----------
    interpolation
        of scores between two blocks: ``linear``, from the last score of one to the first of the next, or ``step``,
        up to the middle like the one, from there on like the other. Within a block, and beyond the ends, the
        probability is that of the block.
    per_query
        standardise scores within each query first. For scores that only compare documents of one query, such as those
        of list-wise objectives; it costs the knowledge that some queries have more relevant documents than others,
        which log-odds of a classifier carry, hence it is off.

    Raises
    ------
    ConfigError
        for another word.
    """

    interpolation: str = "linear"
    per_query: bool = False

    def __post_init__(self) -> None:
        choose("calibration.interpolation", self.interpolation, INTERPOLATIONS)

    def fit(
        self,
        scores: NDArray[np.float64],
        relevant: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
        *,
        indptr: NDArray[np.int64] | None = None,
    ) -> Calibrator:
        """Fit a calibrator; see `Calibration.fit`."""
        return fitted(self._fit, self.per_query, scores, relevant, weight, indptr)

    def _fit(self, pooled: Pooled) -> IsotonicCalibrator:
        starts, value = isotonic_blocks(pooled.positive, pooled.total)
        ends = np.append(starts[1:], len(pooled.score)) - 1
        return IsotonicCalibrator(
            pooled.score[starts], pooled.score[ends], value, self.interpolation, {**pooled.counts, "blocks": len(value)}
        )


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicCalibrator:
    """Blocks of scores with a probability each.

    Attributes
    ----------
    low, high
        float64 (K,), the first and the last score of each block, ascending.
    value
        float64 (K,), strictly between 0 and 1, never falling.
    interpolation
        ``linear`` or ``step``.
    counts
        what the fit met; ``blocks`` is K.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    value: NDArray[np.float64]
    interpolation: str = "linear"
    counts: Mapping[str, int] = field(default_factory=dict)
    kind: ClassVar[str] = "isotonic"

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return probabilities; see `Calibrator.probabilities`."""
        x = finite_scores(scores)
        left = np.searchsorted(self.low, x, side="right") - 1  # the last block that begins at or below
        right = np.minimum(left + 1, len(self.value) - 1)
        left = np.maximum(left, 0)
        share = np.clip(_share(x, self.high[left], self.low[right]), 0.0, 1.0)
        if self.interpolation == "step":
            return within(np.where(share < 0.5, self.value[left], self.value[right]))
        lower, upper = self.value[left], self.value[right]
        return within(np.minimum(lower + (upper - lower) * share, upper))

    def to_plain(self) -> dict[str, Any]:
        """Return the blocks; see `Calibrator.to_plain`."""
        blocks = {"low": self.low.tolist(), "high": self.high.tolist(), "value": self.value.tolist()}
        return {"kind": self.kind, "interpolation": self.interpolation, **blocks}


def isotonic_blocks(
    positive: NDArray[np.float64], total: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (starts int64 (K,), values float64 (K,)): blocks of equal probability, none of 0 or 1.

    Parameters
    ----------
    positive, total
        float64 (m,), the weight of relevant pairs and of all pairs (positive) at each score, ascending by score.
    """
    starts = pav_blocks(positive, total)
    positive, total = np.add.reduceat(positive, starts), np.add.reduceat(total, starts)
    for end in sorted({0, len(starts) - 1}):
        if positive[end] in (0.0, total[end]):
            positive[end] += 1.0
            total[end] += 2.0
    again = pav_blocks(positive, total)
    value = np.add.reduceat(positive, again) / np.add.reduceat(total, again)
    return starts[again], np.maximum.accumulate(value)


def pav_blocks(positive: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return int64 (K,), where the blocks of the isotonic regression of positive/total start; values rise strictly."""
    from scipy.optimize import isotonic_regression

    fit = isotonic_regression(positive / total, weights=total)
    starts = np.asarray(fit.blocks[:-1], dtype=np.int64)
    rises: NDArray[np.bool_] = np.append(True, np.diff(fit.x[starts]) > 0)
    return starts[rises]


def _share(x: NDArray[np.float64], start: NDArray[np.float64], stop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each x is from start to stop; 0 where start is not below stop, as at both ends."""
    gap = stop > start
    with np.errstate(over="ignore"):
        unit = np.where(np.isinf(stop - start), 0.5, 1.0)  # halves of the widest gaps are finite
        width = np.where(gap, stop * unit - start * unit, 1.0)
        share = (x * unit - start * unit) / width
    return np.where(gap, share, 0.0)
