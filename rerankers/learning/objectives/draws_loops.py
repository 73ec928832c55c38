r"""Compiled walks along drawn Plackett-Luce rankings: exposure, and gradients of expected reward.

Let D_r be the sum of e^{s_d} over the documents at rank r or later. Everything is written in the chances e^{s_{y_r}} /
D_r and the shares D_{r+1} / D_r, and running sums over x <= r of anything / D_x are kept multiplied by D_r; sums start
at the end of a ranking and are kept relative to their largest term. So nothing overflows or cancels at any spread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Orders = NDArray[np.int32]


@compiled
def add_exposure(orders: Orders, continuation: Floats, position: Floats, exposure: Floats) -> None:
    """Add to ``exposure`` (n,) how much rankings (S, n) let each document be seen."""
    for draw in range(len(orders)):
        chance = 1.0
        for rank in range(orders.shape[1]):
            document = orders[draw, rank]
            exposure[document] += position[rank] * chance
            chance *= continuation[document]


@compiled
def _choices(order: Orders, logit: Floats, chance: Floats, share: Floats) -> None:
    """Write for each rank the chance of the document chosen there, and the share that was left before it."""
    top, rest = -np.inf, 0.0  # the sum of what comes later is rest e^top
    for rank in range(len(order) - 1, -1, -1):
        score = logit[order[rank]]
        if score > top:
            behind = rest * np.exp(top - score) if rest > 0.0 else 0.0
            top, own = score, 1.0
        else:
            behind, own = rest, np.exp(score - top)
        rest = behind + own
        chance[rank] = own / rest
        share[rank + 1] = behind / rest
    share[0] = 0.0


@compiled
def add_pl_rank_3(
    orders: Orders,
    logit: Floats,
    continuation: Floats,
    position: Floats,
    reward: Floats,
    unit: Floats,
    baseline: Floats,
    gradient: Floats,
) -> None:
    r"""Add to ``gradient`` (n,) the PL-Rank-3 estimate (Oosterhuis 2022) of each of some rankings (S, n).

    Rank x of ranking y weighs \theta_x = position[x] times the continuations before it, a function of what was placed
    before: that is all that the estimator's derivation needs. With \rho the rewards less ``baseline`` (S,) times
    ``unit`` (n,), the document at rank r is given

        \sum_{x>r} \theta_x \rho_{y_x} + e^{s_d} \sum_{x<=r} (\theta_x \rho_d - \sum_{z>=x} \theta_z \rho_{y_z}) / D_x.
    """
    n = orders.shape[1]
    chance, share, weight, future = np.empty(n), np.empty(n + 1), np.empty(n), np.empty(n + 1)
    for draw in range(len(orders)):
        order = orders[draw]
        _choices(order, logit, chance, share)
        passed = 1.0
        for rank in range(n):
            weight[rank] = position[rank] * passed
            passed *= continuation[order[rank]]
        future[n] = 0.0
        for rank in range(n - 1, -1, -1):
            document = order[rank]
            future[rank] = future[rank + 1] + weight[rank] * (reward[document] - baseline[draw] * unit[document])
        direct, risk = 0.0, 0.0
        for rank in range(n):
            document = order[rank]
            direct = direct * share[rank] + weight[rank]
            risk = risk * share[rank] + future[rank]
            gained = reward[document] - baseline[draw] * unit[document]
            gradient[document] += future[rank + 1] + chance[rank] * (gained * direct - risk)


@compiled
def add_reinforce(orders: Orders, logit: Floats, ranks: int, gained: Floats, gradient: Floats) -> None:
    """Add to ``gradient`` (n,) what rankings (S, n) gained (S,) times the slope of the log chance of their ranks."""
    n = orders.shape[1]
    chance, share = np.empty(n), np.empty(n + 1)
    for draw in range(len(orders)):
        order = orders[draw]
        _choices(order, logit, chance, share)
        expected = 0.0
        for rank in range(n):
            expected *= share[rank]
            chosen = 0.0
            if rank < ranks:
                expected += 1.0
                chosen = 1.0
            gradient[order[rank]] += gained[draw] * (chosen - chance[rank] * expected)
