"""What is odd in the evaluator of 2019, each as a function of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def continuation_that_skips(stop: NDArray[np.float64], annotated: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probability of going on past each document, 1 - f: documents without labels stop nobody.

    They still take a rank, and with it a factor of gamma.

    Parameters
    ----------
    stop
        float64 (items,), f of the document's relevance.
    annotated
        bool (items,).
    """
    return np.where(annotated, 1.0 - stop, 1.0)


def seen_and_satisfying(attention: NDArray[np.float64], stop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exposure of documents as attention times f, so that only relevant documents get any.

    The guidelines have attention alone.
    """
    return attention * stop
