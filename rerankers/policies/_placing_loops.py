"""The compiled log probability of Plackett-Luce rankings, from their last rank to the first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def log_probs(
    logit: NDArray[np.float64],
    start: NDArray[np.int64],
    size: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Write the log probability of each ranking, or that a draw begins with it.

    The log of the weights of what is left is kept as a logit and a rest: only differences of logits are taken, which
    near each other are exact, so that a common offset costs no digits however large it is.

    Parameters
    ----------
    logit
        float64 (nnz,), finite or minus infinity.
    start, size
        int64 (R,), where the row of each ranking begins, and its number of documents.
    item_ptr, item
        int64 (R + 1,) and int32 (items,), the rankings; each document of a row at most once.
    out
        float64 (R,), filled in.
    """
    placed = np.zeros(max(1, size.max()) if len(size) else 1, np.bool_)
    for ranking in range(len(out)):
        own = logit[start[ranking] : start[ranking] + size[ranking]]
        items = item[item_ptr[ranking] : item_ptr[ranking + 1]]
        for one in items:
            placed[one] = True
        near = -math.inf
        for d in range(len(own)):
            if not placed[d]:
                near = max(near, own[d])
        total = 0.0
        for d in range(len(own)):
            if not placed[d] and near > -math.inf:
                total += math.exp(own[d] - near)
        rest = math.log(total) if total > 0.0 else 0.0
        steps = 0.0
        for rank in range(len(items) - 1, -1, -1):
            score = own[items[rank]]
            if score == -math.inf and near == -math.inf:
                steps -= math.log(float(len(own) - rank))  # all that are left are shuffled
                continue
            gap = (score - near) - rest  # the log of the odds of this document against all behind it
            odds = math.exp(-abs(gap))
            if gap > 0.0:
                near, rest = score, math.log1p(odds)
                steps -= rest
            else:
                more = math.log1p(odds)
                steps += gap - more
                rest += more
        out[ranking] = steps
        for one in items:
            placed[one] = False
