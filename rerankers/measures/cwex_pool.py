"""CWEx between the worst and the best order of the same pool: what a ranking made of the documents it had."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.cwex_score import cwex
from rerankers.measures.presence_lists import Groups, check_share, depth, log_weights

SEQUENCES = 1 << 16
"""Label sequences that are enumerated for the best order at most; 10 documents of 3 labels have 59,049."""

ONE_VALUE = 1e-12
"""Where the highest and the lowest value are no further apart, all orders have the same."""
ROUNDING = 1e-9
"""By how much rounding may carry a share beyond 0 and 1, where it is brought back."""


def ncwex(
    labels: Sequence[str | None],
    pool: Sequence[str | None],
    alpha: float = 0.5,
    k: int | None = 10,
    *,
    groups: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return (CWEx - lowest) / (highest - lowest) over the orders of a pool at the depth of the ranking.

    Parameters
    ----------
    labels
        of the ranking, as of `cwex`.
    pool
        labels of all documents that might have been ranked, the ranked ones among them, in any order.
    alpha, k, groups
        as of `cwex`; the depth is min(k, length of the ranking).

    Returns
    -------
    dict
        ``ncwex``, from 0 to 1; ``cwex``; ``lowest`` (exact) and ``highest`` of the pool; ``exact``: False where the
        highest is a bound that no order need reach (more than 10 documents, or many groups), so that ncwex may be too
        low; ``reason``: None, or why ncwex is None: ``no_ranked_document``, ``unlabelled_document`` (of the pool),
        ``one_value_in_pool`` (every order has the same value).

    Raises
    ------
    InputError
        as of `cwex`, and for a ranking with documents that the pool lacks.
    """
    alpha, kinds = check_share("alpha", alpha), Groups.of(groups)
    mine, all_of = kinds.code(labels), kinds.code(pool, "pool")
    n = depth(k, len(mine))
    size = len(kinds.names) + 1
    have, used = (np.bincount(codes + 1, minlength=size + 1) for codes in (all_of, mine))
    if np.any(used > have):
        raise InputError.one("pool", f"{len(all_of)} labels", "the labels of the ranking and maybe more")
    out: dict[str, Any] = dict.fromkeys(("ncwex", "cwex", "lowest", "highest", "exact", "reason"))
    if n == 0:
        return out | {"reason": "no_ranked_document"}
    out["cwex"] = cwex(labels, alpha, k, groups=groups)["cwex"]
    if have[0]:
        return out | {"reason": "unlabelled_document"}
    low, high, exact = pool_range(tuple(have[1:].tolist()), n, alpha)
    out |= {"lowest": low, "highest": high, "exact": exact}
    if not high - low > ONE_VALUE:
        return out | {"reason": "one_value_in_pool"}
    share = (out["cwex"] - low) / (high - low)
    return out | {"ncwex": min(max(share, 0.0), 1.0) if -ROUNDING < share < 1 + ROUNDING else share}


def pool_range(counts: tuple[int, ...], n: int, alpha: float) -> tuple[float, float, bool]:
    """Return the lowest and the highest CWEx of n documents out of a pool, and whether the highest is exact.

    Parameters
    ----------
    counts
        how many documents of the pool are neutral, then how many are of each group; at least n together.
    n
        documents ranked, at least 1.
    alpha
        weight of neutrality.
    """
    clipped = (min(counts[0], n), *sorted((min(one, n) for one in counts[1:]), reverse=True))
    return _pool_range(clipped, n, alpha)


@lru_cache(maxsize=4096)
def _pool_range(counts: tuple[int, ...], n: int, alpha: float) -> tuple[float, float, bool]:
    weights = log_weights(n) / log_weights(n).sum()
    low = min(
        float(weights @ _sorted_coefficients(counts, leader, trailer, alpha)[:n])
        for leader, trailer in itertools.permutations(range(1, len(counts)), 2)
    )
    high = _enumerated_highest(counts, weights, alpha) if len(counts) ** n <= SEQUENCES else None
    if high is None:
        return low, alpha * float(weights[: counts[0]].sum()), False
    return low, high, True


def _sorted_coefficients(counts: tuple[int, ...], leader: int, trailer: int, alpha: float) -> np.ndarray[Any, Any]:
    """Return the coefficients of the documents under one leading and one trailing group, smallest first.

    CWEx is the least of the linear forms of all such pairs, and a linear form is least where the ranks of most weight
    have the smallest coefficients (rearrangement inequality).
    """
    value = np.zeros(len(counts))
    value[[0, leader, trailer]] = alpha, alpha - 1.0, 1.0 - alpha
    return np.sort(np.repeat(value, counts))


def _enumerated_highest(counts: tuple[int, ...], weights: np.ndarray[Any, Any], alpha: float) -> float:
    """Return the highest CWEx over all label sequences that the pool can fill."""
    n, size = len(weights), len(counts)
    codes = np.arange(size**n)[:, np.newaxis] // size ** np.arange(n) % size
    share, possible = np.empty((len(codes), size)), np.ones(len(codes), dtype=np.bool_)
    for label, there in enumerate(counts):
        is_label = codes == label
        possible &= is_label.sum(axis=1) <= there
        share[:, label] = is_label @ weights
    share = share[possible]
    gap = share[:, 1:].max(axis=1) - share[:, 1:].min(axis=1)
    return float((alpha * share[:, 0] - (1.0 - alpha) * gap).max())
