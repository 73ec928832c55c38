"""What the scores of systems of 2020 say together: means, and what their differences over queries are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.stats.power import detectable_difference
from rerankers.tracks.explained2020 import LOSS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.tracks.preset import Outcome


def means(outcome: Outcome, system: str) -> dict[str, float]:
    """Return measure -> mean over the queries of a system."""
    found: dict[str, list[float]] = {}
    for row in outcome.tables[system].to_pylist():
        found.setdefault(row["measure"], []).append(row["value"])
    return {key: float(np.mean(values)) for key, values in found.items()}


def losses(outcome: Outcome, system: str) -> NDArray[np.float64]:
    """Return the group loss of each query of a system, float64 (Q,)."""
    rows = outcome.tables[system].to_pylist()
    return np.array([row["value"] for row in rows if row["measure"] == LOSS])


def paired_t(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Student's t of the differences of two systems' losses over the queries (Student 1908)."""
    from scipy.stats import ttest_rel

    return float(ttest_rel(first, second).statistic)


def detectable(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the smallest mean difference of two systems that as many queries find with a power of .8."""
    return detectable_difference(float(np.std(first - second, ddof=1)), len(first))
