r"""Rankings drawn from a Plackett-Luce policy to estimate exposure and gradients, keyed by seed, query and step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.arrays import read_only
from rerankers._base.streams import stream_key, uniforms
from rerankers.policies._race import log_times
from rerankers.policies.logits import bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.learning.rows import LearningRows

PURPOSE = "objective"  # training shares no randomness with the policies that are evaluated


@dataclass(frozen=True, slots=True)
class Draws:
    """How many rankings a query are drawn at a step, and for which estimator.

    Step i takes the draws i S, i S + 1, … of a query: nothing depends on what was drawn before, nor on which queries
    there are.
    """

    kind: str
    count: int
    seed: int
    step: int

    def halves(self, rows: LearningRows, logit: NDArray[np.float64], browsing: Browsing) -> tuple[Half, Half]:
        """Return the draws of the rows (B rows, logits (nnz,)) in two independent halves."""
        first, second = [], []
        for row in range(len(rows)):
            orders = self._orders(rows.stream[row], bounded(logit[rows.over.row(row)]))
            first.append(orders[: self.count // 2])
            second.append(orders[self.count // 2 :])
        return Half(self.kind, first, rows.indptr, logit, browsing), Half(
            self.kind, second, rows.indptr, logit, browsing
        )

    def _orders(self, stream: NDArray[np.uint64], score: NDArray[np.float64]) -> NDArray[np.int32]:
        key = stream_key(self.seed, stream, PURPOSE)
        times = log_times(uniforms(key, self.step * self.count, self.count, len(score)), score)
        return np.argsort(times, axis=1).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """Rankings of B rows, and what they estimate.

    Attributes
    ----------
    kind
        ``pl_rank_3`` or ``reinforce``.
    orders
        int32 (S, n) for each row.
    indptr
        int64 (B + 1,).
    logit
        float64 (nnz,).
    browsing
        bound to the rows.
    """

    kind: str
    orders: list[NDArray[np.int32]]
    indptr: NDArray[np.int64]
    logit: NDArray[np.float64]
    browsing: Browsing

    def exposure(self) -> NDArray[np.float64]:
        """Return the mean exposure over the rankings: float64 (nnz,)."""
        from rerankers.learning.objectives.draws_loops import add_exposure

        result = np.zeros(len(self.logit))
        for row, orders in enumerate(self.orders):
            place = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
            continuation = read_only(self.browsing.continuation[place], np.float64)
            add_exposure(read_only(orders), continuation, self._position(orders.shape[1]), result[place])
            result[place] /= len(orders)
        return result

    def gradient(self, reward: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the estimated derivatives of the sum of reward (nnz,) times exposure: float64 (nnz,)."""
        result = np.zeros(len(self.logit))
        for row, orders in enumerate(self.orders):
            place = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
            if orders.shape[1] > 1:
                result[place] = self._row(orders, self.logit[place], self.browsing.continuation[place], reward[place])
        return result

    def _row(
        self,
        orders: NDArray[np.int32],
        logit: NDArray[np.float64],
        continuation: NDArray[np.float64],
        reward: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        from rerankers.learning.objectives.draws_loops import add_pl_rank_3, add_reinforce

        position = self._position(orders.shape[1])
        gained = _gained(orders, continuation, position, reward)
        mean_of_others = (gained.sum() - gained) / max(1, len(orders) - 1)
        result, drawn, score = np.zeros(len(logit)), read_only(orders), read_only(logit)
        if self.kind == "reinforce":
            relative = gained - mean_of_others if len(orders) > 1 else gained
            add_reinforce(drawn, score, int(np.count_nonzero(position)), read_only(relative), result)
        else:
            unit = _unit(continuation, self.browsing.position is None)
            whole = _gained(orders[:1], continuation, position, unit)[0]  # the same for every ranking
            baseline = mean_of_others / whole if whole > 0 and len(orders) > 1 else np.zeros(len(orders))
            passed, rewards = read_only(continuation), read_only(reward)
            add_pl_rank_3(drawn, score, passed, position, rewards, read_only(unit), read_only(baseline), result)
        return result / len(orders)

    def _position(self, size: int) -> NDArray[np.float64]:
        position = self.browsing.position
        return read_only(np.ones(size) if position is None else position[:size], np.float64)


def _gained(
    orders: NDArray[np.int32],
    continuation: NDArray[np.float64],
    position: NDArray[np.float64],
    reward: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the reward of each ranking: float64 (S,)."""
    weight = np.empty(orders.shape)
    weight[:, 0] = 1.0
    np.cumprod(continuation[orders[:, :-1]], axis=1, out=weight[:, 1:])
    result: NDArray[np.float64] = np.einsum("sr,sr->s", weight * position, reward[orders])
    return result


def _unit(continuation: NDArray[np.float64], unweighted: bool) -> NDArray[np.float64]:
    """Return rewards whose sum over a ranking is the same for every ranking: float64 (n,), zeros if none are known.

    A multiple of them taken from the rewards changes no gradient, and makes estimates vary less. Equal rewards are
    such where every document is passed with the same chance; where ranks have no weights, 1 - c are.
    """
    if np.all(continuation == continuation[0]):
        return np.ones(len(continuation))
    return 1.0 - continuation if unweighted else np.zeros(len(continuation))
