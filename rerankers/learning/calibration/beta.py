"""Beta calibration: a logistic function of two logarithms (Kull, Silva Filho and Flach 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.learning.calibration.base import Calibrator, Pooled, finite_scores, fitted, within
from rerankers.learning.calibration.logistic import rising_logistic, smoothed_rates
from rerankers.stats.scoring import LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

INPUTS = ("log_odds", "probability")


@dataclass(frozen=True, slots=True)
class Beta:
    """Fit p = σ(a ln s - b ln(1 - s) + c), a and b at least 0, for probabilities s and the logistic function σ.

    The family holds the identity (a = b = 1, c = 0), which Platt's does not, and maps that pull to one end only.
    Targets are smoothed as Platt's, so that separated scores give finite parameters; the constraint is kept exactly,
    by the best fit without either term or both. ``scores_against_labels`` counts fits in which both are 0.

    Parameters
    ----------
    inputs
        what scores are: ``log_odds`` z, any number, with s = σ(z), or ``probability`` s from 0 to 1 (0 and 1 are
        taken as 1e-12 and 1 - 1e-12).
    per_query
        standardise scores within each query first; see `Isotonic`. Only with log-odds.

    Raises
    ------
    ConfigError
        for another word, and for probabilities that are to be standardised.
    """

    inputs: str = "log_odds"
    per_query: bool = False

    def __post_init__(self) -> None:
        choose("calibration.inputs", self.inputs, INPUTS[:1] if self.per_query else INPUTS)

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

    def _fit(self, pooled: Pooled) -> BetaCalibrator:
        columns = np.column_stack(_logarithms(pooled.score, self.inputs))
        reach = np.maximum(np.abs(columns).max(axis=0), 1.0)  # log-odds may be very large
        slopes, intercept = rising_logistic(columns / reach, pooled.total, smoothed_rates(pooled))
        counts = dict(pooled.counts)
        if not slopes.any() and not {"scores_all_equal", "labels_all_equal"} & counts.keys():
            counts["scores_against_labels"] = 1
        a, b = (slopes / reach).tolist()
        return BetaCalibrator(a, b, intercept, self.inputs, counts)


@dataclass(frozen=True, slots=True, eq=False)
class BetaCalibrator:
    """σ(a ln s - b ln(1 - s) + c).

    Attributes
    ----------
    a, b, c
        the parameters; a and b are at least 0.
    inputs
        ``log_odds`` or ``probability``.
    counts
        what the fit met.
    """

    a: float
    b: float
    c: float
    inputs: str = "log_odds"
    counts: Mapping[str, int] = field(default_factory=dict)
    kind: ClassVar[str] = "beta"

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return probabilities; see `Calibrator.probabilities`."""
        from scipy.special import expit

        lower, upper = _logarithms(finite_scores(scores), self.inputs)
        with np.errstate(over="ignore"):  # each term runs to infinity on its own side only
            return within(expit(self.a * lower + self.b * upper + self.c))

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters; see `Calibrator.to_plain`."""
        return {"kind": self.kind, "inputs": self.inputs, "a": self.a, "b": self.b, "c": self.c}


def _logarithms(scores: NDArray[np.float64], inputs: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln s and -ln(1 - s); both rise with the score."""
    if inputs == "log_odds":
        return -np.logaddexp(0.0, -scores), np.logaddexp(0.0, scores)
    if scores.min(initial=0.0) < 0 or scores.max(initial=1.0) > 1:
        found = f"probabilities from {scores.min():g} to {scores.max():g}"
        raise InputError.one(
            "scores", found, "numbers from 0 to 1", mend="For log-odds take calibration.inputs=log_odds."
        )
    share = np.clip(scores, LEAST, 1.0 - LEAST)
    return np.log(share), -np.log1p(-share)
