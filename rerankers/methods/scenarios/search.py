"""The search for the policy of one row: a mixture of rankings or Plackett-Luce weights, with a floor of utility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.methods.scenarios.mixtures import Found, Rankings, lowest_mixture
from rerankers.methods.scenarios.plackett_luce import Weights, exposures, lowest_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rerankers.methods.scenarios.loss import ScenarioLoss

STEPS = 12  # searches for the weight of utility that meets a floor
NEAR = 1e-3  # of the floor: how far above it is near enough
LARGEST = 2.0**20  # weight of utility
DRAWS = 16  # rankings drawn from the start, at least,
NUMBERS = 1 << 23  # and two a document, if their exposures are no more than so many numbers
MORE = 3  # times that further draws are taken in where the start is not reached yet


class Reached(NamedTuple):
    """Rankings int64 (k, n) with weights (k,), or log-weights (n,); the loss at the start and at the end; its parts."""

    rankings: NDArray[np.int64] | None
    weights: NDArray[np.float64]
    start: float
    value: float
    parts: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The search of one row.

    Attributes
    ----------
    loss
        of the row, without the weight that a floor asks for.
    logit
        float64 (n,), finite log-weights to start from.
    draws
        (number of draws, label of the first) -> Plackett-Luce rankings of these log-weights, int64 (k, n).
    tolerance, max_iterations
        see `lowest_mixture` and `lowest_weights`.
    """

    loss: ScenarioLoss
    logit: NDArray[np.float64]
    draws: Callable[[int, int], NDArray[np.int64]]
    tolerance: float
    max_iterations: int

    def mixture(self, floor: float | None) -> Reached:
        """Return the mixture of rankings of the lowest loss found, that of the Plackett-Luce start never exceeded.

        ``floor`` is a share of the utility that the static ranking has in the scenarios.
        """
        static = np.argsort(-self.logit, kind="stable").astype(np.int64, copy=False)
        searched = Rankings(self.loss.scenarios)
        size = self.loss.scenarios.continuation.size
        count = DRAWS + min(2 * len(self.logit), NUMBERS // size)
        rankings = np.unique(np.concatenate([static[None], self.draws(count, 0)]), axis=0)
        begun, _ = exposures(self.logit, self.loss.scenarios)
        if floor is None:
            found = self._deep(searched, rankings, self.loss.value(begun), count)
        else:
            exposure = searched.exposures(static[None]).reshape(begun.shape)
            wanted = floor * self.loss.parts(exposure)[2]
            found = self._above(searched, rankings, wanted)
        begun_at = replace(self.loss, published=None).value(begun)
        value = replace(self.loss, published=None).value(found.exposure)
        return Reached(found.rankings, found.weights, begun_at, value, self.loss.parts(found.exposure))

    def _deep(self, searched: Rankings, rankings: NDArray[np.int64], start: float, count: int) -> Found:
        """Return the lowest loss found, with more draws from the start where they are needed to come down to its."""
        found = lowest_mixture(self.loss, searched, rankings, None, self.tolerance, self.max_iterations)
        for _ in range(MORE):
            if found.value <= start or self.loss.published is not None:
                break
            more = self.draws(4 * count, count)
            count *= 5
            known, weights = merged(found.rankings, found.weights, more, np.full(len(more), 1.0 / len(more)))
            found = lowest_mixture(self.loss, searched, known, weights, self.tolerance, self.max_iterations)
        return found

    def _above(self, searched: Rankings, rankings: NDArray[np.int64], floor: float) -> Found:
        """Return the lowest loss found among mixtures of enough utility, by the weight that utility needs."""
        weights: NDArray[np.float64] | None = None

        def at(utility: float) -> Found:
            loss = replace(self.loss, utility=utility)
            return lowest_mixture(loss, searched, rankings, weights, self.tolerance, self.max_iterations)

        below, weight = at(0.0), 0.0
        if self._utility(below) >= floor:
            return below
        rankings, weights = below.rankings, below.weights
        upper = 1.0
        above = at(upper)
        while self._utility(above) < floor and upper < LARGEST:
            below, weight, upper = above, upper, 4.0 * upper
            rankings, weights = above.rankings, above.weights
            above = at(upper)
        for _ in range(STEPS):
            if self._utility(above) <= floor * (1.0 + NEAR):
                break
            middle = 0.5 * (weight + upper) if upper < 8.0 * weight or weight == 0 else (weight * upper) ** 0.5
            rankings, weights = above.rankings, above.weights
            found = at(middle)
            if self._utility(found) >= floor:
                above, upper = found, middle
            else:
                below, weight = found, middle
        return self._mixed(below, above, floor)

    def _utility(self, found: Found) -> float:
        return self.loss.parts(found.exposure)[2]

    def _mixed(self, below: Found, above: Found, floor: float) -> Found:
        """Return the mixture of two policies that has the floor's utility: convex, so no worse than between them."""
        low, high = self._utility(below), self._utility(above)
        share = 1.0 if high <= low else min(1.0, max(0.0, (floor - low) / (high - low)))
        rankings, weights = merged(below.rankings, (1.0 - share) * below.weights, above.rankings, share * above.weights)
        exposure = (1.0 - share) * below.exposure + share * above.exposure
        return Found(rankings, weights, self.loss.value(exposure), exposure)

    def plackett_luce(self) -> Reached:
        """Return the log-weights of the lowest loss found; see `lowest_weights`."""
        found: Weights = lowest_weights(self.loss, self.logit, self.max_iterations)
        begun, _ = exposures(self.logit, self.loss.scenarios)
        return Reached(None, found.logit, self.loss.value(begun), found.value, self.loss.parts(found.exposure))


def merged(
    rankings: NDArray[np.int64], weights: NDArray[np.float64], more: NDArray[np.int64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return two sets of rankings, each ranking once, with the sums of their weights, scaled to 1."""
    order, place = np.unique(np.concatenate([rankings, more]), axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), np.concatenate([weights, shares]), len(order))
    kept = total > 0
    return order[kept], total[kept] / total.sum()
