"""The choice of the documents above a cutoff, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def best_head(gain: NDArray[np.float64], continuation: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Choose exactly k documents whose ranking in the given order is worth the most.

    V(i, m) = max(V(i + 1, m), gain_i + continuation_i V(i + 1, m - 1)) is the best value of m documents among those
    from i on; only m that leave enough documents are looked at, so that every value is finite.

    Parameters
    ----------
    gain, continuation
        float64 (n,), in the order in which any chosen set is ranked.
    k
        1 <= k <= n.

    Returns
    -------
    bool (n,), k of them true.
    """
    n = len(gain)
    best = np.zeros(k + 1)
    taken = np.zeros((n, k + 1), dtype=np.bool_)
    for i in range(n - 1, -1, -1):
        for m in range(min(k, n - i), 0, -1):
            value = gain[i] + continuation[i] * best[m - 1]
            if m == n - i or value >= best[m]:
                best[m] = value
                taken[i, m] = True
    head = np.zeros(n, dtype=np.bool_)
    left = k
    for i in range(n):
        if taken[i, left]:
            head[i] = True
            left -= 1
            if left == 0:
                break
    return head
