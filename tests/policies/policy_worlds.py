"""Small blocks of rows and plain twins for the policies."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.values import Ragged, Rankings


def rows(lengths: list[int], first_query: int = 0) -> Ragged:
    """Return rows over documents 0, 1, … each."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    doc = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    return Ragged(np.arange(first_query, first_query + len(lengths)), indptr, doc)


def streams(count: int, first_query: int = 0) -> np.ndarray:
    return query_streams([f"q{number}" for number in range(first_query, first_query + count)])


def every_ranking(n: int, k: int | None = None) -> Rankings:
    """Return all rankings of the first k of n documents, one row."""
    k = n if k is None else k
    orders = list(permutations(range(n), k))
    return Rankings.of_matrix(rows([n]), [np.array(orders, dtype=np.int64).reshape(len(orders), k)])


def matrices(rankings: Rankings) -> list[list[list[int]]]:
    """Return the rankings of each row as lists."""
    flat = [
        rankings.item[low:high].tolist()
        for low, high in zip(rankings.item_ptr[:-1], rankings.item_ptr[1:], strict=True)
    ]
    return [flat[low:high] for low, high in zip(rankings.query_ptr[:-1], rankings.query_ptr[1:], strict=True)]


def sequential_log_prob(score: np.ndarray, order: list[int]) -> float:
    """One document after the other in proportion to exp(score)."""
    left, total = list(range(len(score))), 0.0
    for doc in order:
        best = score[left].max()
        if np.isfinite(best):
            total += score[doc] - best - np.log(np.exp(score[left] - best).sum())
        else:
            total -= np.log(len(left))
        left.remove(doc)
    return total
