r"""Gradients of Plackett-Luce policies estimated from drawn rankings, for `rerankers.policies.pl_gradient`.

J = E \sum_{r<k} v_r \rho_{y_r} is the expected reward, v the weights of ranks and \rho the rewards of documents. With
D_r the sum of exp(s_d) over the documents that are not placed before rank r, everything is written in the chances
exp(s_{y_r}) / D_r and the shares D_{r+1} / D_r. These are logistic functions of score minus log D_{r+1}, and running
sums over x <= r of anything / D_x are kept multiplied by D_r. So no number overflows or cancels at any spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPREAD = 700.0  # nats within which the weights themselves are normal numbers
_TOGETHER = 256  # rankings that are worked on together at least, so that steps a rank cost little
_TILE = 1 << 16  # entries of their matrices otherwise, so that these fit the cache


@dataclass(frozen=True, slots=True, eq=False)
class _Choices:
    """What some rankings chose among, the rank first.

    Attributes
    ----------
    order
        int64 (k, S), the documents.
    chance
        float64 (k, S), of choosing the document that was chosen, among those that were left.
    share
        float64 (k, S), D_r / D_{r-1}; 0 at the first rank.
    left
        float64 (S, n), the chance with which each unplaced document would have been chosen at rank k - 1; 0 if placed.
    """

    order: NDArray[np.int64]
    chance: NDArray[np.float64]
    share: NDArray[np.float64]
    left: NDArray[np.float64]

    def running(self, added: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Return D_r \sum_{x<=r} added_x / D_x of terms (k, S) or (k, 1): float64 (k, S)."""
        total = np.empty(self.order.shape)
        total[0] = added[0]
        for rank in range(1, len(total)):
            np.multiply(total[rank - 1], self.share[rank], out=total[rank])
            total[rank] += added[rank]
        return total

    def collected(self, placed: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up over rankings: ``placed`` (k, S) of placed documents, chance times ``left`` (S,) of others: (n,)."""
        total: NDArray[np.float64] = np.einsum("sd,s->d", self.left, left)
        return total + np.bincount(self.order.ravel(), weights=placed.ravel(), minlength=len(total))


def baselines(
    order: NDArray[np.int64], position: NDArray[np.float64], reward: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each ranking the mean reward of the others, a unit of weight: float64 (S,), 0 for one ranking alone.

    Taken from all rewards it changes no gradient, because the weights of ranks have the same sum in every ranking, and
    it does not depend on the ranking itself. So the estimators stay unbiased, and vary less, often by far (Kool et al.
    2019 for the score function).
    """
    gained = reward[order] @ position
    others: NDArray[np.float64] = (gained.sum() - gained) / (max(1, len(order) - 1) * position.sum())
    return others


def pl_rank_3(
    logit: NDArray[np.float64],
    order: NDArray[np.int64],
    position: NDArray[np.float64],
    reward: NDArray[np.float64],
    baseline: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Return the mean over rankings of PL-Rank-3 (Oosterhuis 2022): float64 (n,).

    With \rho the rewards less the baseline of the ranking, a document at rank r < k is given
    \sum_{x>r} v_x \rho_{y_x}, and every document, r being k - 1 for those not placed,

        e^{s_d} \sum_{x<=r} (v_x \rho_d - \sum_{z>=x} v_z \rho_{y_z}) / D_x.

    Parameters
    ----------
    logit
        float64 (n,), finite.
    order
        int64 (S, k), the first k ranks of each ranking.
    position
        float64 (k,), the weights of ranks.
    reward
        float64 (n,).
    baseline
        float64 (S,), taken from all rewards; see `baselines`.
    """
    total = np.zeros(len(logit))
    for tile in _tiles(len(order), len(logit)):
        choices = _choices(logit, order[tile])
        gained = reward[choices.order] - baseline[tile]
        future = np.zeros((len(position) + 1, gained.shape[1]))
        future[:-1] = np.cumsum((position[:, None] * gained)[::-1], axis=0)[::-1]
        direct, risk = choices.running(position[:, None]), choices.running(future[:-1])
        placed = future[1:] + choices.chance * (gained * direct - risk)
        total += choices.collected(placed, -baseline[tile] * direct[-1] - risk[-1])
        total += reward * np.einsum("sd,s->d", choices.left, direct[-1])
    return total / len(order)


def reinforce(
    logit: NDArray[np.float64],
    order: NDArray[np.int64],
    position: NDArray[np.float64],
    reward: NDArray[np.float64],
    baseline: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Return the mean over rankings of the score function estimator (Williams 1992): float64 (n,).

    It is \sum_r v_r \rho_{y_r} times the gradient of log P(y_0 ... y_{k-1}), \rho the rewards less the baseline of
    the ranking. The arguments are those of `pl_rank_3`.
    """
    gained = reward[order] @ position - baseline * position.sum()
    total = np.zeros(len(logit))
    for tile in _tiles(len(order), len(logit)):
        choices = _choices(logit, order[tile])
        expected = choices.running(np.ones((len(position), 1)))
        total += choices.collected(gained[tile] * (1.0 - choices.chance * expected), -gained[tile] * expected[-1])
    return total / len(order)


def _choices(logit: NDArray[np.float64], order: NDArray[np.int64]) -> _Choices:
    by_rank = np.ascontiguousarray(order.T)
    score = logit[by_rank]
    left, top = _unplaced(logit, order)
    # log D of the next rank is near + rest, kept apart: the difference of logits near each other is exact at any size
    near = np.broadcast_to(top, score.shape[1:])
    with np.errstate(divide="ignore"):  # nothing is left
        rest = np.log(left.sum(axis=1))
    chance, share = np.empty(score.shape), np.zeros(score.shape)
    last = len(score) - 1
    for rank in range(last, -1, -1):
        gap = (score[rank] - near) - rest
        odds = np.exp(-np.abs(gap))
        ahead, likely = gap > 0, 1.0 / (1.0 + odds)
        odds *= likely
        chance[rank] = np.where(ahead, likely, odds)
        if rank < last:
            share[rank + 1] = np.where(ahead, odds, likely)
        near, rest = np.where(ahead, score[rank], near), np.where(ahead, 0.0, rest) - np.log(likely)
        if rank == last:
            left *= np.exp(np.minimum((top - near) - rest, _SPREAD))[:, None]  # above it nothing is left
    return _Choices(by_rank, chance, share, left)


def _unplaced(
    logit: NDArray[np.float64], order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | float]:
    """Return the weights of unplaced documents (S, n), 0 for placed ones, and the logit that they are relative to."""
    place = (order + np.arange(len(order))[:, None] * len(logit)).ravel()
    highest = float(logit.max())
    if highest - logit.min() <= _SPREAD:
        left = np.tile(np.exp(logit - highest), (len(order), 1))
        left.ravel()[place] = 0.0
        return left, highest
    left = np.tile(logit, (len(order), 1))
    left.ravel()[place] = -np.inf
    top = left.max(axis=1)  # of what is left in each ranking: its sum must not vanish
    top[np.isneginf(top)] = 0.0
    left -= top[:, None]
    return np.exp(left, out=left), top


def _tiles(draws: int, n: int) -> Iterator[slice]:
    step = max(_TOGETHER, _TILE // n)
    for start in range(0, draws, step):
        yield slice(start, start + step)
