"""Logits: from scores, and in a form that sampling can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPREAD = 700.0  # nats between which logits are used as they are
_SHIFTED = 1e6  # nats down to which a logit less the largest one keeps its differences from others
_GAP = 50.0  # nats that no draw crosses: the noise spans 41


def zscore(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standardise finite values (nnz,) within rows: mean 0 and standard deviation 1; 0 in rows of equal values."""
    lengths = np.diff(indptr)
    counts = np.maximum(lengths, 1)
    largest = np.where(lengths > 0, row_maxima(values, indptr), 0.0)
    smallest = np.where(lengths > 0, -row_maxima(-values, indptr), 0.0)
    # Scaled to [-1, 1] first: squares of very large or small scores would overflow or vanish. Halves of the very large
    # do not overflow; others are doubled twice, which is exact, so that denormal ones have halves.
    factor = np.where(np.maximum(np.abs(largest), np.abs(smallest)) > 1.0, 0.5, 4.0)
    larger, smaller = largest * factor, smallest * factor
    middle = larger / 2.0 + smaller / 2.0
    reach = np.where(largest > smallest, larger / 2.0 - smaller / 2.0, 1.0)
    scaled: NDArray[np.float64] = values * np.repeat(factor, lengths) - np.repeat(middle, lengths)
    scaled /= np.repeat(reach, lengths)
    scaled[np.repeat(largest == smallest, lengths)] = 0.0
    scaled -= np.repeat(row_sums(scaled, indptr) / counts, lengths)
    deviation = np.sqrt(row_sums(scaled * scaled, indptr) / counts)
    scaled /= np.repeat(np.where(deviation > 0, deviation, 1.0), lengths)
    return scaled


def bounded(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logits (n,) with the largest at 0 and gaps that no draw crosses cut down to 50 nats.

    Very large logits would swallow the noise, and minus infinity would leave ties in an arbitrary order.
    """
    top = logit.max(initial=-np.inf)
    with np.errstate(over="ignore"):
        shifted: NDArray[np.float64] = logit - (0.0 if np.isneginf(top) else top)
    if shifted.min(initial=0.0) >= -_SPREAD:
        return shifted
    held = logit if shifted.min(where=logit > -np.inf, initial=0.0) < -_SHIFTED else shifted
    order = np.argsort(-held, kind="stable")
    with np.errstate(invalid="ignore", over="ignore"):
        drop = -np.diff(held[order])
    drop[np.isnan(drop)] = 0.0  # both at minus infinity
    out = np.empty(len(logit))
    out[order] = -np.concatenate([[0.0], np.cumsum(np.minimum(drop, _GAP))])
    return out
