r"""The least sum of squares of group sums by branch and bound, all open branches of a level at a time.

Documents are given in the order of their values, the largest first. A branch is closed where even fractions of the
documents that are left could not beat the best completion so far (`relaxed_least`), or where another branch has the
same sums up to an exchange of groups. Exposure falls fast with the rank, so few branches stay open; where there are too
many, the worst are dropped, and the least bound of those that were is what is known for sure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.unknown_labels.completion import Extreme, Incomplete

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPEN = 8192
"""Branches that are held open at once."""
CLOSE = 1e-12
"""Part of the scale within which values are the same."""
DEEP = 256
"""Documents that branches tell apart; further ones, whose values are the smallest, are only given greedily."""
_CELLS = 1 << 20  # group sums held at once: 8 MB
_TRIED = 32  # branches that are completed greedily at a level
_EACH = 32  # levels at each of which branches are completed; later at every 32nd, and at the last


def branch_least(problem: Incomplete, limit: int = OPEN) -> Extreme:
    """Return the least sum of squares: exactly, unless more than ``limit`` branches are open at once."""
    order = np.argsort(-np.abs(problem.left), kind="stable")
    value = problem.left[order]
    up = np.append(np.cumsum(np.maximum(value, 0)[::-1])[::-1], 0.0)
    down = np.append(np.cumsum(np.maximum(-value, 0)[::-1])[::-1], 0.0)
    slack = CLOSE * scale_of(problem)
    sums = problem.base_left[None, :].copy()
    given = np.zeros((1, 0), dtype=np.int16)
    best, choice = _complete(sums, given, value, problem.none)
    bound = relaxed_least(sums, float(up[0]), float(down[0]), problem.none)
    dropped = math.inf
    limit = max(1, min(limit, _CELLS // (problem.choices * problem.groups)))
    depth = min(len(value), DEEP)
    for place in range(depth):
        if not len(sums) or float(bound.min()) >= best - slack:
            break
        sums, given = _branches(sums, given, float(value[place]), problem.none)
        bound = relaxed_least(sums, float(up[place + 1]), float(down[place + 1]), problem.none)
        ranked = np.argsort(bound, kind="stable")
        ranked = ranked[bound[ranked] < best - slack]
        ranked = ranked[_distinct(sums[ranked], slack)]
        if len(ranked) > limit:
            dropped = min(dropped, float(bound[ranked[limit]]))
            ranked = ranked[:limit]
        sums, given, bound = sums[ranked], given[ranked], bound[ranked]
        if len(sums) and (place < _EACH or (place + 1) % _EACH == 0 or place + 1 == depth):
            reached, completed = _complete(sums[:_TRIED], given[:_TRIED], value, problem.none)
            if reached < best:
                best, choice = reached, completed
    if depth < len(value) and len(sums):
        dropped = min(dropped, float(bound.min()))
    final = np.empty(len(value), dtype=np.int64)
    final[order] = choice
    found = problem.value(final)
    return Extreme(dropped if dropped < found - slack else found, found, final)


def relaxed_least(sums: NDArray[np.float64], up: float, down: float, none: bool) -> NDArray[np.float64]:
    """Return the least sum of squares if what is left could be divided among groups: no completion is below it.

    Parameters
    ----------
    sums
        float64 (N, G), what has been given.
    up, down
        sums of the positive values that are left, and of the negative ones without their sign.
    none
        whether values may also be left out.

    Returns
    -------
    float64 (N,)
    """
    low, high = _level(sums, up), -_level(-sums, down)
    if none:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    level = np.clip(sums, low[:, None], np.maximum(low, high)[:, None])
    least: NDArray[np.float64] = np.sum(level * level, axis=1)
    if none:
        return least
    total = sums.sum(axis=1) + up - down
    return np.where(low >= high, total * total / sums.shape[1], least)


def scale_of(problem: Incomplete) -> float:
    """Return what the sum of squares can be at most, about: values below 1e-12 of it are rounding."""
    reach = float(np.abs(problem.base_left).sum() + np.abs(problem.left).sum())
    return reach * reach


def _level(sums: NDArray[np.float64], amount: float) -> NDArray[np.float64]:
    """Return the level up to which an amount fills the lowest groups, float64 (N,)."""
    ascending = np.sort(sums, axis=1)
    filled = (amount + np.cumsum(ascending, axis=1)) / np.arange(1, sums.shape[1] + 1)
    reached = np.ones(sums.shape, dtype=bool)
    reached[:, :-1] = ascending[:, 1:] >= filled[:, :-1]
    level: NDArray[np.float64] = filled[np.arange(len(sums)), np.argmax(reached, axis=1)]
    return level


def _branches(
    sums: NDArray[np.float64], given: NDArray[np.int16], value: float, none: bool
) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    """Give one more document to each group (and to none)."""
    groups = sums.shape[1]
    step = np.zeros((groups + none, groups))
    np.fill_diagonal(step, value)
    wider = (sums[:, None, :] + step[None, :, :]).reshape(-1, groups)
    choice = np.tile(np.arange(groups + none, dtype=np.int16), len(sums))
    return wider, np.column_stack([np.repeat(given, groups + none, axis=0), choice])


def _distinct(sums: NDArray[np.float64], slack: float) -> NDArray[np.int64]:
    """Return the first branch of each set of sums, whichever group has which, in their order."""
    if len(sums) < 2:
        return np.arange(len(sums))
    grain = math.sqrt(slack) * 1e-7 or 1.0
    key = np.ascontiguousarray(np.round(np.sort(sums, axis=1) / grain))
    first: NDArray[np.int64] = np.unique(key, axis=0, return_index=True)[1]
    first.sort()
    return first


def _complete(
    sums: NDArray[np.float64], given: NDArray[np.int16], value: NDArray[np.float64], none: bool
) -> tuple[float, NDArray[np.int16]]:
    """Complete branches, each further document where the sum of squares is least; return the best of them."""
    total, rows = sums.copy(), np.arange(len(sums))
    choices = [given]
    for one in value[given.shape[1] :].tolist():
        gain = one * (2 * total + one)
        choice = np.argmin(gain, axis=1)
        if none:
            left_out = gain[rows, choice] >= 0
            choice = np.where(left_out, sums.shape[1], choice)
            total[rows[~left_out], choice[~left_out]] += one
        else:
            total[rows, choice] += one
        choices.append(choice.astype(np.int16)[:, None])
    reached = np.sum(total * total, axis=1)
    best = int(np.argmin(reached))
    return float(reached[best]), np.concatenate(choices, axis=1)[best]
