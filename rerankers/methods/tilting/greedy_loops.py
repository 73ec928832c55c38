"""Compiled greedy rankings that weigh relevance against the divergence of a prefix's groups from a target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@compiled
def calibration(counts: Floats, more: Floats, target: Floats, part: Ints, smoothing: float) -> float:
    """Return the summed divergence of the target from the smoothed groups of a set with one document more.

    For each attribute it is KL(p || (1 - a) q + a p), with p the target, q the groups of the set, 0 where none of
    its documents has any, and a the smoothing (Steck 2018).
    """
    divergence, first = 0.0, 0
    while first < len(target):
        end, total = first, 0.0
        while end < len(target) and part[end] == part[first]:
            total += counts[end] + more[end]
            end += 1
        for g in range(first, end):
            if target[g] > 0.0:
                share = (counts[g] + more[g]) / total if total > 0.0 else 0.0
                mixed = (1.0 - smoothing) * share + smoothing * target[g]
                divergence += target[g] * math.log(target[g] / mixed) if mixed > 0.0 else np.inf
        first = end
    return divergence


@compiled
def steck_order(
    score: Floats,
    vector: Floats,
    start: Ints,
    document: Ints,
    place: Ints,
    target: Floats,
    part: Ints,
    fairness: float,
    smoothing: float,
    chosen: Ints,
) -> None:
    """Choose documents one by one, each adding most to (1 - fairness) sum of scores - fairness calibration.

    Parameters
    ----------
    score
        float64 (n,).
    vector, start, document, place
        as in `kinds.Kinds`.
    target, part
        float64 (K,) and int64 (K,) ascending.
    chosen
        int64 (k,), written: the documents in their order. Time is of order k M K for M kinds of documents.
    """
    kinds = len(vector)
    head, counts = start[:-1].copy(), np.zeros(len(target))
    for rank in range(len(chosen)):
        best, taken = -np.inf, -1
        for kind in range(kinds):
            at = head[kind]
            if at == start[kind + 1]:
                continue
            gain = 0.0
            if fairness < 1.0:
                gain += (1.0 - fairness) * score[document[at]]
            if fairness > 0.0:
                gain -= fairness * calibration(counts, vector[kind], target, part, smoothing)
            if taken < 0 or gain > best or (gain == best and place[at] < place[head[taken]]):
                best, taken = gain, kind
        chosen[rank] = document[head[taken]]
        head[taken] += 1
        counts += vector[taken]


@compiled
def prefix_divergence(counts: Floats, more: Floats, ideal: Floats, part: Ints, heed: Floats) -> float:
    """Return the sum over attributes of their weight times the divergence of a prefix's groups from the ideal.

    KL(P || ideal), P the counts of the prefix and one document more over their sum, 0 where that is 0; infinite where
    a group occurs that the ideal does not have.
    """
    cost, first = 0.0, 0
    while first < len(ideal):
        end, total = first, 0.0
        while end < len(ideal) and part[end] == part[first]:
            total += counts[end] + more[end]
            end += 1
        weight = heed[part[first]]
        if weight > 0.0 and total > 0.0:
            for g in range(first, end):
                share = (counts[g] + more[g]) / total
                if share > 0.0:
                    cost += weight * share * math.log(share / ideal[g]) if ideal[g] > 0.0 else np.inf
        first = end
    return cost


@compiled
def _rest(head: Ints, start: Ints, document: Ints, place: Ints, rank: int, chosen: Ints) -> None:
    """Write the documents that are left, from ``rank`` on, by place; ``head`` is where those of each kind begin."""
    at_place = np.full(len(document), -1, np.int64)
    for kind in range(len(head)):
        for at in range(head[kind], start[kind + 1]):
            at_place[place[at]] = at
    for one in at_place:
        if one >= 0:
            chosen[rank] = document[one]
            rank += 1


@compiled
def infoseeking_order(
    cost: Floats,
    vector: Floats,
    start: Ints,
    document: Ints,
    place: Ints,
    ideal: Floats,
    part: Ints,
    heed: Floats,
    chosen: Ints,
) -> None:
    """Rank all documents, each time the one of the least cost of relevance plus divergence of the prefix.

    ``cost`` float64 (n,) is the weighted cost of relevance, by which the documents of a kind ascend; ``place``
    int64 (n,) the place by score of ``document``, by which ties are broken; ``heed`` float64 (attributes,) the weights
    of attributes; the others as in `steck_order`.
    """
    head, counts = start[:-1].copy(), np.zeros(len(ideal))
    for rank in range(len(chosen)):
        best, taken = np.inf, -1
        for kind in range(len(vector)):
            at = head[kind]
            if at == start[kind + 1]:
                continue
            total = cost[document[at]] + prefix_divergence(counts, vector[kind], ideal, part, heed)
            if taken < 0 or total < best or (total == best and place[at] < place[head[taken]]):
                best, taken = total, kind
        if best == np.inf:  # and so are all that follow: a group that the ideal does not have stays in the prefix
            _rest(head, start, document, place, rank, chosen)
            return
        chosen[rank] = document[head[taken]]
        head[taken] += 1
        counts += vector[taken]


@compiled
def _masses(
    cost: Floats,
    start: Ints,
    document: Ints,
    total: Floats,
    temperature: float,
    gone: NDArray[np.bool_],
    mass: Floats,
) -> float:
    """Write exp(-cost / temperature) of what is left, scaled to 1 for the least cost, and return the sum.

    Where all that is left costs infinitely much, any of it is as good.
    """
    least, together = np.inf, 0.0
    for kind in range(len(total)):
        for at in range(start[kind], start[kind + 1]):
            if not gone[at]:
                least = min(least, total[kind] + cost[document[at]])
    for kind in range(len(total)):
        for at in range(start[kind], start[kind + 1]):
            mass[at] = 0.0
            if not gone[at]:
                above = total[kind] + cost[document[at]] - least if least < np.inf else 0.0
                mass[at] = math.exp(-above / temperature)
                together += mass[at]
    return together


@compiled
def infoseeking_draws(
    cost: Floats,
    vector: Floats,
    start: Ints,
    document: Ints,
    ideal: Floats,
    part: Ints,
    heed: Floats,
    temperature: float,
    noise: Floats,
    chosen: Ints,
) -> None:
    """Draw rankings: the next document in proportion to exp(-cost / temperature), the cost as in `infoseeking_order`.

    Parameters
    ----------
    noise
        float64 (draws, n), uniform in (0, 1).
    chosen
        int64 (draws, n), written.
    """
    n = len(cost)
    total, mass, gone = np.empty(len(vector)), np.empty(n), np.empty(n, np.bool_)
    for draw in range(len(chosen)):
        gone[:] = False
        counts = np.zeros(len(ideal))
        for rank in range(n):
            for kind in range(len(vector)):
                total[kind] = prefix_divergence(counts, vector[kind], ideal, part, heed)
            left = noise[draw, rank] * _masses(cost, start, document, total, temperature, gone, mass)
            taken = -1
            for at in range(n):
                if mass[at] > 0.0:
                    taken = at
                    left -= mass[at]
                    if left <= 0.0:
                        break
            gone[taken] = True
            chosen[draw, rank] = document[taken]
            kind = 0
            while start[kind + 1] <= taken:
                kind += 1
            counts += vector[kind]
