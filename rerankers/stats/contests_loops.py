"""The area under the ROC curve of many resamples, one walk up the scores each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def weighted_areas(
    times: NDArray[np.float64],
    cluster: NDArray[np.int64],
    relevant: NDArray[np.float64],
    last: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    """Write the share of contests won with each cluster taken as often as said, NaN where there is none.

    Parameters
    ----------
    times
        float64 (R, C).
    cluster, relevant, last
        int64, float64 (1 or 0) and bool (n,), pairs by ascending score: the cluster of each, whether it is relevant,
        and whether the next has a higher score.
    out
        float64 (R,).
    """
    for resample in range(len(times)):
        won, winners, below = 0.0, 0.0, 0.0
        good, rest = 0.0, 0.0  # of the score at hand
        for pair in range(len(cluster)):
            weight = times[resample, cluster[pair]]
            gain = weight * relevant[pair]
            good += gain
            rest += weight - gain
            if last[pair]:
                won += good * (below + rest / 2.0)
                winners += good
                below += rest
                good, rest = 0.0, 0.0
        out[resample] = won / (winners * below) if winners * below > 0.0 else np.nan
