"""Distributions over groups and their closeness to a target, for many lists at once.

`rerankers.queries.distributions` tells one list with its reasons; a policy is judged by hundreds of drawn lists, for
which a call each takes longer than finding the policy. The formulas are the same, and a test holds them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers.measures.divergences import jsd
from rerankers.queries.distributions import CLOSENESS
from rerankers.values.groups import UNKNOWN_POLICIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]


def masses_of(
    alignment: GroupAlignment, lists: Sequence[NDArray[np.int64]], weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the weight of each group, the weight without a label, and all weight: float64 (lists, G), (lists,) twice.

    Parameters
    ----------
    alignment
        not resolved.
    lists
        codes of documents, best first; those beyond the last weight do not count.
    weights
        float64 (K,), of ranks.
    """
    kept = [one[: len(weights)] for one in lists]
    row = np.repeat(np.arange(len(kept)), [len(one) for one in kept])
    docs = np.concatenate([np.empty(0, dtype=np.int64), *kept])
    weight = np.concatenate([np.empty(0), *(weights[: len(one)] for one in kept)])
    lost = np.bincount(row, weight * alignment.unknown[docs], minlength=len(kept)).astype(np.float64)
    total = np.bincount(row, weight, minlength=len(kept)).astype(np.float64)
    return alignment.totals(row, docs, weight, len(kept)), lost, total


def shares_of(mass: Floats, lost: Floats, unknown: str) -> Floats:
    """Return shares of groups, float64 (lists, groups), NaN in rows without any known weight.

    Parameters
    ----------
    mass, lost
        float64 (lists, G), (lists,): of `masses_of`.
    unknown
        as in `rerankers.queries.distributions.distribution`.
    """
    choose("unknown", unknown, UNKNOWN_POLICIES)
    known = mass.sum(axis=1, keepdims=True) > 0
    if unknown == "spread":
        mass = mass + lost[:, np.newaxis] / max(mass.shape[1], 1)
    elif unknown == "count":
        mass = np.concatenate([mass, lost[:, np.newaxis]], axis=1)
    total = np.where(known, mass.sum(axis=1, keepdims=True), 1.0)
    shares: Floats = np.where(known, mass / total, np.nan)
    return shares


def closeness_of(shares: Floats, target: Floats | None, kind: str) -> Floats:
    """Return the closeness of each row of shares to a target, float64 (lists,), NaN where a row is.

    Parameters
    ----------
    shares
        float64 (lists, groups), rows that sum to 1.
    target
        float64 (groups,) that sums to 1; None for ``entropy``.
    kind
        as in `rerankers.queries.distributions.closeness`.
    """
    choose("closeness", kind, CLOSENESS)
    if kind == "entropy" or target is None:
        from scipy.special import entr

        groups = shares.shape[1]
        found = entr(shares).sum(axis=1) / np.log(groups) if groups > 1 else np.where(np.isnan(shares[:, 0]), np.nan, 1)
    elif kind == "jsd":
        found = 1.0 - jsd(shares, target)
    else:
        gap = shares - target
        apart = np.abs(gap).sum(axis=1) / 2 if kind == "tv" else np.sqrt((gap**2).sum(axis=1) / 2)
        found = 1.0 - apart
    out: Floats = np.clip(found, 0.0, 1.0)
    return out
