"""The mixture of rankings of the lowest expected loss: Frank-Wolfe whose linear oracle is a search.

The exposures in all scenarios together are linear in the policy, so that the loss is convex over mixtures of rankings,
and fully corrective steps (Lacoste-Julien & Jaggi 2015) find the best mixture of the rankings at hand, from the
products of their exposures, since the loss is quadratic. The best ranking to add maximises a sum of M cascades with
different continuations, for which no exact sort is known: documents are moved to their best ranks one at a time, from
the best of the rankings found before and from the sort by the mean key of the single cascades. The value is therefore
the lowest that was found, not a certified minimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers.exposure.optimal.atoms import normalised
from rerankers.exposure.optimal.quadratic import Quadratic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.scenarios.loss import ScenarioLoss
    from rerankers.methods.scenarios.rows import Scenarios

SWEEPS = 4  # of moves for one ranking; more take time and change nothing in the end
REMEMBERED = 24  # rankings, the best of which is started from
CERTAIN = 1e6  # 1 / (1 - c) where c is 1
RIDGE = 1e-13  # of the second derivative: noise
ENOUGH = 0.1  # of the tolerance: how far from optimal a mixture of the rankings at hand may be left
SPARE = 24  # rankings without weight are left out where they are more


class Found(NamedTuple):
    """A mixture of rankings int64 (k, n) with weights (k,), sum 1, and the value and the exposures (n, M) it has."""

    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]
    value: float
    exposure: NDArray[np.float64]


class Rankings:
    """The rankings of a row that were found, with their exposures in all scenarios.

    Parameters
    ----------
    scenarios
        the row.
    """

    def __init__(self, scenarios: Scenarios) -> None:
        self._scenarios = scenarios
        self._seen: list[NDArray[np.int64]] = []
        with np.errstate(divide="ignore"):
            self._scale = np.minimum(1.0 / (1.0 - scenarios.continuation), CERTAIN)

    def exposures(self, rankings: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return exposures float64 (k, n M) of rankings int64 (k, n), and remember the last of these."""
        from rerankers.methods.scenarios.ranking_loops import walk

        out = np.empty((len(rankings), *self._scenarios.continuation.shape))
        for place, ranking in enumerate(rankings):
            walk(ranking, self._scenarios.continuation, self._scenarios.position, out[place])
        self._seen.extend(ranking.copy() for ranking in rankings[-REMEMBERED:])
        del self._seen[:-REMEMBERED]
        return out.reshape(len(rankings), -1)

    def best(self, gain: NDArray[np.float64]) -> list[NDArray[np.int64]]:
        """Return rankings (n,) of a large gain (n, M) times exposure, the largest that the search finds first."""
        from rerankers.methods.scenarios.ranking_loops import gain_of, improve

        scenarios = self._scenarios
        arrays = (gain, scenarios.continuation, scenarios.position)
        by_key = np.argsort(-(gain * self._scale).sum(axis=1), kind="stable").astype(np.int64, copy=False)
        starts = [by_key]
        if self._seen:
            starts.append(self._seen[int(np.argmax([gain_of(seen, *arrays) for seen in self._seen]))].copy())
        for order in starts:
            improve(order, *arrays, SWEEPS)
        if len(starts) == 2 and np.array_equal(starts[0], starts[1]):
            return starts[:1]
        return sorted(starts, key=lambda order: -gain_of(order, *arrays))


def lowest_mixture(
    loss: ScenarioLoss,
    searched: Rankings,
    rankings: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    tolerance: float,
    max_iterations: int,
) -> Found:
    """Return the mixture of rankings of the lowest loss that is found.

    Parameters
    ----------
    loss
        of the row.
    searched
        the rankings of the same scenarios.
    rankings, weights
        int64 (k, n) and float64 (k,): the mixture to start from, each ranking once; None: equal weights.
    tolerance
        by how much a further ranking must promise to lower the loss.
    max_iterations
        rankings that are searched for, at most.
    """
    shape = loss.scenarios.continuation.shape
    weight = np.full(len(rankings), 1.0 / len(rankings)) if weights is None else weights / weights.sum()
    known = _Known(loss, searched, rankings)
    weight = known.best_weights(weight, tolerance)
    for _ in range(max_iterations):
        weight = known.forget(weight)
        mean = weight @ known.exposure
        slope = loss.gradient(mean.reshape(shape))
        level = float(slope.ravel() @ mean + weight @ known.noise)
        added = known.add(np.stack(searched.best(-slope)), slope)
        weight = np.append(weight, np.zeros(len(added)))
        if level - added[0] <= tolerance:
            break
        weight = known.best_weights(weight, tolerance)
    kept = weight > 0
    share = normalised(weight[kept])
    mean = (share @ known.exposure[kept]).reshape(shape)
    value = loss.value(mean, float(share @ known.noise[kept]) * (loss.published or 0))
    return Found(np.stack(known.order)[kept], share, value, mean)


class _Known:
    """The rankings that are mixed: their exposures, the part of the loss that is linear in them, and its curvature.

    Attributes
    ----------
    order
        the k rankings.
    noise
        float64 (k,), what the second moment of each adds to the loss where draws are published.
    """

    def __init__(self, loss: ScenarioLoss, searched: Rankings, rankings: NDArray[np.int64]) -> None:
        self._loss, self._searched = loss, searched
        self._shape = loss.scenarios.continuation.shape
        self._origin = loss.gradient(np.zeros(self._shape)).ravel()
        self.order = list(rankings)
        self._buffer = searched.exposures(rankings)
        self.noise = np.array([self._noise(one) for one in self._buffer])
        self._line = self._buffer @ self._origin + self.noise
        self._square = Quadratic(self._buffer @ loss.bent(self._buffer).T, RIDGE)

    @property
    def exposure(self) -> NDArray[np.float64]:
        """float64 (k, n M)."""
        return self._buffer[: len(self.order)]

    def add(self, rankings: NDArray[np.int64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take in rankings (j, n); return what a gradient (n, M) makes of each, its part of ``noise`` counted."""
        own = self._searched.exposures(rankings)
        first, count = len(self.order), len(self.order) + len(rankings)
        while count > len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[first:count] = own
        self.order.extend(rankings)
        noise = np.array([self._noise(one) for one in own])
        self.noise = np.append(self.noise, noise)
        self._line = np.append(self._line, own @ self._origin + noise)
        square = self._loss.bent(own) @ self.exposure.T
        for place in range(len(rankings)):
            self._square.append(square[place, : first + place + 1])
        level: NDArray[np.float64] = own @ slope.ravel() + noise
        return level

    def best_weights(self, weight: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
        """Return the weights (k,) of the lowest loss, found from others."""
        slope = self._square.square @ weight + self._line
        return self._square.minimum(slope, weight, ENOUGH * tolerance)

    def forget(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Leave out rankings without weight when they are many; return the weights of the others."""
        kept = weight > 0
        count = int(kept.sum())
        if len(weight) <= count + SPARE:
            return weight
        self._buffer[:count] = self.exposure[kept]
        self.order = [self.order[place] for place in np.flatnonzero(kept)]
        self.noise, self._line = self.noise[kept], self._line[kept]
        self._square.keep(kept)
        return weight[kept]

    def _noise(self, exposure: NDArray[np.float64]) -> float:
        if self._loss.published is None:
            return 0.0
        return self._loss.second_moment(exposure.reshape(self._shape)) / self._loss.published
