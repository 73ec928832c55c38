"""CWEx of shares of exposure, and what it may be where some of the exposure goes to unlabelled documents.

CWEx = α E_N - (1 - α) (max_g E_g - min_g E_g), E_N the share of neutral documents and E_g that of each group; for two
groups the second factor is |E_M - E_F| (arXiv 2506.22372). Everything here works on rows of shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def score(neutral: Floats, groups: Floats, alpha: float) -> Floats:
    """Return CWEx of shares, float64 (B,).

    Parameters
    ----------
    neutral
        (B,), exposure share of neutral documents.
    groups
        (B, G), that of each other group; NaN for groups that are left out, with at least one that is not.
    alpha
        weight of neutrality, from 0 to 1.
    """
    value: Floats = alpha * neutral - (1.0 - alpha) * spread(groups)
    return value


def spread(groups: Floats) -> Floats:
    """Return the largest minus the smallest share of the groups that are not NaN: float64 (B,)."""
    gone = np.isnan(groups)
    high = np.where(gone, -np.inf, groups).max(axis=1)
    low = np.where(gone, np.inf, groups).min(axis=1)
    return np.where(np.isfinite(high), high - low, np.nan)


def lowest(neutral: Floats, groups: Floats, unknown: Floats, alpha: float) -> Floats:
    """Return the least CWEx over all ways to label what is unlabelled: float64 (B,), exact.

    CWEx is the least of linear forms, one for each pair of a leading and a trailing group; each is least where all
    that is unlabelled goes to the leader, so that one group gets everything.

    Parameters
    ----------
    unknown
        (B,), exposure share of unlabelled documents.
    """
    options = []
    for place in range(groups.shape[1]):
        given = groups.copy()
        given[:, place] += unknown
        options.append(score(neutral, given, alpha))
    value: Floats = np.min(options, axis=0)
    return value


def highest(neutral: Floats, groups: Floats, unknown: Floats, alpha: float) -> Floats:
    """Return the largest CWEx over all ways to share out what is unlabelled: float64 (B,).

    For α of at least ½ it is exact: everything neutral. Below, it is worth more to raise the trailing groups, the
    spread falls by 1/m for m groups that trail together, as long as (1 - α) / m exceeds α; what is left is neutral.
    That treats the unlabelled exposure as divisible, so that for α below ½ it is an upper bound which whole documents
    need not reach.
    """
    level = np.sort(groups, axis=1)
    left, lift = unknown.copy(), np.zeros(len(unknown))
    for m in range(1, groups.shape[1]):
        if (1.0 - alpha) / m <= alpha:
            break
        step = np.minimum(m * (level[:, m] - level[:, m - 1]), left)
        lift += step / m
        left -= step
    value: Floats = alpha * (neutral + left) - (1.0 - alpha) * (level[:, -1] - level[:, 0] - lift)
    return value
