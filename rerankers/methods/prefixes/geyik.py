"""The four rankings of Geyik et al. (KDD 2019) for wanted shares of groups in every prefix.

Every prefix of k documents should hold at least floor(k p_g) and at most ceil(k p_g) documents of group g.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from rerankers.methods.prefixes.quotas import CLOSE

if TYPE_CHECKING:
    from numpy.typing import NDArray

GREEDY, CONS, RELAXED, SORT = "det_greedy", "det_cons", "det_relaxed", "det_const_sort"
VARIANTS = (GREEDY, CONS, RELAXED, SORT)


def least_of(k: int, share: float) -> int:
    """Return floor(k p), heedless of rounding."""
    return math.floor(k * share + CLOSE)


def most_of(k: int, share: float) -> int:
    """Return ceil(k p), heedless of rounding."""
    return math.ceil(k * share - CLOSE)


def greedy_order(group: NDArray[np.int64], share: NDArray[np.float64], ranks: int, variant: str) -> NDArray[np.int64]:
    """Choose rank by rank: from the groups below their minimum, else from those below their maximum.

    Parameters
    ----------
    group
        int64 (n,), of the documents by score.
    share
        float64 (G,), summing to 1.
    ranks
        how many are chosen, at most n.
    variant
        what is taken where no group is below its minimum: ``det_greedy`` the best document; ``det_cons`` from the
        group that will need one soonest, of least ceil(k p) / p; ``det_relaxed`` the best document of those that will
        in as many ranks, of least ceil(ceil(k p) / p).

    Returns
    -------
    int64 (ranks,), places in ``group``. Where all groups at hand are at their maximum the best document is taken.
    """
    left = [deque(np.flatnonzero(group == g).tolist()) for g in range(len(share))]
    held, part = [0] * len(share), share.tolist()
    order: list[int] = []
    for k in range(1, ranks + 1):
        some = [g for g in range(len(part)) if left[g]]
        pool = [g for g in some if held[g] < least_of(k, part[g])]
        if not pool:
            pool = [g for g in some if held[g] < most_of(k, part[g])]
            if pool and variant != GREEDY:
                due = {g: _due(k, part[g], variant) for g in pool}
                pool = [g for g in pool if due[g] <= min(due.values())]
        taken = min(pool or some, key=lambda g: left[g][0])
        order.append(left[taken].popleft())
        held[taken] += 1
    return np.array(order, dtype=np.int64)


def _due(k: int, share: float, variant: str) -> float:
    due = most_of(k, share) / share
    return math.ceil(due - CLOSE) if variant == RELAXED else due


def sorted_order(
    group: NDArray[np.int64], score: NDArray[np.float64], share: NDArray[np.float64], ranks: int, published: bool
) -> NDArray[np.int64]:
    """Insert documents when a minimum demands them, then move them up past worse ones that can wait (DetConstSort).

    Parameters
    ----------
    group, score
        int64 and float64 (n,), of the documents by score.
    share
        float64 (G,), summing to 1.
    ranks
        how many are chosen, at most n.
    published
        let documents be moved to the rank after their deadline, as the published listing and code do, so that a
        prefix may lack one; else every minimum that a group can meet is met.

    Returns
    -------
    int64 (at most ranks,), places in ``group``; fewer where all groups with a share are used up.
    """
    left = [deque(np.flatnonzero(group == g).tolist()) for g in range(len(share))]
    part = share.tolist()
    minimum = [0] * len(part)
    order: list[int] = []
    deadline: list[int] = []
    k, last = 0, 1 if published else 0
    # one document more than is wanted, as published: it may still move up
    while len(order) <= ranks and any(left[g] and part[g] > 0.0 for g in range(len(part))):
        k += 1
        # in one step a minimum rises by 1 at most
        due = [g for g in range(len(part)) if least_of(k, part[g]) > minimum[g]]
        minimum = [least_of(k, one) for one in part]
        for g in sorted((g for g in due if left[g]), key=lambda g: left[g][0]):
            order.append(left[g].popleft())
            deadline.append(k)
            at = len(order) - 1
            while at > 0 and at < deadline[at - 1] + last and score[order[at - 1]] < score[order[at]]:
                order[at - 1], order[at] = order[at], order[at - 1]
                deadline[at - 1], deadline[at] = deadline[at], deadline[at - 1]
                at -= 1
    return np.array(order[:ranks], dtype=np.int64)


def violations(
    order: NDArray[np.int64], group: NDArray[np.int64], share: NDArray[np.float64], ranks: int
) -> tuple[bool, bool]:
    """Say whether any of the first prefixes of a ranking is below a minimum, and whether any is above a maximum."""
    held = np.cumsum(group[order[:ranks], None] == np.arange(len(share)), axis=0)
    k = np.arange(1, len(held) + 1)[:, None] * share
    return bool(np.any(held < np.floor(k + CLOSE))), bool(np.any(held > np.ceil(k - CLOSE)))
