"""How near the documents of one query are to those of another: the "modified F1" of balanced query recommendation.

As we read the published description (a harmonic mean over cosine similarities between two result sets; its exact form
is not printed): P is the mean over the documents of the candidate of the similarity to the nearest document of the
original, R the same the other way round, and the relevance is 2 P R / (P + R).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

_CELLS: Final = 1 << 20  # similarities held at once: 8 MB
KINDS: Final = ("cosine", "id")
"""Which similarity of documents: of their texts, or 1 for the same document and 0 for others."""


def id_f1(original: ArrayLike, other: ArrayLike) -> float:
    """Return the F1 of two lists by document ids, 0 to 1; 0 where either is empty.

    Parameters
    ----------
    original, other
        int (m,), int (k,), document codes, each at most once in a list.

    Raises
    ------
    InputError
        for a document that stands in a list twice, or codes that are no whole numbers.
    """
    first, second = _codes("original", original), _codes("other", other)
    both = len(np.intersect1d(first, second, assume_unique=True))
    return 2.0 * both / (len(first) + len(second)) if both else 0.0


def cosine_f1(original: ArrayLike, others: Sequence[ArrayLike], vectors: Any) -> NDArray[np.float64]:
    """Return the F1 by similarity of each of several lists to one, float64 (lists,), 0 to 1.

    The cosine of a document with itself is 1, even where it has no vector; other documents without one have cosine 0.

    Parameters
    ----------
    original
        int (m,), document codes.
    others
        lists of document codes.
    vectors
        sparse (D, V), rows of length 1 or 0, at least 0 (`CorpusTerms.weighted`), by document code.

    Raises
    ------
    InputError
        as `id_f1`.
    """
    first = _codes("original", original)
    lengths = np.array([len(np.asarray(one)) for one in others], dtype=np.int64)
    out = np.zeros(len(lengths))
    if not len(first) or not lengths.any():
        return out
    same_length = {length: np.flatnonzero(lengths == length) for length in np.unique(lengths[lengths > 0]).tolist()}
    lists = {length: _matrix([others[place] for place in places.tolist()]) for length, places in same_length.items()}
    every = np.unique(np.concatenate([one.ravel() for one in lists.values()]))
    table = np.clip((vectors[every] @ vectors[first].T).toarray(), 0.0, 1.0)
    table[every[:, np.newaxis] == first[np.newaxis, :]] = 1.0
    for length, places in same_length.items():
        step = max(1, _CELLS // (length * len(first)))
        for start in range(0, len(places), step):
            near = table[np.searchsorted(every, lists[length][start : start + step])]
            out[places[start : start + step]] = _harmonic(near.max(axis=2).mean(axis=1), near.max(axis=1).mean(axis=1))
    return out


def _harmonic(precision: Floats, recall: Floats) -> Floats:
    total = precision + recall
    return np.divide(2.0 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _matrix(lists: Sequence[ArrayLike]) -> Codes:
    """Return lists of equal length as int64 (lists, length), checked as `_codes` does."""
    codes = np.stack([np.asarray(one) for one in lists])
    if codes.ndim != 2 or not np.issubdtype(codes.dtype, np.integer):
        raise InputError.one("other", f"{codes.dtype} of shape {codes.shape[1:]}", "a list of document codes")
    ordered = np.sort(codes, axis=1)
    if np.any(ordered[:, 1:] == ordered[:, :-1]):
        raise InputError.one("other", "a document more than once", "each document once")
    return codes.astype(np.int64)


def _codes(name: str, docs: ArrayLike) -> Codes:
    codes = np.asarray(docs)
    if codes.ndim != 1 or (codes.size and not np.issubdtype(codes.dtype, np.integer)):
        raise InputError.one(name, f"{codes.dtype} of shape {codes.shape}", "a list of document codes")
    if len(np.unique(codes)) != len(codes):
        raise InputError.one(name, "a document more than once", "each document once")
    return codes.astype(np.int64)
