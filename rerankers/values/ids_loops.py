"""A compiled loop over names: the bytes by which most of them differ, as one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def lead_bytes(text: NDArray[np.uint8], bounds: NDArray[np.int64], lead: NDArray[np.uint64]) -> None:
    """Write the eight bytes of each name that follow what all names begin with; zeros follow a shorter one.

    Names in ascending order have leads in ascending order.

    Parameters
    ----------
    text, bounds
        name i is text[bounds[i]:bounds[i + 1]].
    lead
        (names,), the first byte the most significant.
    """
    first, shared = bounds[0], bounds[1] - bounds[0]
    for i in range(len(lead)):
        shared = min(shared, bounds[i + 1] - bounds[i])
        for k in range(shared):
            if text[first + k] != text[bounds[i] + k]:
                shared = k
                break
    for i in range(len(lead)):
        word = np.uint64(0)
        for at in range(bounds[i] + shared, bounds[i] + shared + 8):
            byte = text[at] if at < bounds[i + 1] else np.uint8(0)
            word = word << np.uint64(8) | np.uint64(byte)
        lead[i] = word
