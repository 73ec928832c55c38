"""The compiled loops behind transpositions: to find them, to apply them to weights, to split them into rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def find_swaps(
    goal: NDArray[np.float64],
    weight: NDArray[np.float64],
    rounding: float,
    swaps: NDArray[np.int32],
    chance: NDArray[np.float64],
) -> int:
    """Find transpositions that turn ``weight`` into ``goal`` in expectation, and return how many.

    Parameters
    ----------
    goal, weight
        float64 (n,), not increasing, the weight majorising the goal.
    rounding
        differences up to this count as none.
    swaps, chance
        int32 (n, 2) and float64 (n,), filled from the front: the earlier and the later place, and the probability.

    Notes
    -----
    A place that has less than its goal takes from the nearest earlier place that has more, until one of the two has
    its goal. The places with more wait on a stack, so every place is passed once.
    """
    n = len(goal)
    has = weight.copy()
    stack = np.empty(n, np.int64)
    depth = count = 0
    for late in range(n):
        if has[late] - goal[late] > rounding:
            stack[depth] = late
            depth += 1
        while depth > 0 and goal[late] - has[late] > rounding:
            early = stack[depth - 1]
            more, less = has[early] - goal[early], goal[late] - has[late]
            swaps[count, 0], swaps[count, 1] = early, late
            chance[count] = min(more, less) / (more + (goal[early] - goal[late]) + less)
            count += 1
            has[early] -= less
            has[late] += more
            if more <= less:
                has[early] = goal[early]
                depth -= 1
            if less <= more:
                has[late] = goal[late]
    return count


@compiled
def swap_weights(swaps: NDArray[np.int32], chance: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
    """Replace the weights of places, float64 (n,), by what swaps (m, 2) make of them in expectation."""
    for swap in range(len(swaps)):
        one, other = swaps[swap, 0], swaps[swap, 1]
        moved = chance[swap] * (weight[one] - weight[other])
        weight[one] -= moved
        weight[other] += moved


@compiled
def split_swaps(
    goal: NDArray[np.float64],
    weight: NDArray[np.float64],
    swaps: NDArray[np.int32],
    settles: NDArray[np.bool_],
    rank: NDArray[np.int32],
    share: NDArray[np.float64],
) -> int:
    """Turn transpositions into a mixture of rankings with the same expected weights, and return of how many.

    Parameters
    ----------
    goal, weight
        float64 (n,), as in `find_swaps`.
    swaps
        int32 (m, 2), from `find_swaps`.
    settles
        bool (m,), whether a swap brings the earlier place to its goal, rather than the later one.
    rank
        int32 (m + 1, n), the rank of the document at each place in each ranking; the first row counts up.
    share
        float64 (m + 1,), the probability of each ranking; 1 for the first and 0 for the others.

    Notes
    -----
    A swap moves a certain amount of expected weight from one place to another. Instead of swapping in each ranking
    with the same probability, whole rankings are swapped one after the other until the amount is reached, and the
    last of them is split in two: each swap adds at most one ranking.
    """
    n, count = len(goal), 1
    for swap in range(len(swaps)):
        early, late = swaps[swap, 0], swaps[swap, 1]
        place = early if settles[swap] else late
        # What the place has is added up anew, so that errors do not add up.
        has = 0.0
        for one in range(count):
            has += share[one] * weight[rank[one, place]]
        wanted = has - goal[place] if settles[swap] else goal[place] - has
        known = count
        for one in range(known):
            gain = weight[rank[one, early]] - weight[rank[one, late]]
            if gain <= 0.0:
                continue
            part = wanted / gain
            if part <= 0.0:
                break
            if part < share[one]:
                share[count] = share[one] - part
                share[one] = part
                for at in range(n):
                    rank[count, at] = rank[one, at]
                count += 1
            wanted -= share[one] * gain
            held = rank[one, early]
            rank[one, early] = rank[one, late]
            rank[one, late] = held
            if count > known:
                break
    return count
