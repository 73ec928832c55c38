"""What a block believes about relevance, in the form that a method needs: logits, probabilities, an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums
from rerankers.policies import zscore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Block

LEAST_PROBABILITY = 1e-12  # of what is drawn in proportion to a probability
GUESSED_RELEVANT = 10.0  # expected relevant documents a query where only first-stage scores are known
_STEPS = 60


def logits(block: Block) -> NDArray[np.float64]:
    """Return float64 (nnz,), the log-weights of Plackett-Luce at temperature 1.

    Scores are z-scored within the query: BM25 scores as they are would be nearly deterministic, and would mean
    something else for every query length. Probabilities enter as log max(p, 1e-12), logits as they are.
    """
    relevance = block.relevance
    if relevance.kind == "score":
        return zscore(block.candidates.indptr, relevance.value)
    if relevance.kind == "probability":
        return np.log(np.maximum(relevance.value, LEAST_PROBABILITY))
    return relevance.value


def probabilities(block: Block) -> NDArray[np.float64]:
    """Return float64 (nnz,) in [0, 1], probabilities of relevance: the block's own, else a guess from its logits.

    The guess is logistic(logit + a), with ``a`` such that 10 documents of a query are expected to be relevant, or
    half of its candidates where there are fewer than 20. It keeps the order and says nothing about the level: a
    trained and calibrated model does (``method.model=DIR``).
    """
    if block.relevance.kind == "probability":
        return block.relevance.value
    value, indptr = logits(block), block.candidates.indptr
    lengths = np.diff(indptr)
    wanted = np.minimum(GUESSED_RELEVANT, lengths / 2.0)
    top = np.where(lengths > 0, row_maxima(value, indptr), 0.0)
    bottom = np.where(lengths > 0, -row_maxima(-value, indptr), 0.0)
    low, high = -top - 40.0, -bottom + 40.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        enough = row_sums(_logistic(value + np.repeat(middle, lengths)), indptr) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return _logistic(value + np.repeat((low + high) / 2.0, lengths))


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    half = np.tanh(0.5 * x)
    return 0.5 * (1.0 + half)
