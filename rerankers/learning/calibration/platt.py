"""Platt's calibration: a logistic function of the score (Platt 1999)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers.learning.calibration.base import Calibrator, Pooled, finite_scores, fitted, within
from rerankers.learning.calibration.logistic import rising_logistic, smoothed_rates

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Platt:
    """Fit the logistic function of a line, with smoothed targets and a slope of at least 0.

    Where scores run against labels the slope is 0, every pair has the same probability, and the calibrator counts
    ``scores_against_labels``.

    Parameters
    ----------
    per_query
        standardise scores within each query first; see `Isotonic`.
    """

    per_query: bool = False

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

    def _fit(self, pooled: Pooled) -> PlattCalibrator:
        low, high = float(pooled.score[0]), float(pooled.score[-1])
        location, scale = low / 2 + high / 2, (high / 2 - low / 2) or 1.0
        column = _placed(pooled.score, location, scale)
        slopes, intercept = rising_logistic(column[:, None], pooled.total, smoothed_rates(pooled))
        counts = dict(pooled.counts)
        if slopes[0] == 0 and not {"scores_all_equal", "labels_all_equal"} & counts.keys():
            counts["scores_against_labels"] = 1
        return PlattCalibrator(float(slopes[0]), intercept, location, scale, counts)


@dataclass(frozen=True, slots=True, eq=False)
class PlattCalibrator:
    """1 / (1 + exp(-(slope (s - location) / scale + intercept))).

    Attributes
    ----------
    slope, intercept
        the line; the slope is at least 0.
    location, scale
        the middle and half the spread of the scores that it was fitted on: they went from -1 to 1.
    counts
        what the fit met.
    """

    slope: float
    intercept: float
    location: float
    scale: float
    counts: Mapping[str, int] = field(default_factory=dict)
    kind: ClassVar[str] = "platt"

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return probabilities; see `Calibrator.probabilities`."""
        from scipy.special import expit

        placed = _placed(finite_scores(scores), self.location, self.scale)
        with np.errstate(over="ignore"):
            return within(expit(self.slope * placed + self.intercept))

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters; see `Calibrator.to_plain`."""
        line = {"slope": self.slope, "intercept": self.intercept}
        return {"kind": self.kind, **line, "location": self.location, "scale": self.scale}


def _placed(scores: NDArray[np.float64], location: float, scale: float) -> NDArray[np.float64]:
    """Return (scores - location) / scale; finite for any scores."""
    with np.errstate(over="ignore"):
        gap = scores - location
        far = ~np.isfinite(gap)
        placed: NDArray[np.float64] = gap / scale
        placed[far] = scores[far] / scale - location / scale
    return np.clip(placed, -1e300, 1e300)
