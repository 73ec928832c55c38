"""The cheapest assignment of documents to ranks that keeps a quality: Lagrangian, with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 60
_CLOSE = 1e-12


def quality_assignment(
    cost: NDArray[np.float64],
    gain: NDArray[np.float64],
    discount: NDArray[np.float64],
    floor: float,
    ideal: NDArray[np.int64],
) -> tuple[NDArray[np.int64], float, float]:
    """Minimise the cost of a ranking whose discounted gain is at least ``floor``.

    Parameters
    ----------
    cost
        float64 (n, n), of each document at each rank.
    gain, discount
        float64 (n,), by document and by rank.
    floor
        what ``sum gain[d] discount[rank of d]`` must reach.
    ideal
        int64 (n,), a ranking that reaches it, usually by gain.

    Returns
    -------
    order, cost, bound
        int64 (n,) the documents by rank; its cost; and a lower bound on the cost of every ranking that reaches the
        floor: their difference is the certificate. It is 0 where the constraint does not bind, or binds at a ranking
        that is best for some price of quality.

    Notes
    -----
    The price mu is found from the two rankings around it, cheap and good, by intersecting their lines until the
    assignment at that price is one of them (Handler & Zang 1980): a handful of assignments (linear_sum_assignment).
    The cheapest ranking met that keeps the floor is then improved by exchanges of two documents.
    """
    from scipy.optimize import linear_sum_assignment

    ranks = np.arange(len(gain))
    worth = np.outer(gain, discount)

    def solve(price: float) -> tuple[NDArray[np.int64], float, float]:
        _, rank = linear_sum_assignment(cost - price * worth)
        order = np.empty(len(gain), dtype=np.int64)
        order[rank] = ranks
        return order, float(cost[order, ranks].sum()), float(worth[order, ranks].sum())

    cheap = solve(0.0)
    slack = _CLOSE * max(1.0, abs(floor))
    if cheap[2] >= floor - slack:
        return cheap[0], cheap[1], cheap[1]
    good = (ideal, float(cost[ideal, ranks].sum()), float(worth[ideal, ranks].sum()))
    bound = cheap[1]
    for _ in range(_STEPS):
        rise = good[2] - cheap[2]
        if rise <= slack or good[1] <= cheap[1]:
            break
        price = (good[1] - cheap[1]) / rise
        found = solve(price)
        lagrangian = found[1] + price * (floor - found[2])
        bound = max(bound, lagrangian)
        if lagrangian >= cheap[1] + price * (floor - cheap[2]) - _CLOSE * max(1.0, abs(lagrangian)):
            break
        if found[2] >= floor - slack:
            good = found
        else:
            cheap = found
    order = _exchanged(good[0].copy(), cost, gain, discount, floor - slack)
    spent = float(cost[order, ranks].sum())
    return order, spent, min(bound, spent)


def _exchanged(
    order: NDArray[np.int64],
    cost: NDArray[np.float64],
    gain: NDArray[np.float64],
    discount: NDArray[np.float64],
    floor: float,
) -> NDArray[np.int64]:
    """Exchange two documents, the pair that saves most, for as long as one saves anything and the floor holds."""
    for _ in range(len(order) ** 2):
        at = cost[order]  # by rank of the document, and rank
        own = np.diagonal(at)
        saved = own[:, None] + own - at - at.T
        sorted_gain = gain[order]
        lost = (sorted_gain[:, None] - sorted_gain) * (discount[:, None] - discount)
        allowed = float(np.sum(sorted_gain * discount)) - floor
        saved = np.where(lost <= allowed, saved, 0.0)
        best = int(np.argmax(saved))
        i, j = divmod(best, len(order))
        if saved[i, j] <= _CLOSE * max(1.0, float(np.max(own))):
            break
        order[i], order[j] = order[j], order[i]
    return order
