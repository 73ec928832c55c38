"""Some rows of a policy, as a policy of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.policies.grade_shuffle import GradeShuffle
from rerankers.policies.label_shuffle import LabelShuffle
from rerankers.policies.mallows import Mallows
from rerankers.policies.mixture import Mixture
from rerankers.policies.plackett_luce import PlackettLuce
from rerankers.policies.transpositions import Transpositions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies.base import Policy

__all__ = ["take_rows"]


def take_rows(policy: Policy, rows: NDArray[np.integer]) -> Policy:
    """Return the policy over the rows ``rows``, in that order; what it draws for a row is what it drew before.

    Raises
    ------
    TypeError
        for a policy of a class that this package does not have.
    """
    if not isinstance(policy, Mixture | PlackettLuce | GradeShuffle | LabelShuffle | Mallows | Transpositions):
        raise TypeError(f"a policy of class {type(policy).__name__} cannot be taken apart by rows")
    over = policy.over.take(rows)
    stream = policy.stream[rows]
    pick, _ = _segments(policy.over.indptr, rows)
    if isinstance(policy, PlackettLuce):
        return PlackettLuce(over, policy.logit[pick], stream)
    if isinstance(policy, GradeShuffle):
        return GradeShuffle(over, policy.level[pick], stream)
    if isinstance(policy, LabelShuffle):
        return LabelShuffle(over, policy.chance[pick], stream, policy.at_least_one)
    if isinstance(policy, Mallows):
        return Mallows(over, policy.order[pick], policy.dispersion[rows], stream)
    if isinstance(policy, Mixture):
        return Mixture(policy.rankings.take(rows), stream)
    swap, swap_ptr = _segments(policy.swap_ptr, rows)
    return Transpositions(over, policy.order[pick], swap_ptr, policy.swaps[swap], policy.chance[swap], stream)


def _segments(indptr: NDArray[np.int64], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of the segments ``rows``, and the bounds of these segments one after another."""
    lengths = np.diff(indptr)[rows]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.repeat(indptr[:-1][rows] - bounds[:-1], lengths) + np.arange(bounds[-1], dtype=np.int64), bounds
