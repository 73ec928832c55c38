r"""Calibration by the expected number of relevant documents of a list.

A list of n candidates holds c(n) = c0 + c1 min(n, cap) relevant ones in expectation; c0 and c1 are fitted by least
squares to the shares r/n of the calibration lists. The probabilities of a list are the logistic function of
slope · s + t, with the one t for which they sum to c(n): so scores need mean nothing across lists, and the length of a
list, which no score of a document tells, says where its probabilities lie. Where every list has been filled up until
some relevant document was in it, the share falls with n, and a single map for all lists is wrong in each of them.

For given sums, the probabilities are those of the largest entropy with the same sum of score · probability (the dual
of logistic regression with a constant a list); the slope that fits is the root of

    sum over pairs of (probability - relevant) (s - mean s of the list) = 0,

whose left side never falls with the slope.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure.rows import row_maxima, row_sums
from rerankers.learning.calibration.anchor import anchored
from rerankers.learning.calibration.base import Calibrator, _checked, finite_scores, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEEPEST = 30.0  # nats a standard deviation of scores: beyond, only the order matters


@dataclass(frozen=True, slots=True)
class ListCount:
    """Fit the expected count of a list, and the slope of its scores.

    Parameters
    ----------
    cap
        length from which on the count no longer grows; None: never.
    slope
        of the scores, at least 0: 1 takes them as log-odds up to a constant a list; None fits it.
    lowest, highest
        bounds of the expected share of relevant documents in a list.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    cap: int | None = 60
    slope: float | None = None
    lowest: float = 0.001
    highest: float = 0.95

    def __post_init__(self) -> None:
        if self.cap is not None and self.cap < 1:
            raise ConfigError(f"calibration.cap: found {self.cap}; expected at least 1, or null")
        if self.slope is not None and not (np.isfinite(self.slope) and self.slope >= 0):
            raise ConfigError(f"calibration.slope: found {self.slope}; expected a number of at least 0, or null")
        if not 0 < self.lowest <= self.highest < 1:
            raise ConfigError(
                f"calibration.lowest, highest: found {self.lowest}, {self.highest}; expected 0 < lowest <= highest < 1"
            )

    def fit(
        self,
        scores: NDArray[np.float64],
        relevant: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
        *,
        indptr: NDArray[np.int64] | None = None,
    ) -> Calibrator:
        """Fit a calibrator; see `Calibration.fit`. A list weighs as much as the mean weight of its documents."""
        values = finite_scores(scores)
        rows = _bounds(indptr, len(values))
        counts = dict(_checked(values, relevant, weight).counts)
        used = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
        lists = _Lists.of(rows, np.asarray(relevant), used)
        counts["lists"] = len(lists.size)
        c0, c1 = lists.line(self.cap)
        calibrator = ListCountCalibrator(1.0, c0, c1, self.cap, self.lowest, self.highest)
        share = calibrator.shares(lists.size)
        counts["lists_at_a_bound"] = int(np.sum((share == self.lowest) | (share == self.highest)))
        slope = self.slope
        if slope is None:
            slope, met = _slope(calibrator, values, np.asarray(relevant), used, rows)
            counts |= met
        known = {name: count for name, count in counts.items() if count or name == "relevant_pairs"}
        return ListCountCalibrator(float(slope), c0, c1, self.cap, self.lowest, self.highest, known)


@dataclass(frozen=True, slots=True, eq=False)
class ListCountCalibrator:
    """Probabilities 1 / (1 + exp(-(slope s + t))) of a list of n that sum to n times its share.

    The share is c0/n + c1 min(n, cap)/n, within ``lowest`` and ``highest``.

    Attributes
    ----------
    slope
        at least 0.
    c0, c1
        the line of expected counts.
    cap, lowest, highest
        see `ListCount`.
    counts
        what the fit met.
    """

    slope: float
    c0: float
    c1: float
    cap: int | None
    lowest: float
    highest: float
    counts: Mapping[str, int] = field(default_factory=dict)
    kind: ClassVar[str] = "list_count"

    def shares(self, size: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the expected share of relevant documents in lists of some lengths, float64, lengths at least 1."""
        length = np.asarray(size, dtype=np.float64)
        grown = length if self.cap is None else np.minimum(length, self.cap)
        share: NDArray[np.float64] = np.clip((self.c0 + self.c1 * grown) / length, self.lowest, self.highest)
        return share

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return probabilities; see `Calibrator.probabilities`. The rows are needed."""
        values = finite_scores(scores)
        rows = _bounds(indptr, len(values))
        size = np.diff(rows)
        return within(anchored(values, rows, self.shares(np.maximum(size, 1)), self.slope))

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters; see `Calibrator.to_plain`."""
        names = ("kind", "slope", "c0", "c1", "cap", "lowest", "highest")
        return {name: getattr(self, name) for name in names}


def _bounds(indptr: NDArray[np.int64] | None, pairs: int) -> NDArray[np.int64]:
    if indptr is None:
        raise ConfigError("calibration=list_count: found no rows; expected indptr, the bounds of the lists")
    if indptr[0] != 0 or indptr[-1] != pairs or np.any(np.diff(indptr) < 0):
        raise InputError.one("indptr", f"rows over {indptr[-1]} pairs", f"rows that cut {pairs} pairs, from 0 up")
    return indptr


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """Lists that take part: lengths, weighted shares of relevant documents, weights, in an order of their own."""

    size: NDArray[np.int64]
    rate: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, indptr: NDArray[np.int64], relevant: NDArray[np.bool_], weight: NDArray[np.float64]) -> _Lists:
        size, total = np.diff(indptr), row_sums(weight, indptr)
        kept = np.flatnonzero(total > 0)
        rate = row_sums(weight * relevant, indptr)[kept] / total[kept]
        mean = total[kept] / size[kept]
        order = np.lexsort((mean, rate, size[kept]))  # equal sums for every order of the lists
        return cls(size[kept][order], rate[order], mean[order])

    def line(self, cap: int | None) -> tuple[float, float]:
        """Return (c0, c1) of the least weighted squares of share - c0/n - c1 min(n, cap)/n."""
        length = self.size.astype(np.float64)
        columns = np.column_stack([1.0 / length, (length if cap is None else np.minimum(length, cap)) / length])
        root = np.sqrt(self.weight / self.weight.max())
        # Lists of one length alone tell one number: the shortest solution is taken, and says the same of that length.
        line = np.linalg.lstsq(columns * root[:, None], self.rate * root, rcond=1e-10)[0]
        return float(line[0]), float(line[1])


def _slope(
    calibrator: ListCountCalibrator,
    scores: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    weight: NDArray[np.float64],
    indptr: NDArray[np.int64],
) -> tuple[float, dict[str, int]]:
    """Return the slope, and what was met."""
    from scipy.optimize import brentq

    size = np.diff(indptr)
    row = np.repeat(np.arange(len(size)), size)
    # A power of two takes scores of any size to [-1, 1] without rounding.
    _, power = np.frexp(np.abs(scores).max())
    placed = np.ldexp(scores, -int(power))
    placed = placed + row_maxima(-placed, indptr)[row]
    placed = placed - (row_sums(placed, indptr) / np.maximum(size, 1))[row]
    deviation = float(np.sqrt(np.sum(weight * placed**2) / weight.sum()))
    if not deviation > 0:
        return 1.0, {"scores_equal_within_lists": 1}
    placed = placed / deviation
    share = calibrator.shares(np.maximum(size, 1))

    def off(slope: float) -> float:
        return float(np.sum(weight * placed * (anchored(placed, indptr, share, slope) - relevant)))

    if off(0.0) >= 0:
        return 0.0, {"scores_against_labels": 1}
    steep = off(_STEEPEST) <= 0
    found = _STEEPEST if steep else float(brentq(off, 0.0, _STEEPEST, xtol=1e-12, rtol=1e-12))
    with np.errstate(over="ignore"):
        slope = float(np.ldexp(found / deviation, -int(power)))
    largest = float(np.finfo(np.float64).max)
    return min(slope, largest), {"slope_at_its_bound": 1} if steep or slope > largest else {}
