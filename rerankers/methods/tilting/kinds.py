"""Documents of one kind: those of a row whose groups are the same. Only the best one left of each can come next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The kinds of the documents of a row, each with its documents in the order in which they may come.

    Attributes
    ----------
    vector
        float64 (M, K), what a document of each kind adds to the groups.
    start, document
        int64 (M + 1,) and (n,): kind m has the documents ``document[start[m]:start[m + 1]]``, the best first.
    place
        int64 (n,), the place of these documents in the order of all: equally good ones come in it.
    """

    vector: NDArray[np.float64]
    start: NDArray[np.int64]
    document: NDArray[np.int64]
    place: NDArray[np.int64]


def kinds_of(vectors: NDArray[np.float64], order: NDArray[np.int64]) -> Kinds:
    """Sort documents into kinds.

    Parameters
    ----------
    vectors
        float64 (n, K), what each document adds to the groups.
    order
        int64 (n,), the documents, the best first.
    """
    rows = np.ascontiguousarray(vectors + 0.0)  # no minus zero
    if rows.shape[1]:
        # rows as keys of bytes: as quick as sorting numbers, and only equality matters
        keys = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
        _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    else:
        first, kind = np.zeros(1, np.int64), np.zeros(len(rows), np.int64)
    by_kind = np.argsort(kind[order], kind="stable").astype(np.int64)
    start = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=len(first)))]).astype(np.int64)
    return Kinds(np.ascontiguousarray(rows[first]), start, order[by_kind], by_kind)
