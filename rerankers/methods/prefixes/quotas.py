r"""How many documents of each group a prefix should hold, where groups have as many as they have.

The quota of group g among the first k documents is q_g(k) = min(n_g, \lambda p_g), with \lambda such that they sum to
k: in proportion to the wanted shares p, a group that is used up leaving the rest to the others. Quotas never fall and
sum to k, so that for every number of groups there are rankings all of whose prefixes hold q_g(k) of each group,
rounded down or up: the chairman assignment of Tijdeman (1980), who shows that deviations below 1 suffice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSE = 1e-9  # documents by which a quota may miss a whole number that it stands for


def quotas(share: NDArray[np.float64], size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the quotas of all prefixes.

    Parameters
    ----------
    share
        float64 (G,), at least 0: the wanted shares, in any unit. Groups without a share follow when the others are
        used up, in proportion to their sizes.
    size
        int64 (G,), documents of each group, n in all.

    Returns
    -------
    float64 (n + 1, G), of the prefixes of 0..n documents.
    """
    n, wanted = int(size.sum()), share > 0.0
    quota = np.zeros((n + 1, len(size)))
    first = int(size[wanted].sum())
    _fill(quota[: first + 1], share * wanted, size)
    quota[first:] = quota[first]
    _fill(rest := np.zeros((n - first + 1, len(size))), np.where(wanted, 0.0, size), np.where(wanted, 0, size))
    quota[first:] += rest
    return quota


def bounds(
    share: NDArray[np.float64], size: NDArray[np.int64], ranks: int, every: int, slack: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the greatest number of documents of each group in prefixes.

    Parameters
    ----------
    share, size
        as for `quotas`.
    ranks
        prefixes up to this length, at most n, are bounded.
    every
        only prefixes whose length is a multiple of it, and the last one.
    slack
        documents that the quotas, rounded down and up, may be missed by.

    Returns
    -------
    least, most
        int64 (ranks + 1, G), of the prefixes of 0..ranks documents; 0 and the size where there is no bound.
    """
    quota = quotas(share, size)[: ranks + 1]
    least = np.maximum(np.floor(quota + CLOSE).astype(np.int64) - slack, 0)
    most = np.minimum(np.ceil(quota - CLOSE).astype(np.int64) + slack, size)
    length = np.arange(ranks + 1)
    free = (length % every != 0) & (length != ranks)
    least[free], most[free] = 0, size
    return least, most


def _fill(quota: NDArray[np.float64], share: NDArray[np.float64], size: NDArray[np.int64]) -> None:
    """Write quotas of the prefixes of 0..m documents, m those of the groups with a share: float64 (m + 1, G)."""
    some = np.flatnonzero((share > 0.0) & (size > 0))
    if not len(some):
        return
    part = share[some] / share[some].max()
    ends = np.concatenate([[0.0], np.sort(size[some] / part)])  # where a group is used up
    total = np.minimum(size[some], ends[:, None] * part).sum(axis=1)
    at = np.interp(np.arange(len(quota)), total, ends)
    quota[:, some] = np.minimum(size[some], at[:, None] * part)
