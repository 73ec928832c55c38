r"""The best that a list allows: utility against how neutral, or how balanced, what users see is, with relevance known.

With position weights p(i), NFaiRR and nDCG are sums of exposure times a value of each document, so that the ranking by
(1 - λ) g(d) + λ n(d), each divided by its ideal sum, is best for (1 - λ) nDCG + λ NFaiRR. CWEx of two groups is the
least over s in [-1, 1] of Σ_d e(d) [α N(d) - (1 - α) s (A(d) - B(d))] / Σ_i p(i), so that, by the minimax theorem,
its best policy mixes the two rankings by (1 - λ) g(d) + λ [...] on both sides of the s at which the sum is least.
Means over queries of both measures are then best too: no policy over these candidates is better on both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Candidates

    Floats = NDArray[np.float64]

ROUNDS = 50  # halvings of the interval of s
EDGE = 1e-6
"""How near λ comes to 0 and 1: there, of the policies that are best on one measure, the one that is best on the other
is meant."""
Order = tuple["NDArray[np.int64]", float]


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of the candidates of a query, in their order (n documents).

    Attributes
    ----------
    gain
        float64 (n,), grade over the ideal sum of discounted grades; 0 without one.
    neutrality
        float64 (n,), neutrality over the ideal sum; 0 without one or where it is not known.
    neutral, gap
        float64 (n,), membership in the neutral group, and in the first less that in the second other group.
    weight
        float64 (n,), p(i) by rank, 0 beyond the cutoff.
    """

    gain: Floats
    neutrality: Floats
    neutral: Floats
    gap: Floats
    weight: Floats


def position_weights(n: int, cutoff: int) -> Floats:
    """Return 1 / log2(1 + i) for ranks i from 1 to the cutoff, 0 beyond: float64 (n,)."""
    return np.where(np.arange(n) < cutoff, 1.0 / np.log2(np.arange(n) + 2.0), 0.0)


def best_for_neutrality(row: Row, mix: float) -> list[Order]:
    """Return the ranking that is best for (1 - mix) nDCG + mix NFaiRR: [(order, 1)]."""
    mix = min(max(mix, EDGE), 1.0 - EDGE)
    return [(_order((1.0 - mix) * row.gain + mix * row.neutrality), 1.0)]


def best_for_balance(row: Row, mix: float, alpha: float) -> list[Order]:
    """Return the mixture that is best for (1 - mix) nDCG + mix CWEx, CWEx of expected exposure: (order, probability).

    Parameters
    ----------
    mix
        0 to 1.
    alpha
        0 to 1, of CWEx.
    """
    mix = min(max(mix, EDGE), 1.0 - EDGE)
    total = row.weight.sum()
    scale = mix / total if total > 0 else 0.0
    base = (1.0 - mix) * row.gain + scale * alpha * row.neutral

    def ranked(s: float) -> tuple[NDArray[np.int64], float]:
        order = _order(base - scale * (1.0 - alpha) * s * row.gap)
        return order, float(row.weight @ row.gap[order])

    low, high = ranked(-1.0), ranked(1.0)
    # The gap of the best ranking falls with s: where it does not change its sign, an end is the least.
    if low[1] <= 0.0:
        return [(low[0], 1.0)]
    if high[1] >= 0.0:
        return [(high[0], 1.0)]
    below, above = -1.0, 1.0
    for _ in range(ROUNDS):
        middle = 0.5 * (below + above)
        found = ranked(middle)
        if found[1] > 0.0:
            below, low = middle, found
        else:
            above, high = middle, found
    part = -high[1] / (low[1] - high[1])
    return [(low[0], part), (high[0], 1.0 - part)]


def mixture(candidates: Candidates, stream: NDArray[np.uint64], best: Callable[[int], list[Order]]) -> Mixture:
    """Return the policy of a block that shows the rankings of each row with their probabilities."""
    items: list[NDArray[np.int64]] = []
    weight: list[float] = []
    label: list[int] = []
    counts = []
    for row in range(len(candidates)):
        kept = [(order, part) for order, part in best(row) if part > 0.0]
        items += [order for order, _ in kept]
        weight += [part for _, part in kept]
        label += range(len(kept))
        counts.append(len(kept))
    lengths = [len(order) for order in items]
    rankings = Rankings(
        candidates,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int64), *items]).astype(np.int32),
        np.array(weight, np.float64),
        np.array(label, np.int32),
    )
    return Mixture(rankings, stream)


def _order(value: Floats) -> NDArray[np.int64]:
    """Return the order by value, the highest first, ties as they stand. Equal to twelve digits is a tie."""
    scale = float(np.abs(value).max(initial=0.0)) or 1.0
    order: NDArray[np.int64] = np.argsort(-np.round(value / scale, 12), kind="stable")
    return order
