"""How close a distribution over groups is to a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.divergences import jsd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CLOSENESS: Final = ("jsd", "tv", "l2", "entropy")
"""Kinds of closeness, `closeness`."""


def closeness(shares: Floats, target: Floats | None, kind: str = "jsd") -> float:
    """Return how close shares are to a target, 0 to 1; both are normalised to sum to 1.

    Parameters
    ----------
    shares, target
        float64 (G,), at least 0, each with a positive sum.
    kind
        ``jsd``: 1 - the Jensen-Shannon divergence in bits (Lin 1991); ``tv``: 1 - ½ Σ |p - t|; ``l2``:
        1 - sqrt(½ Σ (p - t)²); ``entropy``: Σ -p log p / log G, which takes no target and depends on how many groups
        were declared; 1 for a single group.

    Raises
    ------
    ConfigError
        for another kind.
    InputError
        for shapes that differ, negative or infinite values, or a sum of 0.
    """
    p = np.asarray(shares, dtype=np.float64)
    if p.ndim != 1 or np.isnan(p).any():
        raise InputError.one("shares", f"{p.tolist()}", "one number a group")
    return float(closenesses(p[np.newaxis], target, kind)[0])


def closenesses(shares: Floats, target: Floats | None, kind: str = "jsd") -> Floats:
    """Return how close the shares of each of several lists are to one target: `closeness` of many at once.

    Parameters
    ----------
    shares
        float64 (lists, G); a row of NaN has no closeness.
    target, kind
        as of `closeness`.

    Returns
    -------
    numpy.ndarray
        float64 (lists,), NaN where the shares are.
    """
    choose("closeness", kind, CLOSENESS)
    rows = np.asarray(shares, dtype=np.float64)
    known = ~np.isnan(rows).any(axis=-1)
    out = np.full(len(rows), np.nan)
    p = _normalised("shares", rows[known])
    if kind == "entropy":
        out[known] = _entropy(p)
        return out
    if target is None:
        raise InputError.one("target", "none", f"a target, which closeness {kind} needs")
    t = _normalised("target", np.asarray(target, dtype=np.float64)[np.newaxis])
    if t.shape[-1] != rows.shape[-1]:
        raise InputError.one("target", f"{t.shape[-1]} groups", f"{rows.shape[-1]}, as the shares have")
    if kind == "jsd":
        distance = jsd(p, t)
    else:
        gap = p - t
        distance = 0.5 * np.abs(gap).sum(axis=-1) if kind == "tv" else np.sqrt(0.5 * (gap * gap).sum(axis=-1))
    out[known] = np.clip(1.0 - distance, 0.0, 1.0)
    return out


def _entropy(p: Floats) -> Floats:
    from scipy.special import entr

    if p.shape[-1] < 2:
        return np.ones(len(p))
    share: Floats = np.clip(entr(p).sum(axis=-1) / np.log(p.shape[-1]), 0.0, 1.0)
    return share


def _normalised(name: str, values: Floats) -> Floats:
    """Return rows that sum to 1."""
    if values.ndim != 2 or not np.all(np.isfinite(values)) or np.any(values < 0) or not np.all(values.sum(axis=1) > 0):
        raise InputError.one(name, f"{values.tolist()}", "numbers of at least 0, one a group, with a positive sum")
    rows: Floats = values / values.sum(axis=1, keepdims=True)
    return rows
