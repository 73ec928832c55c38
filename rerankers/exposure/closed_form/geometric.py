r"""Exact Plackett-Luce exposure where the weights of ranks are a mixture of geometric sequences, and its gradient.

Where weight[r] = \sum_m s_m \gamma_m^r, a reader who goes on with probability c_d \gamma_m sees each rank without any
weight, and E = \sum_m s_m E^{(m)}. All terms share the arrivals (see `chain` for the notation):

    E_d = \int \phi_d \sum_m s_m \prod_{j \ne d} h_{jm} dx,    h_{jm} = q_j + \gamma_m c_j p_j,

with the products over all but one document from those over the documents before and behind it: n M numbers a node,
all of them non-negative. The gradient is that of `chain` with numbers in place of polynomials: h_{jm} changes by
\phi_j (\gamma_m c_j - 1) with the logit of j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.closed_form.mixture import geometric_mixture
from rerankers.exposure.closed_form.sweep import LANES, segments, step_for, sweep, writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["geometric_exposure", "geometric_gradient", "geometric_mixture"]


def geometric_exposure(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    share: NDArray[np.float64],
    ratio: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Integrate rows of equal length where the weights of ranks are mixtures of the same geometric sequences.

    Parameters
    ----------
    logit
        float64 (R, n), finite, n >= 1.
    continuation
        float64 (R, n), in [0, 1].
    share
        float64 (R, M), at least 0: rank r of row i weighs the sum over m of share[i, m] ratio[m]^r.
    ratio
        float64 (M,), in [0, 1], M >= 1, in any order.

    Returns
    -------
    float64 (R, n), the expectation of the weight of a document's rank times the continuations before it; the error is
    about 1e-15 of the weight of rank 0, and 2e-14 in rows of 100,000 documents. Time is of order n M, memory of order
    M sqrt(n).
    """
    from rerankers.exposure.closed_form.geometric_loops import geometric_sums

    rows, n = logit.shape
    first, parts, ratios = _descending(share, ratio)
    if n == 1:
        return first
    passed, exposure, seen = writable(continuation), np.zeros((rows, n)), np.ones(rows)
    held, states = segments(n, len(ratio))
    tail = np.empty((1, len(ratio) * LANES))

    def add(some: NDArray[np.int64], race: NDArray[np.float64], measure: NDArray[np.float64]) -> None:
        geometric_sums(some, race, measure, passed, parts, ratios, seen, exposure, held, states, tail)

    sweep(logit, step_for(np.ones(rows, dtype=np.int64)), seen, add)
    return first * exposure


def geometric_gradient(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    share: NDArray[np.float64],
    ratio: NDArray[np.float64],
    pull: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Differentiate the sum over documents of pull times exposure by the logits.

    Parameters
    ----------
    logit, continuation, share, ratio
        as in `geometric_exposure`.
    pull
        float64 (R, n), finite.

    Returns
    -------
    float64 (R, n), adding up to 0 in each row; the error is that of `geometric_exposure`, times the largest pull.
    """
    from rerankers.exposure.closed_form.geometric_slopes_loops import geometric_slopes

    rows, n = logit.shape
    if n == 1:
        return np.zeros((rows, 1))
    first, parts, ratios = _descending(share, ratio)
    passed, pulled, gradient, seen = writable(continuation), writable(pull), np.zeros((rows, n)), np.ones(rows)
    held, states = segments(n, 2 * len(ratio))
    tail = np.empty((2, len(ratio) * LANES))

    def add(some: NDArray[np.int64], race: NDArray[np.float64], measure: NDArray[np.float64]) -> None:
        geometric_slopes(some, race, measure, passed, parts, ratios, pulled, seen, gradient, held, states, tail)

    sweep(logit, step_for(np.full(rows, 2)), seen, add)
    return first * gradient


def _descending(
    share: NDArray[np.float64], ratio: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of rank 0 of each row (R, 1), the shares relative to it, and the ratios, both by ratio."""
    order = np.argsort(-ratio, kind="stable")
    first: NDArray[np.float64] = share.sum(axis=1, keepdims=True)
    return first, writable(share[:, order] / np.where(first > 0.0, first, 1.0)), writable(ratio[order])
