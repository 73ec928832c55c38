"""What the greedy methods share: scales of scores, and a static policy from the documents that were chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima
from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Block

    Order = Callable[[int, slice, NDArray[np.int64]], NDArray[np.int64]]


def minmax(indptr: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale finite values (nnz,) to [0, 1] within rows; 1/2 in rows of equal values."""
    lengths = np.diff(indptr)
    filled = lengths > 0
    # halves, so that differences of very large values stay finite
    high = np.where(filled, row_maxima(value, indptr), 0.0) / 2.0
    low = np.where(filled, -row_maxima(-value, indptr), 0.0) / 2.0
    reach = np.where(high > low, high - low, 1.0)
    scaled: NDArray[np.float64] = (value / 2.0 - np.repeat(low, lengths)) / np.repeat(reach, lengths)
    return np.where(np.repeat(high > low, lengths), scaled, 0.5)


def ranked(block: Block, score: NDArray[np.float64], order: Order, draws: int = 1) -> Mixture:
    """Return the policy of the rankings that a method chooses for each row.

    Parameters
    ----------
    block
        with the candidates.
    score
        float64 (nnz,): documents that are not chosen follow by it, ties as the row stands.
    order
        (row, its range in the block, its documents by score int64 (n,)) -> the documents that come first, int64 (k,),
        or (draws, n) rankings that are equally likely.
    draws
        rankings a row.
    """
    candidates = block.candidates
    items = []
    for row, length in enumerate(candidates.lengths.tolist()):
        docs = candidates.row(row)
        by_score = np.argsort(-score[docs], kind="stable").astype(np.int64)
        chosen = order(row, docs, by_score) if length else by_score
        if draws > 1 or chosen.ndim > 1:
            items.append(np.broadcast_to(chosen, (draws, length)).ravel())
            continue
        left = np.ones(length, np.bool_)
        left[chosen] = False
        items.append(np.concatenate([chosen, by_score[left[by_score]]]))
    rows = len(candidates)
    item = np.concatenate([np.empty(0, np.int64), *items]).astype(np.int32)
    ends = np.cumsum(np.repeat(candidates.lengths, draws))
    rankings = Rankings(
        candidates,
        np.arange(rows + 1, dtype=np.int64) * draws,
        np.concatenate([[0], ends]).astype(np.int64),
        item,
        np.full(rows * draws, 1.0 / draws),
        np.tile(np.arange(draws, dtype=np.int32), rows),
    )
    return Mixture(rankings, block.stream)
