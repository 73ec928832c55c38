r"""The least and the greatest sum of squares of group sums, \sum_g (b_g + s_g)^2, over all completions.

Greatest: it is convex in the sums s, so an extreme point of their hull attains it. A linear function \sum_g c_g s_g is
greatest where every positive value goes to the group of the largest c_g and every negative one to that of the smallest
(the consecutive partitions of Barnes, Hoffman and Rothblum 1992, for one value a document). So the hull has at most
G (G - 1) extreme points, and the greatest value is exact for any number of documents.

Least: it is a number partition problem, hard in general. With P and N the sums of positive and negative values, the
hull is {s: \sum_g s_g = P + N, \sum_g max(s_g, 0) <= P}; over it the least value has a closed form, low groups being
raised to one level and high ones lowered to another. Branch and bound on it (`branch_least`) is exact for most queries.
Where it is not and documents are few, the least value is a nearest neighbour: the sums of one half of the documents
against those of the other (meet in the middle, Horowitz and Sahni 1974).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.unknown_labels.branch import OPEN, branch_least
from rerankers.measures.unknown_labels.completion import Extreme, Incomplete
from rerankers.measures.unknown_labels.kinds import Kinds, all_sums, halves, spell_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = 50_000
"""Sums of half of the documents that are held at once: 12 documents and 6 groups, for instance."""


def greatest_square(problem: Incomplete) -> Extreme:
    """Return the greatest sum of squares, exactly; its values are ``left``."""
    base, value = problem.base_left, problem.left
    positive, negative = float(value[value > 0].sum()), float(value[value < 0].sum())
    gain = np.append(positive * positive + 2 * positive * base, [0.0] * problem.none)
    loss = np.append(negative * negative + 2 * negative * base, [0.0] * problem.none)
    both = gain[:, None] + loss[None, :]
    groups = np.arange(problem.groups)
    both[groups, groups] += 2 * positive * negative
    high, low = np.unravel_index(int(np.argmax(both)), both.shape)
    return Extreme.exactly(problem, np.where(value < 0, low, high))


def least_square(problem: Incomplete, points: int = POINTS, branches: int = OPEN) -> Extreme:
    """Return the least sum of squares.

    Parameters
    ----------
    problem
        its values are ``left``.
    points, branches
        sums of half of the documents, and open branches, that are held at once; where more would be needed the least
        value is between the bound and what was found.
    """
    extreme = branch_least(problem, branches)
    if extreme.bound == extreme.found:
        return extreme
    kinds = Kinds.of(problem.left[:, None])
    ways = kinds.ways(problem.choices)
    sides = halves(ways)
    if all(math.prod(ways[kind] for kind in side) <= points for side in sides):
        return Extreme.exactly(problem, _nearest(problem, kinds, sides))
    return extreme


def _nearest(problem: Incomplete, kinds: Kinds, sides: tuple[list[int], list[int]]) -> NDArray[np.int64]:
    """Return the best completion, for which the sums of one half are nearest to what the other half lacks."""
    from scipy.spatial import cKDTree

    one, two = (all_sums(kinds, side, problem.groups, problem.choices) for side in sides)
    distance, place = cKDTree(two.value).query(-(problem.base_left + one.value))
    best = int(np.argmin(distance))
    choice = np.zeros(len(problem.left), dtype=np.int64)
    spell_out(kinds, sides[0], one.given[best], problem.choices, choice)
    spell_out(kinds, sides[1], two.given[int(place[best])], problem.choices, choice)
    return choice
