r"""Exact Plackett-Luce exposure where only the first k ranks have weight, and its gradient.

Given the arrival time of document d (see `nodes`), the documents before it are counted by the polynomial \prod_{j \ne
d} h_j, h_j = q_j + c_j p_j z, with a_j = w_j t, q_j = e^{-a_j}, p_j = 1 - q_j: the coefficient of z^r is the chance of
rank r times the continuations up to there. With L(P) = \sum_{r < k} v_r [z^r] P the weighted sum of coefficients and
\phi_d = a_d q_d the density of the arrival in x = log t,

    E_d = \int \phi_d L(\prod_{j \ne d} h_j) dx.

No factor is divided out, which would lose digits. In any order of the documents, f_d = h_1 ... h_d are truncated to k
coefficients, and the functional L of what is behind is taken over one document after the other from the end:

    b_n[a] = v_a,  b_{d-1}[a] = q_d b_d[a] + c_d p_d b_d[a + 1],  L(\prod_{j \ne d} h_j) = \sum_a f_{d-1}[a] b_d[a].

That takes time of order n k a node, and all terms are non-negative. For the gradient of \sum_d g_d E_d the chain has
one more state: whether the document that is looked at has been taken. Besides f and b there are

    f'_d = h_d f'_{d-1} + g_d \phi_d f_{d-1},  b'_{d-1} = h_d^T b'_d + g_d \phi_d b_d,

and because h_m changes by \phi_m (c_m z - 1), and \phi_m by \phi_m (1 - a_m), with the logit of m, its derivative is

    \int \phi_m (<b_m, (c_m z - 1) f'_{m-1}> + <b'_m, (c_m z - 1) f_{m-1}>) + g_m \phi_m (1 - a_m) <b_m, f_{m-1}> dx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.closed_form.nodes import NEGLIGIBLE
from rerankers.exposure.closed_form.sweep import LANES, segments, step_for, sweep, writable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def chain_exposure(
    logit: NDArray[np.float64], continuation: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Integrate rows of equal length where the first ranks have weights.

    Parameters
    ----------
    logit
        float64 (R, n), finite, n >= 1.
    continuation
        float64 (R, n), in [0, 1].
    weight
        float64 (R, k), 1 <= k <= n, the weights of ranks 0 … k - 1, at least 0; all later ranks have none.

    Returns
    -------
    float64 (R, n), the expectation of weight[rank] times the continuations before a document; the error is about
    1e-15 of the largest weight, and 1e-14 and 1e-16 a nat of spread of the exposure itself where that is above
    1e-13. Time is of order n k sqrt(k), memory of order k sqrt(n).
    """
    from rerankers.exposure.closed_form.chain_loops import chain_sums

    (rows, n), size = logit.shape, _size(weight)
    if n == 1:
        return weight[:, :1].copy()
    k = int(size.max(initial=1))
    passed, share = writable(continuation), writable(weight[:, :k])
    exposure, seen = np.zeros((rows, n)), np.ones(rows)
    held, states = segments(n, k)
    tail, window = np.empty((1, (k + 1) * LANES)), np.empty((2, n + 1), dtype=np.int64)

    def add(some: NDArray[np.int64], race: NDArray[np.float64], measure: NDArray[np.float64]) -> None:
        chain_sums(some, race, measure, passed, share, size, seen, exposure, held, states, tail, window)

    sweep(logit, step_for(_reached(size, passed)), seen, add)
    return exposure


def chain_gradient(
    logit: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    pull: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Differentiate the sum over documents of pull times exposure by the logits.

    Parameters
    ----------
    logit, continuation, weight
        as in `chain_exposure`.
    pull
        float64 (R, n), finite.

    Returns
    -------
    float64 (R, n), adding up to 0 in each row; the error is about 1e-15 of the largest weight times the largest pull.
    """
    from rerankers.exposure.closed_form.chain_slopes_loops import chain_slopes

    (rows, n), size = logit.shape, _size(weight)
    if n == 1:
        return np.zeros((rows, 1))
    k = int(size.max(initial=1))
    passed, share, pulled = writable(continuation), writable(weight[:, :k]), writable(pull)
    gradient, seen = np.zeros((rows, n)), np.ones(rows)
    held, states = segments(n, 2 * k)
    tail, window = np.empty((2, (k + 1) * LANES)), np.empty((2, n + 1), dtype=np.int64)

    def add(some: NDArray[np.int64], race: NDArray[np.float64], measure: NDArray[np.float64]) -> None:
        chain_slopes(some, race, measure, passed, share, pulled, size, seen, gradient, held, states, tail, window)

    sweep(logit, step_for(_reached(size, passed) + 1), seen, add)
    return gradient


def _size(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many ranks of each row matter, up to the last that has weight: int64 (R,), at least 1."""
    ranks = np.arange(1, weight.shape[1] + 1)
    size: NDArray[np.int64] = np.where(weight > 0.0, ranks, 1).max(axis=1)
    return size


def _reached(size: NDArray[np.int64], continuation: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many of the ranks can be reached at all, up to a chance of e^-40: int64 (R,), at least 1."""
    largest = np.maximum(continuation.max(axis=1), 1e-300)
    furthest = size.astype(np.float64)
    np.divide(NEGLIGIBLE, np.log(largest), where=largest < 1.0, out=furthest)
    return np.minimum(size, np.ceil(np.minimum(furthest, size)).astype(np.int64))
