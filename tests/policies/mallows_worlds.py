"""Small Mallows policies and the probabilities of their rankings by the definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from policy_worlds import every_ranking, matrices, rows, streams

from rerankers.policies.mallows import Mallows

LENGTHS = [4, 0, 1, 7, 40]


def mallows(lengths: list[int], dispersion: object = 0.3, first_query: int = 0) -> Mallows:
    """Return the policy of queries first_query, first_query + 1, … around shuffled references."""
    over = rows(lengths, first_query)
    orders = [np.random.default_rng([n, 1]).permutation(n) for n in lengths]
    theta = np.broadcast_to(np.asarray(dispersion, dtype=float), len(lengths))
    order = np.concatenate([np.empty(0, np.int32), *orders]).astype(np.int32)
    return Mallows(over, order, theta, streams(len(lengths), first_query))


def kendall(order: list[int], reference: np.ndarray) -> int:
    place = np.argsort(reference)
    return sum(place[a] > place[b] for a, b in combinations(order, 2))


def chances(policy: Mallows) -> np.ndarray:
    """Return the probability of every whole ranking of a policy of one row, by the definition."""
    orders, theta = matrices(every_ranking(len(policy.order)))[0], policy.dispersion[0]
    distance = np.array([kendall(order, policy.order) for order in orders])
    weight = np.exp(-np.where(distance > 0, theta, 0.0) * distance)
    return weight / weight.sum()
