r"""Weights of ranks as mixtures of geometric sequences.

A sequence is such a mixture, \int \gamma^r d\mu(\gamma) on [0, 1], exactly where its differences alternate in sign
(Hausdorff 1921): 1 / log2(r + 2), 1 / (r + 1) and (r + 1)^{-s} do. A few tens of ratios with evenly spaced logarithms
of their rates -log \gamma then reproduce n ranks to rounding, with shares from non-negative least squares (Lawson &
Hanson 1974).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mixture = tuple[NDArray[np.float64], NDArray[np.float64]]

GOOD = 1e-14  # of the first weight: what is looked for
ENOUGH = 1e-13  # what is accepted
SPACINGS = (0.31, 0.29, 0.27, 0.25, 0.23)  # of the logarithms of rates, the fewest terms first
SLOWEST, FASTEST = 0.03, 8.0  # the slowest rate is this over n
SPIKE = 1e-300  # the ratio of what only the first rank has: its logarithm is finite
FITTED = 300  # ranks the shares are fitted to; all are checked
ORDERS = 5  # differences whose signs are looked at
KEPT = 4096  # mixtures remembered
_STEP = 1 << 11  # ranks that are checked at once

_known: OrderedDict[bytes, Mixture | None] = OrderedDict()
_lock = threading.Lock()


def geometric_mixture(position: NDArray[np.float64]) -> Mixture | None:
    """Write weights of ranks as a mixture of geometric sequences.

    Parameters
    ----------
    position
        float64 (n,), n >= 1, the weights of ranks 0 … n - 1.

    Returns
    -------
    (share, ratio), both float64 (M,) and not to be written, share > 0, ratio in [0, 1] descending, such that the sum
    of share[m] ratio[m]^r is position[r] to 1e-14 of position[0], and in no case worse than 1e-13, at every rank; or
    None where no such mixture was found, as for weights that are cut off. It depends on the weights alone, and is
    remembered for those used last.
    """
    weight = np.ascontiguousarray(position, dtype=np.float64)
    key = blake2b(weight.tobytes(), digest_size=20).digest()
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _found(weight)
    if found is not None:
        for values in found:
            values.setflags(write=False)
    with _lock:
        _known[key] = found
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return found


def _found(weight: NDArray[np.float64]) -> Mixture | None:
    first = float(weight[0])
    if not first > 0.0 or not np.all(np.isfinite(weight)):
        return None
    relative = weight / first
    best = _single(relative)
    error = _error(relative, *best)
    if error > ENOUGH:
        if not _alternating(relative):
            return None
        for spacing in SPACINGS:
            fit = _fit(relative, spacing)
            worst = np.inf if fit is None else _error(relative, *fit)
            if fit is not None and worst < error:
                best, error = fit, worst
            if error <= GOOD:
                break
    return (best[0] * first, best[1]) if error <= ENOUGH else None


def _single(weight: NDArray[np.float64]) -> Mixture:
    """Return the one sequence that agrees at the first two ranks."""
    return np.ones(1), np.clip(weight[1:2], 0.0, 1.0) if len(weight) > 1 else np.ones(1)


def _alternating(weight: NDArray[np.float64]) -> bool:
    """Say whether no weight is 0, and the differences of the first orders have the signs of a mixture."""
    if not weight[-1] > 0.0:
        return False
    difference, tolerance = weight, 1e-15
    for _ in range(min(ORDERS, len(weight) - 1)):
        difference = difference[:-1] - difference[1:]
        tolerance *= 2.0  # rounding doubles with each order at most
        if difference.min() < -tolerance:
            return False
    return True


def _fit(weight: NDArray[np.float64], spacing: float) -> Mixture | None:
    """Fit shares of evenly spaced ratios to some of the ranks; None where the iteration does not end."""
    from scipy.optimize import nnls

    n = len(weight)
    slowest = SLOWEST / n
    rate = np.geomspace(slowest, FASTEST, 2 + int(np.log(FASTEST / slowest) / spacing))
    ratio = np.concatenate([[1.0], np.exp(-rate), [SPIKE]])
    rank = np.arange(n)
    if n > FITTED:
        near = FITTED // 4
        rank = np.unique(np.append(rank[:near], np.geomspace(near, n - 1, FITTED - near).round().astype(np.int64)))
    powers = _powers(ratio, rank)
    length = np.sqrt(np.sum(powers**2, axis=0))  # of equal length, columns are chosen for their direction
    try:
        share = nnls(powers / length, weight[rank], maxiter=10 * len(ratio))[0] / length
    except RuntimeError:
        return None
    taken = share > 0.0
    return share[taken], ratio[taken]


def _error(weight: NDArray[np.float64], share: NDArray[np.float64], ratio: NDArray[np.float64]) -> float:
    """Return the largest error over all ranks."""
    worst = 0.0
    for start in range(0, len(weight), _STEP):
        some = weight[start : start + _STEP]
        found = _powers(ratio, np.arange(start, start + len(some))) @ share
        worst = max(worst, float(np.abs(found - some).max()))
    return worst


def _powers(ratio: NDArray[np.float64], rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the powers (ranks, M) of ratios, exact to rounding relative to 1."""
    log = np.outer(rank, np.log(np.maximum(ratio, SPIKE)))
    np.maximum(log, -300.0, out=log)  # powers whose squares are no denormal numbers, which are slow
    powers: NDArray[np.float64] = np.exp(log, out=log)
    return powers
