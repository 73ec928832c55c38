"""Proper scores of probabilities, and what they are made of: Brier score and log-loss (Brier 1950; Good 1952).

A mean score S splits into S = miscalibration - discrimination + uncertainty (Dimitriadis, Gneiting and Jordan 2021):
with c the isotonic regression of the labels on the probabilities and r the base rate, miscalibration is S(p) - S(c),
discrimination S(r) - S(c), uncertainty S(r), all at least 0. There are no bins to choose. Isotonic regression follows
noise as well: of well calibrated probabilities the first two are above 0 too, the more the fewer pairs there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 1e-12
"""Probabilities nearer to 0 or 1 than this count as this in the log-loss, which would be infinite where they err."""
SCORES = ("brier", "log_loss")


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A mean score in three parts: value = miscalibration - discrimination + uncertainty."""

    value: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def losses(probability: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the Brier score and the log-loss (nats) of each pair, float64 (n, 2)."""
    assigned = np.where(relevant, probability, 1.0 - probability)
    return np.column_stack([(1.0 - assigned) ** 2, -np.log(np.maximum(assigned, LEAST))])


def decompositions(
    probability: NDArray[np.float64], relevant: NDArray[np.bool_], weight: NDArray[np.float64]
) -> dict[str, Decomposition]:
    """Return both scores in three parts, by the names of `SCORES`.

    Parameters
    ----------
    probability
        float64 (n,), 0 to 1, n at least 1.
    relevant
        bool (n,).
    weight
        float64 (n,), positive.
    """
    from scipy.optimize import isotonic_regression

    order = np.lexsort((weight, relevant, probability))  # equal sums for every order of the pairs
    ranked, weights, labels = probability[order], weight[order], relevant[order]
    starts = np.concatenate([[0], np.nonzero(ranked[1:] != ranked[:-1])[0] + 1])
    total = np.add.reduceat(weights, starts)
    positive = np.add.reduceat(weights * labels, starts)
    recalibrated = np.clip(isotonic_regression(positive / total, weights=total).x, 0.0, 1.0)
    base = np.full(len(total), positive.sum() / total.sum())
    out = {}
    for name in SCORES:
        given, best, constant = (
            _mean(name, forecast, positive, total) for forecast in (ranked[starts], recalibrated, base)
        )
        # Neither is negative but for rounding.
        out[name] = Decomposition(given, max(given - best, 0.0), max(constant - best, 0.0), constant)
    return out


def _mean(name: str, forecast: NDArray[np.float64], positive: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    """Return the mean score of forecasts, each for some relevant weight out of a total."""
    rest = total - positive
    if name == "brier":
        each = positive * (1.0 - forecast) ** 2 + rest * forecast**2
    else:
        each = -positive * np.log(np.maximum(forecast, LEAST)) - rest * np.log(np.maximum(1.0 - forecast, LEAST))
    return float(each.sum() / total.sum())
