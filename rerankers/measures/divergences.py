"""Distances of distributions over groups, along the last axis of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def kl(p: Floats, q: Floats) -> Floats:
    """Return the Kullback-Leibler divergence Σ p log(p / q) in nats, infinite where q is 0 and p is not.

    Parameters
    ----------
    p, q
        float64 (..., G) that broadcast, distributions. Terms with p = 0 are 0.
    """
    from scipy.special import rel_entr

    total: Floats = np.asarray(rel_entr(p, q)).sum(axis=-1)
    return np.maximum(total, 0.0)


def jsd(p: Floats, q: Floats) -> Floats:
    """Return the Jensen-Shannon divergence in bits, from 0 to 1 (Lin 1991)."""
    middle = 0.5 * (p + q)
    divergence: Floats = np.clip(0.5 * (kl(p, middle) + kl(q, middle)) / np.log(2.0), 0.0, 1.0)
    return divergence


def rnod(p: Floats, q: Floats) -> Floats:
    """Return the root normalised order-aware divergence of p from a target q over ordered groups, 0 to 1 (Sakai 2021).

    sqrt(mean over groups i with q_i > 0 of Σ_j |i - j| (p_j - q_j)², divided by G - 1); 0 for a single group.
    """
    size = p.shape[-1]
    if size < 2:
        return np.zeros(np.broadcast_shapes(p.shape, q.shape)[:-1])
    place = np.arange(size)
    apart = np.abs(place[:, np.newaxis] - place).astype(np.float64)
    from_each = (p - q) ** 2 @ apart
    due = np.broadcast_to(q > 0, from_each.shape)
    mean = np.where(due, from_each, 0.0).sum(axis=-1) / np.maximum(due.sum(axis=-1), 1)
    root: Floats = np.sqrt(np.clip(mean / (size - 1), 0.0, 1.0))
    return root
