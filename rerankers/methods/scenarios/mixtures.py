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

SWEEPS = 30  # of moves; some five are usual
REMEMBERED = 24  # rankings, the best of which is started from
CERTAIN = 1e6  # 1 / (1 - c) where c is 1
RIDGE = 1e-13  # of the second derivative: noise
ENOUGH = 0.1  # of the tolerance: how far from optimal a mixture of the rankings at hand may be left
ROOM = 8  # rankings without weight are kept up to this many times those with one


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

    def best(self, gain: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the ranking (n,) of the largest gain (n, M) times exposure that the search finds."""
        from rerankers.methods.scenarios.ranking_loops import gain_of, improve

        scenarios = self._scenarios
        arrays = (gain, scenarios.continuation, scenarios.position)
        by_key = np.argsort(-(gain * self._scale).sum(axis=1), kind="stable").astype(np.int64, copy=False)
        starts = [by_key]
        if self._seen:
            starts.append(self._seen[int(np.argmax([gain_of(seen, *arrays) for seen in self._seen]))].copy())
        for order in starts:
            improve(order, *arrays, SWEEPS)
        return starts[int(np.argmax([gain_of(order, *arrays) for order in starts]))]


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
    order, seen = list(rankings), searched.exposures(rankings)
    square = Quadratic(seen @ loss.bent(seen).T, RIDGE)
    noise = np.array([loss.second_moment(one.reshape(shape)) for one in seen]) / (loss.published or np.inf)
    origin = loss.gradient(np.zeros(shape)).ravel()
    line = seen @ origin + noise
    weight = square.minimum(square.square @ weight + line, weight, ENOUGH * tolerance)
    for _ in range(max_iterations):
        kept = weight > 0
        if len(order) > ROOM * (int(kept.sum()) + ROOM):
            order, seen = [order[i] for i in np.flatnonzero(kept)], seen[kept]
            line, noise, weight = line[kept], noise[kept], weight[kept]
            square.keep(kept)
        mean = weight @ seen
        slope = loss.gradient(mean.reshape(shape))
        ranking = searched.best(-slope)
        exposure = searched.exposures(ranking[None])
        own = loss.second_moment(exposure.reshape(shape)) / (loss.published or np.inf)
        gap = float(slope.ravel() @ (mean - exposure[0]) + weight @ noise - own)
        if gap <= tolerance:
            break
        order.append(ranking)
        seen = np.concatenate([seen, exposure])
        square.append(seen @ loss.bent(exposure)[0])
        line, noise = np.append(line, exposure[0] @ origin + own), np.append(noise, own)
        weight = np.append(weight, 0.0)
        weight = square.minimum(square.square @ weight + line, weight, ENOUGH * tolerance)
    kept = weight > 0
    share = normalised(weight[kept])
    mean = (share @ seen[kept]).reshape(shape)
    value = loss.value(mean, float(share @ noise[kept]) * (loss.published or 0))
    return Found(np.stack(order)[kept], share, value, mean)
