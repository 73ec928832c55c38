"""Plain twins of the estimators of Plackett-Luce gradients, and enumeration of what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
from policy_worlds import sequential_log_prob


def all_orders(score: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all rankings of the first k documents and their probabilities."""
    orders = np.array(list(permutations(range(len(score)), k)))
    return orders, np.exp([sequential_log_prob(score, order) for order in orders.tolist()])


def plain_pl_rank_3(score: np.ndarray, order: list[int], position: np.ndarray, reward: np.ndarray) -> list[float]:
    """PL-Rank-3 of one ranking by its definition, in numbers that no spread can underflow."""
    with localcontext() as context:
        context.prec = 60
        weight = [Decimal(float(s)).exp() for s in score]
        v, rho = [Decimal(float(x)) for x in position], [Decimal(float(x)) for x in reward]
        k, n = len(order), len(score)
        total = [sum(weight[d] for d in range(n) if d not in order[:r]) for r in range(k)]
        ahead = [sum((v[z] * rho[order[z]] for z in range(r, k)), Decimal(0)) for r in range(k + 1)]
        out = []
        for doc in range(n):
            rank = order.index(doc) if doc in order else k - 1
            direct = sum(v[x] / total[x] for x in range(rank + 1))
            risk = sum(ahead[x] / total[x] for x in range(rank + 1))
            out.append(float((ahead[rank + 1] if doc in order else 0) + weight[doc] * (rho[doc] * direct - risk)))
        return out


def plain_reinforce(score: np.ndarray, orders: np.ndarray, position: np.ndarray, reward: np.ndarray) -> np.ndarray:
    """The mean of (reward - mean reward of the others) times the gradient of the log probability."""
    gained = [float(position @ reward[order]) for order in orders]
    total = np.zeros(len(score))
    for number, order in enumerate(orders.tolist()):
        slope, left = np.zeros(len(score)), list(range(len(score)))
        for doc in order:
            slope[doc] += 1
            slope[left] -= np.exp(score[left] - score[left].max()) / np.exp(score[left] - score[left].max()).sum()
            left.remove(doc)
        total += slope * (gained[number] - np.mean(gained[:number] + gained[number + 1 :]))
    return total / len(orders)


def central_difference(function: Callable[[np.ndarray], float], score: np.ndarray) -> np.ndarray:
    step = 1e-5
    return np.array(
        [(function(score + step * unit) - function(score - step * unit)) / (2 * step) for unit in np.eye(len(score))]
    )
