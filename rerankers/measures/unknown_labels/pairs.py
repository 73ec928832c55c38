r"""The weight of every pair of documents in a mean over queries, a few documents at a time.

A measure is \sum_{i,j} w_ij [same group], with w_ij = \sum_q (a_qi c_qj + c_qi a_qj) / (2 Q). The diagonal needs no
label at all: a document is in the same group as itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.form import GroupForm

_PAIRS = 1 << 21
"""Pairs held at once, about: 64 MB."""


class Pairs(NamedTuple):
    """Pairs of different documents that occur in one query: codes int64 (m,) and weights float64 (m,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: NDArray[np.float64]


def diagonal(form: GroupForm) -> float:
    """Return the part of the mean that needs no labels: the sum of w_ii over all documents."""
    return float(np.sum(form.left * form.right)) / len(form)


def pair_weights(form: GroupForm, keep: NDArray[np.bool_]) -> Iterator[Pairs]:
    """Yield the pairs of the documents in ``keep``, both orders of each, all pairs of one first document together.

    Parameters
    ----------
    form
        what is measured.
    keep
        bool (D,), the documents that count.
    """
    from scipy.sparse import csr_matrix

    chosen = keep[form.doc]
    place = np.cumsum(keep) - 1
    column = place[form.doc[chosen]]
    shape = (len(form), int(keep.sum()))
    left, right = (csr_matrix((value[chosen], (form.row[chosen], column)), shape) for value in (form.left, form.right))
    code = np.flatnonzero(keep)
    neighbours = np.diff(left.indptr)[form.row[chosen]]
    reach = np.cumsum(np.bincount(column, weights=neighbours, minlength=shape[1]))
    start = 0
    while start < shape[1]:
        before = reach[start - 1] if start else 0.0
        stop = max(start + 1, int(np.searchsorted(reach, before + _PAIRS, side="right")))
        product = left[:, start:stop].T @ right
        if not form.squares:
            product = (product + right[:, start:stop].T @ left) / 2
        block = product.tocoo()
        first, second = block.row.astype(np.int64) + start, block.col.astype(np.int64)
        apart = first != second
        yield Pairs(code[first[apart]], code[second[apart]], block.data[apart] / len(form))
        start = stop
