"""Bounds on what each group gets: linear in the labels, and so exact, for one query and for the mean over queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment


@dataclass(frozen=True, slots=True, eq=False)
class ShareBounds:
    """Bounds on sums and shares of groups; a document that occurs in several queries may have one label throughout.

    Attributes
    ----------
    groups
        the G names.
    lower, upper
        float64 (G,): the least and the greatest mean over queries of the group's sum. Each bound is attained, but not
        all at once.
    share_lower, share_upper
        float64 (G,), the same as shares of the sum over all documents; NaN where that sum is 0.
    """

    groups: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    share_lower: NDArray[np.float64]
    share_upper: NDArray[np.float64]


def share_bounds(
    doc: NDArray[np.integer], value: NDArray[np.float64], queries: int, alignment: GroupAlignment
) -> ShareBounds:
    """Return bounds on the mean over queries of a sum over each group, for instance of exposure.

    A group gets least where no unknown document is in it, and most where all are.

    Parameters
    ----------
    doc, value
        (nnz,), document codes and values of at least 0, over all queries.
    queries
        number of queries Q.
    alignment
        not resolved.

    Raises
    ------
    InputError
        for negative values, no query, or a resolved alignment.
    """
    if alignment.resolved:
        raise InputError.one("groups", "a resolved alignment", "one that still says what is unknown")
    if queries < 1:
        raise InputError.one("queries", str(queries), "one or more")
    if np.any(value < 0):
        raise InputError.one("value", "negative values", "values of at least 0")
    zeros = np.zeros(len(doc), dtype=np.int64)
    known = alignment.totals(zeros, doc, value, 1)[0] / queries
    unknown = float(np.sum(value * alignment.unknown[doc])) / queries
    total = float(np.sum(value)) / queries
    scale = total if total > 0 else np.nan
    return ShareBounds(alignment.groups, known, known + unknown, known / scale, (known + unknown) / scale)
