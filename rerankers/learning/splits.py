"""Folds and holdouts over whole topics, decided by digests of query ids: nothing that is to be learnt decides them.

Variants of a topic are the same question in other words and share their judgments, so they are never separated.
Neither grades nor scores nor the order of rows enter; hence there is no stratification by relevant documents, which
would let the labels of validation queries choose the queries that a model is trained on.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.collections.split import topic_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.values import Ragged


def query_folds(topic: NDArray[np.integer], stream: NDArray[np.uint64], folds: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold of each query, int64 (B,), from 0 to ``folds`` - 1; none is empty.

    Topics are taken from the largest to the smallest, equal ones in an order drawn from the seed and the query ids,
    and each joins the fold that has the fewest queries so far. Without variants sizes differ by at most one.

    Parameters
    ----------
    topic
        int (B,), variants of one topic share its number (the numbers themselves do not matter).
    stream
        uint64 (B, 2), digests of the query ids.
    folds
        at least 2, and at most the number of topics.
    seed
        any integer.

    Raises
    ------
    InputError
        for shapes that do not fit, two queries of one digest, and more folds than topics.
    ConfigError
        for fewer than two folds.
    """
    _check(topic, stream)
    if folds != int(folds) or folds < 2:
        raise ConfigError(f"folds: found {folds}; expected a whole number of at least 2")
    topics = topic_order(topic, stream, seed, "folds")
    if folds > len(topics):
        found = f"{folds} folds of {len(topics)} topics"
        raise InputError.one("folds", found, "at most as many folds as topics", mend="Variants of a topic count once.")
    out = np.empty(len(topic), dtype=np.int64)
    load = [(0, fold) for fold in range(folds)]
    for rows in sorted(topics, key=len, reverse=True):  # stable: equal sizes stay in the drawn order
        size, fold = load[0]
        heapq.heapreplace(load, (size + len(rows), fold))
        out[rows] = fold
    return out


def holdout(topic: NDArray[np.integer], stream: NDArray[np.uint64], share: float, seed: int = 0) -> NDArray[np.bool_]:
    """Return which queries are held back, bool (B,): the nearest whole number to ``share`` of the topics.

    At least one topic is held back and at least one is not. A larger share holds back the topics of a smaller one
    and more.

    Parameters
    ----------
    topic, stream, seed
        as of `query_folds`; holdouts are independent of folds of the same seed.
    share
        of the topics, strictly between 0 and 1.

    Raises
    ------
    InputError
        for shapes that do not fit, two queries of one digest, and fewer than two topics.
    ConfigError
        for a share out of its range.
    """
    _check(topic, stream)
    if not 0 < share < 1:
        raise ConfigError(f"share held back: found {share}; expected a number between 0 and 1")
    topics = topic_order(topic, stream, seed, "holdout")
    if len(topics) < 2:
        raise InputError.one("holdout", f"{len(topics)} topics", "at least 2, one to hold back and one to keep")
    held = np.zeros(len(topic), dtype=bool)
    for rows in topics[: min(max(round(share * len(topics)), 1), len(topics) - 1)]:
        held[rows] = True
    return held


def document_overlap(over: Ragged, held: NDArray[np.bool_]) -> Mapping[str, int]:
    """Count how many held-back pairs have a document that also occurs with a query that is not held back.

    Splits keep queries apart, not documents: facts about a document (its age, its citations) are known to both sides
    in practice as well. A large overlap of few documents says that a model may have memorised documents.

    Parameters
    ----------
    over
        the pairs, B rows.
    held
        bool (B,), the queries held back.

    Returns
    -------
    mapping
        ``held_back_pairs`` and, of these, ``held_back_pairs_of_training_documents``.
    """
    if held.shape != (len(over),):
        raise InputError.one("held", f"shape {held.shape}", f"shape ({len(over)},), one entry a query")
    inside = np.repeat(held, over.lengths)
    known = np.zeros(int(over.doc.max(initial=-1)) + 1, dtype=bool)
    known[over.doc[~inside]] = True
    shared = int(np.count_nonzero(known[over.doc[inside]]))
    return {"held_back_pairs": int(np.count_nonzero(inside)), "held_back_pairs_of_training_documents": shared}


def _check(topic: NDArray[np.integer], stream: NDArray[np.uint64]) -> None:
    size = len(topic)
    if np.ndim(topic) != 1 or np.shape(stream) != (size, 2):
        found = f"topic of shape {np.shape(topic)} and stream of shape {np.shape(stream)}"
        raise InputError.one("queries to split", found, "topic (B,) and stream (B, 2)")
    if len(np.unique(stream, axis=0)) < size:
        raise InputError.one("queries to split", "a query id that occurs twice", "each query once")
