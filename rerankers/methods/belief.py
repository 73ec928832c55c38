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
_REACH, _CLOSE, _STEPS = 40.0, 1e-12, 100


def logits(block: Block) -> NDArray[np.float64]:
    """Return float64 (nnz,), the log-weights of Plackett-Luce at temperature 1.

    Logits enter as they are, probabilities as log max(p, 1e-12). Scores without probabilities are z-scored within
    the query: BM25 scores as they are would be nearly deterministic, and would mean something else for every query
    length.
    """
    relevance = block.relevance
    if relevance.kind == "logit":
        return relevance.value
    if relevance.probability is not None:
        return np.log(np.maximum(relevance.probability, LEAST_PROBABILITY))
    return zscore(block.candidates.indptr, relevance.value)


def probabilities(block: Block) -> NDArray[np.float64]:
    """Return float64 (nnz,) in [0, 1], probabilities of relevance: the block's own, else a guess from its logits.

    The guess is logistic(logit + a), with ``a`` such that 10 documents of a query are expected to be relevant, or
    half of its candidates where there are fewer than 20. It keeps the order and says nothing about the level: a
    trained and calibrated model does (``method.model=DIR``).
    """
    if block.relevance.probability is not None:
        return block.relevance.probability
    value, indptr = logits(block), block.candidates.indptr
    lengths = np.diff(indptr)
    return _logistic(value + np.repeat(_shifts(value, indptr, np.minimum(GUESSED_RELEVANT, lengths / 2.0)), lengths))


def _shifts(value: NDArray[np.float64], indptr: NDArray[np.int64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64 (B,), what to add to the logits of each row for a sum of probabilities of ``wanted``.

    Newton's steps within a bracket that every step narrows. A row that has arrived stays, so that its bits do not
    depend on other rows.
    """
    lengths = np.diff(indptr)
    filled = lengths > 0
    low = np.where(filled, -row_maxima(value, indptr), 0.0) - _REACH
    high = np.where(filled, row_maxima(-value, indptr), 0.0) + _REACH
    shift, moving = (low + high) / 2.0, filled.copy()
    for _ in range(_STEPS):
        chance = _logistic(value + np.repeat(shift, lengths))
        excess, slope = row_sums(chance, indptr) - wanted, row_sums(chance * (1.0 - chance), indptr)
        low, high = np.where(excess < 0, shift, low), np.where(excess < 0, high, shift)
        step = shift - excess / np.where(slope > 0, slope, 1.0)
        inside = (slope > 0) & (step > low) & (step < high)
        moving &= np.abs(excess) > _CLOSE * wanted
        if not moving.any():
            break
        shift = np.where(moving, np.where(inside, step, (low + high) / 2.0), shift)
    return shift


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    half = np.tanh(0.5 * x)
    return 0.5 * (1.0 + half)
