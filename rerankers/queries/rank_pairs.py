"""Rank-biased overlap of many rankings with one another.

`rerankers.measures.rank_overlap.rbo` is the definition, with its bounds. The variants of a topic make thousands of
pairs, for which its extrapolated value is computed in one compiled pass over all of them; a test holds the two to each
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import choose
from rerankers.measures._ranked_lists import RankedList
from rerankers.measures.rank_overlap import TIES, check_persistence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.ranked import Ranked

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


_LEAST = 2.0**-64  # a weight that all ranks from some depth on may have together and not be read
_SPARSE = 16  # times the items by which codes may exceed their number without being coded anew


def rbo_matrix(
    rows: Sequence[Ranked],
    columns: Sequence[Ranked] | None = None,
    *,
    p: float,
    depth: int | None = None,
    ties: str = "a",
) -> Floats:
    """Return the extrapolated rank-biased overlap of each pair of rankings (Webber, Moffat & Zobel, TOIS 2010).

    Parameters
    ----------
    rows, columns
        rankings with codes of documents. Without columns every two of the rows are compared.
    p
        strictly between 0 and 1, the persistence. There is no default: the larger, the deeper it looks.
    depth
        how much of a ranking is read; None: all of it.
    ties
        what equal scores are: ``a``, ``b`` or ``w`` as of `rerankers.measures.rank_overlap.rbo`.

    Returns
    -------
    float64 (rows, columns), each from 0 to 1; NaN where a ranking of the pair is empty. Symmetric without columns.
    Ranks that weigh less than 1e-19 together, p^d, are not read.

    Raises
    ------
    InputError
        for a p outside of (0, 1).
    ConfigError
        for another word.
    """
    choose("ties", ties, TIES)
    check_persistence(p)
    all_of = [*rows, *(columns or ())]
    out = np.full((len(rows), len(rows if columns is None else columns)), np.nan)
    if not out.size or not any(len(one) for one in all_of):
        return out
    from rerankers.queries.rank_pairs_loops import extrapolated

    lists = _encoded(all_of, depth, math.ceil(math.log(_LEAST) / math.log(p)), ties == "w")
    extrapolated(*lists, len(rows), columns is None, TIES.index(ties), float(p), out)
    if columns is None:
        lower = np.tril_indices(len(rows), -1)
        out[lower] = out.T[lower]
    inside: Floats = np.clip(out, 0.0, 1.0)  # rounding may carry a value out
    return inside


class _Lists(NamedTuple):
    """All rankings one after the other: int64 (N,) each, ``part`` float64, ``start`` (R + 1,), ``strict`` bool (R,)."""

    item: Ints
    first: Ints
    last: Ints
    part: Floats
    start: Ints
    strict: NDArray[np.bool_]


def _encoded(rankings: Sequence[Ranked], depth: int | None, enough: int, whole: bool) -> _Lists:
    """Return the rankings side by side, up to the tie group that reaches ``enough`` ranks.

    With ``whole``, a tie group arrives as one.
    """
    sizes = [one.tie_sizes(depth) for one in rankings]
    docs = [one.docs[:depth] for one in rankings]
    for row, size in enumerate(sizes):
        if len(docs[row]) > enough:
            last = np.array([enough]) if size is None else np.cumsum(size)
            groups = int(np.searchsorted(last, enough)) + 1
            docs[row], sizes[row] = docs[row][: int(last[groups - 1])], None if size is None else size[:groups]
    start = np.concatenate([[0], np.cumsum([len(one) for one in docs])]).astype(np.int64)
    item = np.concatenate(docs)
    if int(item.max()) > _SPARSE * len(item):  # else the codes index a table as they are
        item = np.unique(item, return_inverse=True)[1].astype(np.int64)
    ranks = [RankedList.of_sizes(size, len(found)) for size, found in zip(sizes, docs, strict=True)]
    part = np.concatenate([one.part(len(one), whole) for one in ranks])
    first, last = (np.concatenate([getattr(one, end) for one in ranks]) for end in ("first", "last"))
    return _Lists(item, first, last, part, start, np.array([size is None for size in sizes]))
