"""The value of a measure of groups under many draws of shuffled labels, one walk over a query's labels for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def shuffled_products(
    order: NDArray[np.int32],
    item: NDArray[np.int64],
    group: NDArray[np.int64],
    weight: NDArray[np.float64],
    groups: int,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    same: bool,
    out: NDArray[np.float64],
) -> None:
    """Write the sum over groups of the products of the groups' totals of x and y, for every draw.

    Parameters
    ----------
    order
        int32 (R, n), the document that gets the labels of each document.
    item, group, weight
        (E,), labels: the document that has one, which group below ``groups``, and how much of it.
    x, y
        float64 (n,), values of the documents.
    same
        whether x is y.
    out
        float64 (R,).
    """
    mine, theirs = np.empty(groups), np.empty(groups)
    for draw in range(len(order)):
        mine[:] = 0.0
        for entry in range(len(item)):
            mine[group[entry]] += weight[entry] * x[order[draw, item[entry]]]
        if not same:
            theirs[:] = 0.0
            for entry in range(len(item)):
                theirs[group[entry]] += weight[entry] * y[order[draw, item[entry]]]
        value = 0.0
        for one in range(groups):
            value += mine[one] * (mine[one] if same else theirs[one])
        out[draw] = value
