"""Means over topics with their intervals, in the form in which ``variants.json`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.stats.bootstrap import mean_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals over topics are made: the same resamples for everything.

    ``order`` brings the topics into an order that is not that of a file, for the draws go by place.
    """

    seed: int = 0
    resamples: int = 2000
    level: float = 0.95
    order: Sequence[int] | None = None

    def mean(self, values: NDArray[np.float64]) -> dict[str, Any]:
        """Return the mean over topics that have a value, its interval and their number; None with a reason."""
        values = values if self.order is None else values[list(self.order)]
        (found,) = mean_intervals(values[:, None], seed=self.seed, resamples=self.resamples, level=self.level)
        told: dict[str, Any] = {"mean": found.mean, "interval": None, "topics": found.units}
        if found.low is not None:
            told["interval"] = [found.low, found.high]
        return told if found.reason is None else {**told, "reason": found.reason}


def listed(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers as JSON has them: None where there is none."""
    return [None if np.isnan(value) else float(value) for value in values]
