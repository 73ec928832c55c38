"""Compiled decomposition of rank probabilities into rankings (Birkhoff 1946; von Neumann 1953)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def place(
    document: int, mass: NDArray[np.float64], room: int, column: NDArray[np.int64], holder: NDArray[np.int64]
) -> bool:
    """Give a document a rank with mass, or a place behind all ranks, moving others where needed.

    Parameters
    ----------
    document
        without a place: ``column[document]`` is -1.
    mass
        float64 (n, K + 1), what is left of each document at each rank and, in the last column, behind them.
    room
        how many places behind the ranks are free.
    column, holder
        int64 (n,) and (K,), updated: the column of each document, and the document of each rank, -1 for none.

    Returns
    -------
    Whether there was a way: a path that alternates between places that are taken up and given up, found breadth first.
    """
    n, columns = mass.shape
    ranks = columns - 1
    reached = np.full(columns, -1, np.int64)  # the document that a column was reached from
    came = np.full(n, -1, np.int64)  # the column that a document has to leave
    seen = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int64)
    queue[0], seen[document] = document, True
    first, last = 0, 1
    while first < last:
        d = queue[first]
        first += 1
        for c in range(columns):
            if reached[c] >= 0 or mass[d, c] <= 0.0:
                continue
            reached[c] = d
            if (c < ranks and holder[c] < 0) or (c == ranks and room > 0):
                while c >= 0:  # back along the path
                    mover = reached[c]
                    column[mover] = c
                    if c < ranks:
                        holder[c] = mover
                    c = came[mover]
                return True
            for e in range(n) if c == ranks else range(holder[c], holder[c] + 1):
                if column[e] == c and not seen[e]:
                    seen[e], came[e] = True, c
                    queue[last] = e
                    last += 1
    return False


@compiled
def decompose(mass: NDArray[np.float64], least: float, weight: NDArray[np.float64], chosen: NDArray[np.int64]) -> int:
    """Write weighted first ranks whose mixture has the given rank probabilities, and return their number.

    Parameters
    ----------
    mass
        float64 (n, K + 1), used up: the probability of each document at each rank and, in the last column, behind
        them. Rows sum to 1, columns to 1 and the last to n - K.
    least
        mass below it counts as none, and what is left below it in all is left.
    weight, chosen
        float64 (m,) and int64 (m, K), written; as many as ``mass`` has positive entries suffice.
    """
    n, columns = mass.shape
    ranks = columns - 1
    column, holder = np.full(n, -1, np.int64), np.full(ranks, -1, np.int64)
    room = n - ranks
    for d in range(n):
        if not place(d, mass, room, column, holder):
            return 0
        room = n - ranks - np.sum(column == ranks)
    left, count = 1.0, 0
    while left > least and count < len(weight):
        step = left
        for d in range(n):
            step = min(step, mass[d, column[d]])
        weight[count], chosen[count] = step, holder
        count += 1
        left -= step
        for d in range(n):
            mass[d, column[d]] -= step
            if mass[d, column[d]] < least:
                mass[d, column[d]] = 0.0
        for d in range(n):
            if mass[d, column[d]] == 0.0 and left > least:
                if column[d] < ranks:
                    holder[column[d]] = -1
                column[d] = -1
                if not place(d, mass, n - ranks - np.sum(column == ranks), column, holder):
                    return count
    return count
