r"""The least and the greatest sum of products of group sums, \sum_g A_g C_g, over all completions.

Such a sum is neither convex nor concave. It is a quadratic function of the choices: a constant, a term for each unknown
document i in group g (A_g c_i + C_g a_i + a_i c_i, with A and C of the known part), and m_ij = a_i c_j + a_j c_i for
every two unknown documents that share a group. Few completions are compared one by one: every sum of one half of the
documents against every sum of the other, as one matrix product. Otherwise bounds are the better of two: each document
and each pair at its own extreme (after the documents that matter most have been given in every way), and
4 A C = (A + C)^2 - (A - C)^2 with the bounds of both squares. What is found is a local optimum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.unknown_labels.branch import branch_least
from rerankers.measures.unknown_labels.completion import Extreme, Incomplete
from rerankers.measures.unknown_labels.kinds import Kinds, all_sums, halves, spell_out
from rerankers.measures.unknown_labels.search import improve
from rerankers.measures.unknown_labels.squares import greatest_square

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 1 << 24
"""Completions of a query that are compared one by one: 12 documents and 4 groups."""
_CELLS = 1 << 22  # values of completions held at once: 32 MB
_GIVEN = 4096  # ways of giving the documents that matter most, of which each has its own bound
_CLOSE = 1e-12


def product_extremes(problem: Incomplete, exact: int = EXACT) -> tuple[Extreme, Extreme]:
    """Return the least and the greatest sum of products: exactly where there are at most ``exact`` completions."""
    kinds = Kinds.of(np.column_stack([problem.left, problem.right]))
    ways = kinds.ways(problem.choices)
    if math.prod(ways) <= exact:
        return _compared(problem, kinds)
    low, high = _termwise(problem)
    least, greatest = _polarised(problem)
    return (
        _found(problem, max(low, least), sign=1),
        _found(problem, min(high, greatest), sign=-1),
    )


def _found(problem: Incomplete, bound: float, sign: int) -> Extreme:
    """Return a local optimum beside a bound, and the bound as it where they meet."""
    starts = [_one_by_one(problem, sign)]
    starts += [np.full(len(problem.left), choice, dtype=np.int64) for choice in range(problem.choices)]
    choices = [improve([problem], [start], sign)[0] for start in starts]
    best = min(choices, key=lambda choice: sign * problem.value(choice))
    found = problem.value(best)
    reach = float(np.abs(problem.base_left).sum() + np.abs(problem.left).sum())
    reach *= float(np.abs(problem.base_right).sum() + np.abs(problem.right).sum())
    if sign * (found - bound) <= _CLOSE * reach:
        bound = found
    return Extreme(bound, found, best)


def _one_by_one(problem: Incomplete, sign: int) -> NDArray[np.int64]:
    """Give every document to the group that is best beside the known part alone."""
    gain = sign * _own(problem.base_left, problem.base_right, problem.left, problem.right, problem.none)
    best: NDArray[np.int64] = np.argmin(gain, axis=-1).astype(np.int64)
    return best


def _compared(problem: Incomplete, kinds: Kinds) -> tuple[Extreme, Extreme]:
    """Compare all completions: with sums (A', C') of one half and (A", C") of the other, A·C is a scalar product."""
    sides = halves(kinds.ways(problem.choices))
    one, two = (all_sums(kinds, side, problem.groups, problem.choices) for side in sides)
    left, right = one.value[:, 0::2] + problem.base_left, one.value[:, 1::2] + problem.base_right
    more_left, more_right = two.value[:, 0::2], two.value[:, 1::2]
    row = np.column_stack([left, right, np.sum(left * right, axis=1), np.ones(len(left))])
    column = np.column_stack([more_right, more_left, np.ones(len(more_left)), np.sum(more_left * more_right, axis=1)])
    step = max(1, _CELLS // len(column))
    best: dict[int, tuple[float, int, int]] = {}
    for start in range(0, len(row), step):
        value = row[start : start + step] @ column.T
        for sign, place in ((1, int(np.argmin(value))), (-1, int(np.argmax(value)))):
            first, second = divmod(place, len(column))
            rated = sign * float(value[first, second])
            if sign not in best or rated < best[sign][0]:
                best[sign] = (rated, start + first, second)
    extremes = []
    for sign in (1, -1):
        choice = np.zeros(len(problem.left), dtype=np.int64)
        spell_out(kinds, sides[0], one.given[best[sign][1]], problem.choices, choice)
        spell_out(kinds, sides[1], two.given[best[sign][2]], problem.choices, choice)
        extremes.append(Extreme.exactly(problem, choice))
    return extremes[0], extremes[1]


def _own(
    base_left: NDArray[np.float64],
    base_right: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    none: bool,
) -> NDArray[np.float64]:
    """Return each document's own term for each choice, float64 (..., n, choices), for known parts (..., G)."""
    term = base_left[..., None, :] * right[:, None] + base_right[..., None, :] * left[:, None]
    term = term + (left * right)[:, None]
    return np.concatenate([term, np.zeros((*term.shape[:-1], 1))], axis=-1) if none else term


def _termwise(problem: Incomplete) -> tuple[float, float]:
    """Return bounds in which every document and every pair is at its own extreme."""
    size = np.abs(problem.left) + np.abs(problem.right)
    order = np.argsort(-size, kind="stable")
    ways = min(_GIVEN, _CELLS // max(len(order) * problem.choices, 1))
    most = int(math.log(max(ways, 1), max(problem.choices, 2)))
    first, rest = order[:most], order[most:]
    values = np.column_stack([problem.left, problem.right])
    given = Kinds(values[first], [np.array([place]) for place in range(len(first))])
    sums = all_sums(given, list(range(len(first))), problem.groups, problem.choices).value
    base_left, base_right = sums[:, 0::2] + problem.base_left, sums[:, 1::2] + problem.base_right
    constant = np.sum(base_left * base_right, axis=1)
    left, right = problem.left[rest], problem.right[rest]
    own = _own(base_left, base_right, left, right, problem.none)
    below, above = _of_pairs(left, right)
    low = float((constant + own.min(axis=-1).sum(axis=-1)).min()) + below
    high = float((constant + own.max(axis=-1).sum(axis=-1)).max()) + above
    return low, high


def _of_pairs(left: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sums over pairs of documents of the negative and of the positive terms m_ij."""
    below, above = 0.0, 0.0
    step = max(1, _CELLS // max(len(left), 1))
    for start in range(0, len(left), step):
        rows = slice(start, start + step)
        pair = left[rows, None] * right[None, :] + right[rows, None] * left[None, :]
        pair[np.tril_indices(len(pair), start, len(left))] = 0.0
        below += float(np.minimum(pair, 0.0).sum())
        above += float(np.maximum(pair, 0.0).sum())
    return below, above


def _polarised(problem: Incomplete) -> tuple[float, float]:
    """Return bounds by the squares of A + C and of A - C."""
    plus, minus = (_squared(problem, sign) for sign in (1.0, -1.0))
    low = (branch_least(plus).bound - greatest_square(minus).bound) / 4
    high = (greatest_square(plus).bound - branch_least(minus).bound) / 4
    return low, high


def _squared(problem: Incomplete, sign: float) -> Incomplete:
    base, value = problem.base_left + sign * problem.base_right, problem.left + sign * problem.right
    return Incomplete(base, base, value, value, problem.none)
