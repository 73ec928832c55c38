"""The weight of each group in many lists at once, and the shares that a policy for the unknown makes of it.

Masses, unlike shares, are linear: those of a mixture of lists are the mixture of their masses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.values.groups import UNKNOWN_POLICIES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]


def masses_of(
    alignment: GroupAlignment, lists: Sequence[ArrayLike], weights: Sequence[ArrayLike]
) -> tuple[Floats, Floats, Floats]:
    """Return the weight of each group, the weight without a label, and all weight: float64 (lists, G), (lists,) twice.

    Parameters
    ----------
    alignment
        not resolved.
    lists, weights
        one array of document codes, and one of weights of the same length, a list.

    Raises
    ------
    InputError
        for lengths that differ, weights that are negative or not finite, codes out of range, a resolved alignment.
    """
    lengths = np.array([len(np.asarray(one)) for one in lists], dtype=np.int64)
    if [len(np.asarray(one)) for one in weights] != lengths.tolist():
        raise InputError.one("weights", "lists of other lengths", "a weight for each document")
    codes, weight = _checked(alignment, _joined(lists), _joined(weights))
    rows = len(lengths)
    row = np.repeat(np.arange(rows, dtype=np.int64), lengths)
    lost = np.bincount(row, weight * alignment.unknown[codes], minlength=rows).astype(np.float64)
    total = np.bincount(row, weight, minlength=rows).astype(np.float64)
    return alignment.totals(row, codes, weight, rows), lost, total


def shares_of(mass: Floats, lost: Floats, unknown: str) -> Floats:
    """Return shares of groups, float64 (lists, groups), NaN in rows without any known weight.

    Parameters
    ----------
    mass, lost
        float64 (lists, G), (lists,): of `masses_of`.
    unknown
        as in `rerankers.queries.distributions.distribution`; ``count`` adds a column.

    Raises
    ------
    ConfigError
        for another policy.
    """
    choose("unknown", unknown, UNKNOWN_POLICIES)
    known = mass.sum(axis=1) > 0
    if unknown == "spread" and mass.shape[1]:
        mass = mass + (lost / mass.shape[1])[:, np.newaxis]
    elif unknown == "count":
        mass = np.column_stack([mass, lost])
    shares = np.full(mass.shape, np.nan)
    shares[known] = mass[known] / mass[known].sum(axis=1, keepdims=True)
    return shares


def _joined(parts: Sequence[ArrayLike]) -> NDArray[np.generic]:
    arrays = [np.asarray(one) for one in parts]
    filled = [one for one in arrays if one.size]
    return np.concatenate(filled) if filled else np.empty(0, dtype=np.int64)


def _checked(alignment: GroupAlignment, docs: ArrayLike, weights: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
    if alignment.resolved:
        raise InputError.one(alignment.attribute, "a resolved alignment", "one that states what is unknown")
    codes, weight = np.asarray(docs), np.asarray(weights, dtype=np.float64)
    if codes.size and (
        not np.issubdtype(codes.dtype, np.integer) or codes.min() < 0 or codes.max() >= alignment.n_docs
    ):
        raise InputError.one(
            "docs", f"{codes.dtype} codes out of range", f"whole numbers from 0 to {alignment.n_docs - 1}"
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise InputError.one("weights", "negative or infinite ones", "numbers of at least 0")
    return codes.astype(np.int64), weight
