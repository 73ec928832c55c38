"""The groups of a row's documents, as a small matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment


def memberships(
    alignment: GroupAlignment, docs: NDArray[np.integer], about: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the groups that some documents have, and their weights in them.

    Parameters
    ----------
    alignment
        resolved.
    docs
        int (n,), document codes.
    about
        bool (G,), the groups that count; None: all.

    Returns
    -------
    groups
        int64 (M,), ascending.
    weight
        float64 (n, M), at least 0.
    """
    item, group, weight = alignment.entries(docs)
    kept = weight > 0.0 if about is None else (weight > 0.0) & about[group]
    groups, column = np.unique(group[kept], return_inverse=True)
    matrix = np.zeros((len(docs), len(groups)))
    np.add.at(matrix, (item[kept], column), weight[kept])
    return groups.astype(np.int64), matrix
